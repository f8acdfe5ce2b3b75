import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { root, sourceFiles } from '../source-files.ts';

/** Ways to a caller for whom no rule of the schema holds. */
const LIFTS = /\.sudo\(\)|\bunrestricted\(|\basSystem\(|\bUNRESTRICTED\b|kind: 'system'/;

/** Code that no request calls, code of the project, and reads whose answer reaches no caller. */
const KNOWN = [
  'runtime/auth/sign-in/hooks.ts',
  'runtime/auth/requests/credentials.ts',
  'runtime/auth/base/caller.ts',
  'runtime/auth/sign-in/open-session.ts',
  'runtime/auth/sign-in/login.ts',
  'runtime/auth/sign-in/register.ts',
  'runtime/core/context/request-context.ts',
  'runtime/core/context/unrestricted.ts',
  'runtime/core/data-api/entity-data.ts',
  // What packages get of it: none may lift rules but those below.
  'runtime/core/data/index.ts',
  'runtime/core/data/access/access.ts',
  'runtime/core/data/write/insert-with-hooks.ts',
  'runtime/core/data/access/rule-text.ts',
  // The plans of `explain`, which reads no row.
  'runtime/core/graphql/dry-engine.ts',
  'runtime/core/own-context/base-context.ts',
  'runtime/core/own-context/system-context.ts',
  // Rows of the seed, which no request writes.
  'runtime/database/seed/write-rows.ts',
  // The kind of a backup, not of a caller.
  'runtime/hosting/backups/system.ts',
];

it('lifts the rules for a request in /api/data alone', () => {
  const found = sourceFiles('runtime')
    .filter((path) => !path.startsWith('runtime/console/web/'))
    .filter((path) => LIFTS.test(withoutComments(readFileSync(join(root, path), 'utf8'))));
  expect(found.filter((path) => !KNOWN.includes(path))).toEqual([
    'runtime/core/rest/admin-data.ts',
  ]);
});

const withoutComments = (text: string) => text.replaceAll(/\/\*\*[\s\S]*?\*\/|\/\/.*$/gm, '');
