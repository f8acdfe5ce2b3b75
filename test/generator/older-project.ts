import { rmSync } from 'node:fs';
import { hashText } from '../../generator/write/lockfile.ts';
import type { TestProject } from './project.ts';

/** Shared files whose text an older project keeps in a folder. */
const KEPT = ['.gitignore', 'README.md'];

/** Gives a project that was just generated the form of one before `.generator/base.json`: files and lines of the lock. */
export function makeOlder(shop: TestProject): void {
  const bases = JSON.parse(shop.read('.generator/base.json')) as Record<string, string>;
  rmSync(shop.path('.generator/base.json'));
  shop.write(
    'src/generated/app.ts',
    shop
      .read('src/generated/app.ts')
      .replace(/^import .*model.*$/m, (line) => `${line}\n${IMPORT}`)
      .replace('  migrations:', '  openapi,\n  migrations:'),
  );
  shop.write('src/generated/openapi.json', '{ "openapi": "3.1.0" }\n');
  const written = ['src/generated/app.ts', 'src/generated/openapi.json'];
  for (const path of KEPT) {
    const text = bases[path]!.replace('base.json', 'base/');
    shop.write(`.generator/base/${path}`, text);
    shop.write(path, text);
    written.push(`.generator/base/${path}`);
  }
  const line = (owner: string, path: string) => `${owner} ${path} ${hashText(shop.read(path))}`;
  const older = [
    ...written.map((path) => line('generated', path)),
    ...KEPT.map((path) => line('scaffold', path)),
  ];
  const paths = new Set(older.map((each) => each.split(' ')[1]));
  const others = shop
    .read('generator.lock')
    .trim()
    .split('\n')
    .filter((each) => !paths.has(each.split(' ')[1]));
  shop.write('generator.lock', `${[...others, ...older].sort().join('\n')}\n`);
}

const IMPORT = "import openapi from './openapi.json' with { type: 'json' };";
