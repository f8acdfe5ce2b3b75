import { readdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { Diagnostic } from '@twofold/schema';
import { describe, expect, it } from 'vitest';
import { applied, identities, lost } from './applied-fix.ts';
import { QUERY, read } from './reading.ts';

const FOLDER = new URL('styles/', import.meta.url);
const STYLES = readdirSync(FOLDER).map((name) => ({
  name,
  text: readFileSync(new URL(name, FOLDER), 'utf8'),
}));

const errorsOf = (findings: readonly Diagnostic[]) =>
  findings.filter(({ severity }) => severity === 'error');

/** A directive may get an argument more, and a type may change where that is the fix; everything else stays. */
function changesLittle(before: string, after: string, { code }: Diagnostic): void {
  const gone = lost(before, after);
  expect(gone.filter((line) => !/ (?:directives|type) |\/Directive:/.test(line))).toEqual([]);
  expect(gone.filter((line) => line.includes('@auth'))).toEqual([]);
  expect(gone.length, `${code}: ${gone.join('; ')}`).toBeLessThanOrEqual(1);
}

/** Applies every way to mend one finding, each alone. */
function tryFixes(
  text: string,
  finding: Diagnostic,
  all: readonly Diagnostic[],
  manifest: string | null,
) {
  const [own = ''] = identities(text, [finding]);
  const before = new Set(identities(text, errorsOf(all)));
  for (const fix of finding.fixes ?? []) {
    const after = applied(text, fix);
    changesLittle(text, after, finding);
    const { diagnostics } = read(after, manifest);
    expect(identities(after, diagnostics), `${own} by ${finding.fix}`).not.toContain(own);
    const added = identities(after, errorsOf(diagnostics)).filter((each) => !before.has(each));
    expect(added, `${own} by ${finding.fix}`).toEqual([]);
  }
}

/** The first fix of each error, again and again. */
function settled(text: string, manifest: string | null = null): string {
  let now = text;
  for (let round = 0; round < 6; round++) {
    const errors = errorsOf(read(now, manifest).diagnostics);
    if (errors.length === 0) return now;
    const edits = errors.flatMap(({ fixes }) => fixes?.[0]?.edits ?? []);
    expect(edits.length, errors.map(({ summary }) => summary).join('\n')).toBeGreaterThan(0);
    now = applied(now, { edits });
  }
  throw new Error('errors are left after six rounds');
}

describe('fixes of schemas as others write them', () => {
  it.each(STYLES)('each mends $name and changes nothing else', ({ text }) => {
    const { diagnostics } = read(text);
    for (const finding of diagnostics) tryFixes(text, finding, diagnostics, null);
  });

  it.each(STYLES)('all of them leave no error in $name', ({ text }) => {
    const after = settled(text);
    expect(errorsOf(read(after).diagnostics)).toEqual([]);
    expect(lost(text, after)).toEqual([]);
  });

  it.each(STYLES)('each reads like the line that it makes: $name', ({ text }) => {
    for (const { fix = '', fixes = [] } of read(text).diagnostics) {
      const line = fix.split('\n')[0]!.replace(/^.*?(?:relations?|many|table|yourself|one): +/, '');
      if (fixes[0]) expect(applied(text, fixes[0])).toContain(line.split('   ')[0]);
    }
  });
});

/** A marketplace of 660 kB, as it is published. Each fix alone would take minutes, so that all of a kind are applied at once. */
describe('fixes of a public schema', () => {
  const file = createRequire(import.meta.url).resolve('@nautical-commerce/graphql-schema');
  const text = readFileSync(file, 'utf8');
  const { diagnostics } = read(text);

  it.each(['error', 'warning', 'hint'])('mend each %s and change nothing else', (severity) => {
    const mended = diagnostics.filter((each) => each.severity === severity && each.fixes);
    expect(mended.length).toBeGreaterThan(5);
    const edits = mended.flatMap(({ fixes }) => fixes![0]!.edits);
    const after = applied(text, { edits });
    const retyped = mended.filter(({ code }) => /TIMESTAMP_TYPE|ENTITY_KEY_TYPE/.test(code)).length;
    const gone = lost(text, after);
    expect(gone.filter((line) => !/ type \w+!?$/.test(line))).toEqual([]);
    expect(gone.length).toBeLessThanOrEqual(retyped);
    const left = new Set(identities(after, read(after).diagnostics));
    expect(identities(text, mended).filter((each) => left.has(each))).toEqual([]);
  });

  it('leave no error', () => {
    expect(lost(text, settled(text))).toEqual([]);
  });
});

describe('a fix', () => {
  const AUTH = 'name: x\nauth: {}';
  const sdl = `${QUERY}type User { id: ID! email: String!
  "What they wrote."
  posts(
    # the newest
    limit: Int = 20
    "Where it begins." offset: Int = 0
  ): [Post!]! @auth(allow: [OWNER], owner: "id") @deprecated(reason: "old") # for now
}
type Post @auth(allow: [USER]) { id: ID! author: User editor: User }`;

  it('keeps rules of access, defaults of arguments, descriptions, comments and layout', () => {
    const finding = read(sdl, AUTH).diagnostics.find(({ code }) => code === 'RELATION_AMBIGUOUS')!;
    const after = applied(sdl, finding.fixes![0]!);
    expect(after).toBe(
      sdl.replace('reason: "old")', 'reason: "old") @relation(inverse: "author")'),
    );
    expect(finding.fix).toBe(
      '): [Post!]! @auth(allow: [OWNER], owner: "id") @deprecated(reason: "old") @relation(inverse: "author")',
    );
  });

  it('keeps the line ends and the byte order mark of a file', () => {
    const windows = `\uFEFF${sdl.replaceAll('\n', '\r\n')}`;
    const { diagnostics } = read(windows, AUTH);
    const finding = diagnostics.find(({ code }) => code === 'RELATION_AMBIGUOUS')!;
    expect(applied(windows, finding.fixes![0]!)).toBe(
      windows.replace('reason: "old")', 'reason: "old") @relation(inverse: "author")'),
    );
  });

  it.each([
    [
      'adds to the directive that is there',
      'type A @entity(softDelete: true, table: "auth_a") { id: ID! }',
      'type A @entity(softDelete: true, table: "app_auth_a") { id: ID! }',
    ],
    [
      'sets an argument of it',
      'type A { id: ID! bs: [B!]! @relation(table: "bs") } type B { id: ID! }',
      'type A { id: ID! bs: [B!]! @relation(table: "bs_links") } type B { id: ID! }',
    ],
    [
      'takes an argument away',
      'type A { id: ID! b: B @relation(table: "x", column: "c") } type B { id: ID! }',
      'type A { id: ID! b: B @relation(column: "c") } type B { id: ID! }',
    ],
    [
      'takes a directive away',
      'type A { id: ID! b: B @relation(table: "x") } type B { id: ID! }',
      'type A { id: ID! b: B } type B { id: ID! }',
    ],
    [
      'keeps that a key may be null',
      'type User { id: ID! } type A { id: ID! author: User authorId: Float }',
      'type User { id: ID! } type A { id: ID! author: User authorId: ID }',
    ],
    [
      'declares a scalar',
      'type A { id: ID! at: DateTime }',
      'type A { id: ID! at: DateTime }\n\nscalar DateTime\n',
    ],
    [
      'adds the key as the first field',
      'type A @entity {\n  "b"\n  b: Int\n}',
      'type A @entity {\n  id: ID!\n  "b"\n  b: Int\n}',
    ],
    [
      'writes the name that was meant',
      'type A { id: ID! b: Int @uniqe }',
      'type A { id: ID! b: Int @unique }',
    ],
    [
      'declares a directive of others',
      'type A @key(fields: "id") { id: ID! }',
      'type A @key(fields: "id") { id: ID! }\n\ndirective @key(fields: String) repeatable on OBJECT\n',
    ],
  ])('%s', (_, before, after) => {
    const [finding] = read(QUERY + before).diagnostics;
    expect(applied(QUERY + before, finding!.fixes![0]!)).toBe(QUERY + after);
    tryFixes(QUERY + before, finding!, [finding!], null);
  });

  it('removes what stands twice to the letter, and nothing of what differs', () => {
    const twice = `${QUERY}type A { id: ID! b(c: Int = 1): Int b(c: Int = 1): Int }`;
    const [finding] = read(twice).diagnostics;
    expect(finding).toMatchObject({ code: 'NAME_DUPLICATE' });
    expect(applied(twice, finding!.fixes![0]!)).toBe(twice.replace(' b(c: Int = 1): Int }', ' }'));
    const differs = twice.replace('= 1', '= 2');
    expect(read(differs).diagnostics[0]?.fixes).toBeUndefined();
  });

  it('calls the key id', () => {
    const before = `${QUERY}type A { _id: ID! b: Int }`;
    const [finding] = read(before).diagnostics;
    expect(finding).toMatchObject({ code: 'ENTITY_KEY_NAME', severity: 'warning', fix: 'id: ID!' });
    const after = applied(before, finding!.fixes![0]!);
    expect(after).toBe(before.replace('_id', 'id'));
    expect(read(after).project?.entities.map(({ name }) => name)).toEqual(['A']);
  });

  it('gives each of two lists an end of its own', () => {
    const two = `${QUERY}type User { id: ID! posts: [Post!]! edited: [Post!]! } type Post { id: ID! author: User editor: User }`;
    expect(read(two).diagnostics.map(({ fix }) => fix)).toEqual([
      'posts: [Post!]! @relation(inverse: "author")',
      'edited: [Post!]! @relation(inverse: "editor")',
    ]);
    expect(errorsOf(read(settled(two)).diagnostics)).toEqual([]);
  });

  it('never takes a rule of access away', () => {
    const misplaced = `${QUERY}type A { id: ID! v: V } type V { c: Int @auth(allow: [USER]) }`;
    const [finding] = read(misplaced, AUTH).diagnostics;
    expect(finding).toMatchObject({ code: 'DIRECTIVE_WITHOUT_EFFECT' });
    expect(finding?.fixes).toBeUndefined();
  });
});
