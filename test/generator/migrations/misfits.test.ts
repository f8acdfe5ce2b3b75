import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { loadMigrations } from '../../../runtime/database/migrations/load-migrations.ts';
import { generator, makeProject } from '../project.ts';

const head = "import type { MigrationStep } from '@twofold/runtime';\n\n";
const steps = (text: string) => `${head}export const steps: MigrationStep[] = ${text};\n`;
const table = (members: string) =>
  steps(`[\n  { kind: 'createTable', table: { name: 'notes', ${members} } },\n]`);
const id = "columns: [{ name: 'id', type: 'id', required: true, unique: false }]";

/** Texts that people have by a slip, an old version or a merge, with the line and what is said. */
const MISFITS: Record<string, readonly [text: string, line: number, what: string]> = {
  'a number in place of the list': [steps('5'), 3, 'steps must be a list'],
  'nothing in place of the list': [steps('null'), 3, 'steps must be a list'],
  'a step of no kind': [
    steps('[\n  {},\n]'),
    4,
    'steps[0].kind is missing: it is one of createTable',
  ],
  'an unknown kind': [
    steps("[\n  { kind: 'explode' },\n]"),
    4,
    'steps[0].kind is "explode": it is one of createTable, dropTable, renameTable',
  ],
  'a kind that every object has': [
    steps("[\n  { kind: 'toString' },\n]"),
    4,
    'steps[0].kind is "toString"',
  ],
  'a text in place of a table': [
    steps("[\n  { kind: 'dropTable', table: 'x' },\n]"),
    4,
    'steps[0].table must be an object',
  ],
  'the second step': [
    steps(
      "[\n  { kind: 'renameTable', from: 'a', to: 'b' },\n  { kind: 'renameTable', from: 'b' },\n]",
    ),
    5,
    'steps[1].to is missing',
  ],
  'a member that is missing': [
    table(`${id}, primaryKey: ['id']`),
    4,
    'steps[0].table.indexes is missing',
  ],
  'a member that is misspelt': [
    table(`${id}, primaryKey: ['id'], indices: []`),
    4,
    'steps[0].table has no member indices',
  ],
  'a member of a wrong type': [
    table(
      "columns: [{ name: 'id', type: 'id', required: 'yes', unique: false }], primaryKey: [], indexes: []",
    ),
    4,
    'steps[0].table.columns[0].required must be true or false',
  ],
  'a type that there is not': [
    table(
      "columns: [{ name: 'id', type: 'number', required: true, unique: false }], primaryKey: ['id'], indexes: []",
    ),
    4,
    'steps[0].table.columns[0].type is "number": it is one of id, text, integer',
  ],
  'a default that would not be one': [
    table(
      "columns: [{ name: 'a', type: 'text', required: true, unique: false, default: 'x' }], primaryKey: ['a'], indexes: []",
    ),
    4,
    'steps[0].table.columns[0].default must be an object',
  ],
  'a rule for deletes that there is not': [
    steps(
      "[\n  { kind: 'alterTable', table: 'a', changes: [{ kind: 'addForeignKey', key: { columns: ['a'], table: 'b', references: ['c'], onDelete: 'explode' } }] },\n]",
    ),
    4,
    'steps[0].changes[0].key.onDelete is "explode": it is one of cascade, restrict, set null',
  ],
  'a change of no kind': [
    steps("[\n  { kind: 'alterTable', table: 'a', changes: [{ kind: 'grow' }] },\n]"),
    4,
    'steps[0].changes[0].kind is "grow": it is one of add, drop, alter, addForeignKey, dropForeignKey',
  ],
};

/** Texts that nothing can be read from; only a server, or \`migrate\`, imports them. */
const UNREADABLE: Record<string, readonly [text: string, what: string]> = {
  'an empty file': ['', 'it exports neither steps nor a function up'],
  'a file that was cut off': [steps("[{ kind: 'createTable', table: {").slice(0, -2), ''],
  'a list that is nested too deeply': [
    steps('['.repeat(100_000) + ']'.repeat(100_000)),
    'it is nested too deeply',
  ],
};

describe('a migration whose file is no migration', () => {
  let folder: string;
  beforeAll(() => (folder = mkdtempSync(join(tmpdir(), 'misfits-'))));
  afterAll(() => rmSync(folder, { recursive: true }));

  const imported = (text: string) => {
    writeFileSync(join(folder, '0002_own.ts'), text);
    return loadMigrations(pathToFileURL(`${folder}/`));
  };

  it.each(Object.entries(MISFITS))(
    'is refused when it is imported: %s',
    async (_, [text, , what]) => {
      await expect(imported(text)).rejects.toMatchObject({
        code: 'MIGRATION_FAILED',
        message: expect.stringContaining(`migration 0002_own cannot be read: ${what}`),
      });
    },
  );

  it.each(Object.entries(UNREADABLE))('is refused without more: %s', async (_, [text, what]) => {
    const error: Error = await imported(text).then(
      () => new Error('it was imported'),
      (thrown) => thrown,
    );
    expect(error).toMatchObject({ code: 'MIGRATION_FAILED' });
    expect(error.message).toContain(`migration 0002_own cannot be read: ${what}`);
    expect(error.message).not.toMatch(/call stack|issue/i);
  });

  it('is refused by generate with its line and a way back, and nothing is written', async () => {
    const SCHEMA = 'type Note { id: ID! text: String! }\ntype Query { notes: [Note!]! }\n';
    const shop = makeProject({ 'schema.graphql': SCHEMA, 'manifest.yaml': 'name: shop\n' });
    expect((await generator(['generate'], shop.root)).code).toBe(0);
    shop.write('schema.graphql', SCHEMA.replace('text', 'title: String text'));
    const before = shop.files();
    for (const [text, line, what] of Object.values(MISFITS)) {
      shop.write('migrations/0002_own.ts', text);
      const { code, stdout, stderr } = await generator(['generate', '--no-color'], shop.root);
      const said = stdout + stderr;
      expect(said).toContain(what);
      expect(said).toContain(`migrations/0002_own.ts:${line}`);
      expect(said).toContain('git checkout -- migrations/0002_own.ts');
      expect(said).not.toMatch(/\n {4}at /);
      expect(code).toBe(3);
      const { 'migrations/0002_own.ts': _, ...others } = shop.files();
      expect(others).toEqual(before);
    }
    shop.remove();
  });
});
