import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { findDifference } from '../../generator/migrations/difference.ts';
import { unreadFindings } from '../../generator/migrations/findings.ts';
import { foldMigrations } from '../../generator/migrations/fold.ts';
import { readMigration } from '../../generator/migrations/read-migration.ts';
import { migrationSteps } from '../../generator/upgrade/migration-steps/codemod.ts';
import { withEdits } from '../../generator/upgrade/text-edits.ts';
import { hashOf } from '../../runtime/core/store/migrations/ledger.ts';
import type { MigrationStep } from '../../schema/index.ts';
import { renderMigration } from '../../templates/migration.ts';
import { changeTables, settled, START } from '../generator/migrations/random-tables.ts';
import { createRandom } from '../generator/random.ts';
import { type Release, released } from './releases.ts';

const WALKS = Number(process.env['MIGRATION_WALKS'] ?? 20);

let release: Release;
beforeAll(() => void (release = released('0.1.0')));
const path = () => join(release.modules, '@twofold/generator/templates/migration.js');

/** How 0.1.0 writes steps: a step of its own for each foreign key of several columns. */
async function writtenBefore(steps: readonly MigrationStep[], ids: string): Promise<string> {
  const { renderMigration: render } = (await import(path())) as {
    renderMigration: (steps: unknown, facts: { readonly ids: string }) => string;
  };
  const former = steps.flatMap((step): object[] => {
    if (step.kind !== 'alterTable' || !('key' in (step.changes[0] ?? {}))) return [step];
    return step.changes.map((change) => ({ table: step.table, ...change }));
  });
  return render(former, { ids });
}

async function upgraded(text: string) {
  const path = 'migrations/0001_init.ts';
  const { edits, byHand = [] } = await migrationSteps.edit({ path, text });
  return { text: withEdits(text, edits), byHand };
}

const withoutFirstLine = (text: string) => text.replace(/^.*\n\n/, '');

describe('a migration that 0.1.0 wrote', () => {
  it.each(['integer', 'uuid'] as const)(
    'becomes the steps that it was written from, with keys of %s',
    async (ids) => {
      for (let seed = 1; seed <= WALKS; seed++) {
        const random = createRandom(seed);
        let walk = START;
        for (let change = 0; change < 14; change++) {
          const next = changeTables(walk, random);
          const { steps } = findDifference(walk.tables, next.tables, { allowDrop: () => true });
          walk = settled(next);
          if (steps.length === 0) continue;
          const before = await writtenBefore(steps, ids);
          const { text, byHand } = await upgraded(before);
          expect([seed, change, byHand]).toEqual([seed, change, []]);
          const typed = before.includes('columnTypes') ? ids : 'integer';
          expect(withoutFirstLine(text)).toBe(renderMigration(steps, { ids: typed }));
          expect(hashOf({ text })).toBe(hashOf({ text: before }));
          expect(await migrationSteps.edit({ path: 'migrations/1_a.ts', text })).toEqual({
            edits: [],
          });
        }
      }
    },
    120_000,
  );

  it('is refused by generate until it is upgraded, with the command that does it', async () => {
    const columns = [{ name: 'id', type: 'id', required: true, unique: false }] as const;
    const table = { name: 'notes', columns, primaryKey: ['id'], indexes: [] };
    const steps = [{ kind: 'createTable', table }] as const;
    const text = await writtenBefore(steps, 'integer');
    const folded = foldMigrations([{ file: 'migrations/0001_init.ts', text }]);
    expect(folded.tables).toEqual([]);
    expect(unreadFindings(folded, steps)).toMatchObject([
      { code: 'MIGRATION_UNREADABLE', why: expect.stringContaining('generator -- upgrade') },
    ]);
    const after = await upgraded(text);
    expect(
      foldMigrations([{ file: 'migrations/0001_init.ts', text: after.text }]).tables,
    ).toHaveLength(1);
  });

  it('is another one for a database once it is edited', async () => {
    const steps = [{ kind: 'renameTable', from: 'posts', to: 'articles' }] as const;
    const { text } = await upgraded(await writtenBefore(steps, 'integer'));
    const edited = text.replace('articles', 'essays');
    expect(hashOf({ text: edited })).toBe(hashOf({ text: withoutFirstLine(edited) }));
  });

  it('keeps its consent, and the names that it replaces', async () => {
    const steps = [{ kind: 'renameTable', from: 'posts', to: 'articles' }] as const;
    const before = `export const replaces = ['0001_init', '0002_more'];\nexport const allowLoss = ['posts.rating'];\n\n${await writtenBefore(steps, 'integer')}`;
    const { text } = await upgraded(before);
    expect(text).toContain("export const replaces = ['0001_init', '0002_more'];");
    expect(readMigration(text)).toMatchObject({ steps, allowLoss: ['posts.rating'] });
    expect(hashOf({ text })).toBe(hashOf({ text: before }));
  });

  it('that says what its code leaves says it as steps', async () => {
    const text = `export const leaves = [
  'table notes {"primaryKey":["id"]}',
  'column notes.id {"type":"id","required":true,"unique":false}',
  'column users.age {"type":"integer","required":false,"unique":false,"default":{"kind":"value","value":"it\\'s"}}',
  'gone users.old',
  'gone logs',
];

export async function up(db: Kysely<any>): Promise<void> {
  await sql\`create table notes (id integer primary key)\`.execute(db);
}
`;
    const { text: after } = await upgraded(text);
    expect(readMigration(after).leaves).toMatchObject([
      {
        kind: 'createTable',
        table: { name: 'notes', columns: [{ name: 'id' }], primaryKey: ['id'] },
      },
      { kind: 'alterTable', changes: [{ kind: 'add', column: { default: { value: "it's" } } }] },
      { kind: 'alterTable', table: 'users', changes: [{ kind: 'drop', column: { name: 'old' } }] },
      { kind: 'dropTable', table: { name: 'logs' } },
    ]);
    expect(hashOf({ text: after })).toBe(hashOf({ text }));
    expect(after.slice(after.indexOf('export async'))).toBe(
      text.slice(text.indexOf('export async')),
    );
    expect((await upgraded(after)).text).toBe(after);
  });

  it.each([
    ["'text', type.text", "'text', 'varchar(20)'"],
    ["'text', type.text", "'text', sql`citext`"],
    ['.notNull()', '.notNull().collate("C")'],
    ['type.key)', "type.key).addUniqueConstraint('one', ['text'])"],
    ['type.key)', 'type.key).modifyEnd(sql`strict`)'],
  ])('stays as it is where a person wrote %s as %s', async (written, other) => {
    const text = { name: 'text', type: 'text', required: true, unique: false } as const;
    const id = { name: 'id', type: 'id', required: true, unique: false } as const;
    const table = { name: 'notes', columns: [id, text], primaryKey: ['id'], indexes: [] };
    const before = await writtenBefore([{ kind: 'createTable', table }], 'integer');
    expect(readMigration((await upgraded(before)).text).steps).toHaveLength(1);
    const edited = before.replace(written, other);
    expect(edited).not.toBe(before);
    expect((await upgraded(edited)).text).toBe(edited);
  });

  it.each([
    ['  // what they had before\n', []],
    ["  await db.updateTable('posts').set({ title: '' }).execute();\n", []],
    ['  process.exit();\n', []],
  ])('stays as it is with code of a person: %j', async (code) => {
    const steps = [{ kind: 'renameTable', from: 'posts', to: 'articles' }] as const;
    const text = (await writtenBefore(steps, 'integer')).replace('{\n', `{\n${code}`);
    const after = await upgraded(text);
    expect(after.text).toBe(text);
    expect(after.byHand).toMatchObject([{ what: expect.stringContaining('export const leaves') }]);
  });
});
