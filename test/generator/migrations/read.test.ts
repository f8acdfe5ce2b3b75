import { describe, expect, test } from 'vitest';
import { foldMigrations } from '../../../generator/migrations/fold.ts';
import { readLiteral } from '../../../generator/migrations/read-literal.ts';
import { readMigration } from '../../../generator/migrations/read-migration.ts';
import { renderMigration } from '../../../templates/migration.ts';
import type { MigrationStep } from '../../../schema/index.ts';

const RENAME: MigrationStep = { kind: 'renameTable', from: 'posts', to: 'articles' };

describe('a literal is read without running it', () => {
  test.each([
    [
      `[{ kind: 'a', "b": 1, c: [true, null], }, /* no */ { d: -1.5e3 } // yes\n]`,
      [{ kind: 'a', b: 1, c: [true, null] }, { d: -1500 }],
    ],
    ['`plain`', 'plain'],
    [`'it\\'s "so" \\\\ \\u00e9 \\n'`, 'it\'s "so" \\ é \n'],
    [`"it's \\"so\\""`, 'it\'s "so"'],
    ["{ true: 'x: y', 'a-b': [] }", { true: 'x: y', 'a-b': [] }],
  ])('%s', (text, value) => {
    expect(readLiteral(`const a = ${text} as const;`, 10)?.value).toEqual(value);
  });

  test.each([
    '[...others]',
    '[{ kind: KIND }]',
    'steps()',
    '`a${b}`',
    "['a'",
    '[1 + 1]',
    '{ a() {} }',
  ])('and is no data: %s', (text) => expect(readLiteral(text, 0)).toBeNull());
});

describe('the text of a migration', () => {
  test('has its steps, with their places, in whatever layout it is written', () => {
    const text = renderMigration([RENAME], { ids: 'uuid', allowLoss: ['posts.title'] });
    const other = text.replaceAll("'", '"').replace('[{', '[\n  // first\n  {');
    for (const each of [text, other, text.replaceAll('\n', '\r\n')])
      expect(readMigration(each)).toMatchObject({
        steps: [RENAME],
        ids: 'uuid',
        allowLoss: ['posts.title'],
        byHand: false,
        unread: [],
      });
    expect(foldMigrations([{ file: 'migrations/0001_a.ts', text: other }]).broken).toMatchObject([
      {
        line: other.slice(0, other.indexOf('{ kind') < 0 ? 0 : other.lastIndexOf('{')).split('\n')
          .length,
      },
    ]);
  });

  test('whose steps are not data may be about any table', () => {
    const { steps, byHand, unread } = readMigration('export const steps = [...more];\n');
    expect([steps, byHand, unread]).toEqual([[], true, [{ line: 1, text: '' }]]);
  });

  test.each([
    ['nothing', 'function up() {\n  // create table a\n}', false, 0],
    ['rows alone', "function up() {\n  db.updateTable('a').set({ b: 'drop it' });\n}", true, 0],
    ['SQL', 'function up() {\n  await sql`alter table a add b text`;\n}', true, 1],
    ['Kysely', "function up() {\n  await db.schema.createTable('a').execute();\n}", true, 1],
    [
      'what down does',
      'function up() {}\nexport function down() {\n  sql`drop table a`;\n}',
      false,
      0,
    ],
  ])('has code that changes %s', (_what, code, byHand, unread) => {
    const read = readMigration(`export async ${code}\n`);
    expect([read.byHand, read.unread.length]).toEqual([byHand, unread]);
  });

  test('has code that names a table only when it runs, which may be any', () => {
    const code =
      'export async function up(db) {\n  await db.schema.dropTable(name).execute();\n}\n';
    expect(readMigration(code).unread).toEqual([{ line: 2, text: '' }]);
  });
});
