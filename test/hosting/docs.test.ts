import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { root, sourceFiles } from '../source-files.ts';

/** Reads of the environment: `settings.text('X', 'default')`, `oneOf(kernel, 'X', …)`, `env.X`, `process.env['X']`. */
const READ =
  /settings\.(?:text|number|flag)\(\s*'([A-Z_]+)'(?:,\s*(?:\{ default: )?('[^']*'|[\d_]+))?|\benv\.([A-Z][A-Z_]+)|process\.env\['([A-Z_]+)'\]|oneOf\(kernel, '([A-Z_]+)'/g;
/** A path is no setting of ours; the port of a static site is read in its container, where the server sets it. */
const NONE = new Set(['DATABASE_URL', 'PATH', 'PORT']);

const PAGES = [
  'runtime/hosting/docs/apps.md',
  'runtime/hosting/docs/notifications.md',
  'runtime/hosting/docs/registries.md',
  'runtime/hosting/docs/backups.md',
  'runtime/models/docs/models.md',
];

it('every setting that hosting reads stands in a table of its pages, with its default', () => {
  const rows = PAGES.flatMap((page) =>
    readFileSync(join(root, page), 'utf8')
      .split('\n')
      .filter((line) => line.startsWith('| `')),
  );
  const read = ['runtime/hosting', 'runtime/models']
    .flatMap(sourceFiles)
    .flatMap((file) => [
      ...readFileSync(join(root, file), 'utf8')
        .replaceAll(/\/\*[\s\S]*?\*\//g, '')
        .matchAll(READ),
    ])
    .map(([, text, given, env, own, choice]) => ({
      name: (text ?? env ?? own ?? choice) as string,
      given: given?.replaceAll(/^'|'$|_/g, '') ?? '',
    }));
  expect(read.length).toBeGreaterThan(12);
  const wrong = read.filter(
    ({ name, given }) =>
      !NONE.has(name) && !rows.some((row) => row.includes(`\`${name}\``) && row.includes(given)),
  );
  expect(wrong).toEqual([]);
});
