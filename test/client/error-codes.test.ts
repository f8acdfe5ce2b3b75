import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { repo } from '../generator/project.ts';
import { sourceFiles } from '../source-files.ts';
import { clientOf } from './server.ts';

/** The members of the union `ErrorCode`, and those among them that the client itself adds. */
const [file] = Object.values(clientOf()).filter((text) => text.includes('export type ErrorCode'));
const [, union] = /export type ErrorCode =([^;]+);/.exec(file!)!;
const KNOWN = Array.from(union!.matchAll(/\| '([A-Z_]+)'/g), ([, code]) => code!);
const OF_THE_CLIENT = ['NETWORK', 'TIMEOUT'];

/** Codes of the runtime that end a start or a command, and that no request is answered with. */
const OF_COMMANDS = [
  /^(BACKUP|MIGRATION|TARGET)_/,
  /^(CATALOG_MISMATCH|CONFIG_INVALID|DATABASE_GUARDED|DATABASE_NOT_EMPTY|DATABASE_RIGHTS_MISSING|DATABASE_URL_MISMATCH|INTERNAL|ROWS_IN_THE_WAY|USER_UNKNOWN|VALUE_NOT_HELD)$/,
];

/** The places at which a source names a code: a status before it, a member `code`, or a choice. */
const PLACES = [
  /\(\s*\d{3},\s*'([A-Z][A-Z_]+)'/g,
  /\bcode(?:: | = )'([A-Z][A-Z_]+)'/g,
  /\blimitError\(\s*'([A-Z_]+)'/g,
  /\? '([A-Z]+_[A-Z_]+)' : '[A-Z_]+'/g,
];

function codesOf(file: string): string[] {
  const text = readFileSync(join(repo, file), 'utf8');
  return PLACES.flatMap((place) => Array.from(text.matchAll(place), ([, code]) => code!));
}

it('ErrorCode has each code that the runtime answers with, and no other', () => {
  const files = sourceFiles('runtime/core').filter((file) => !file.includes('/browser/'));
  const named = new Set(files.flatMap(codesOf));
  const answered = [...named].filter((code) => !OF_COMMANDS.some((each) => each.test(code)));
  const limits = readFileSync(join(repo, 'schema/limits/measures.ts'), 'utf8');
  const measured = Array.from(limits.matchAll(/: '(TOO_[A-Z_]+)'/g), ([, code]) => code!);
  expect(measured.length).toBeGreaterThan(3);
  // The client gives this one to a status: sign-in answers without codes.
  const byStatus = ['ACCOUNT_LOCKED'];
  const all = new Set([...answered, ...measured, ...byStatus, ...OF_THE_CLIENT]);
  expect(KNOWN).toEqual([...all].toSorted());
});

it('the client gives no status a code that ErrorCode lacks', () => {
  const given = Array.from(file!.matchAll(/^ {2}\d{3}: '([A-Z_]+)'/gm), ([, code]) => code);
  expect(given.length).toBeGreaterThan(10);
  expect(given.filter((code) => !KNOWN.includes(code!))).toEqual([]);
});
