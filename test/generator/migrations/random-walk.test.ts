import { type Kysely, sql } from 'kysely';
import { describe, expect, test } from 'vitest';
import { findDifference } from '../../../generator/migrations/difference.ts';
import { foldMigrations } from '../../../generator/migrations/fold.ts';
import type { Store } from '../../../runtime/core/store/store.ts';
import type { SourceText, Table, TableColumn, TableForeignKey } from '../../../schema/index.ts';
import { renderMigration } from '../../../templates/migration.ts';
import { databases } from '../../store/databases.ts';
import { createRandom, type Random } from '../random.ts';
import { changeTables, settled, START, type Walk } from './random-tables.ts';
import { evaluateMigration } from './run-migration.ts';
import { readStructure } from './structure.ts';

/** MIGRATION_WALKS=200 for a long run; the seed of a failure is in its title. */
const WALKS = Number(process.env['MIGRATION_WALKS'] ?? 6);
const STEPS = 14;

for (const { name, missing, create } of databases) {
  describe.skipIf(missing !== null)(
    `a random walk of model changes on ${name}${missing ? ` (${missing})` : ''}`,
    () => {
      test.each(Array.from({ length: WALKS }, (_, at) => at + 1))(
        'seed %i ends as a fresh database, with every row kept',
        async (seed) => {
          const [walked, fresh] = [await create(), await create()];
          try {
            const random = createRandom(seed);
            let walk = START;
            const written: SourceText[] = [];
            for (let step = 0; step < STEPS; step++) {
              const next = changeTables(walk, random);
              await takeStep(walked.store, { before: walk, after: next, written }, random);
              walk = settled(next);
              await insertRows(walked.store.db, walk.tables, random);
            }
            await migrate(fresh.store, [], walk.tables);
            expect(await readStructure(walked.store)).toEqual(await readStructure(fresh.store));
          } finally {
            await Promise.all([walked.drop(), fresh.drop()]);
          }
        },
      );
    },
  );
}

/** Up, and sometimes down and up again: the same structure as before, and the rows of what both have. */
async function takeStep(
  store: Store,
  {
    before,
    after,
    written,
  }: { readonly before: Walk; readonly after: Walk; readonly written: SourceText[] },
  random: Random,
): Promise<void> {
  const [structure, rows] = [await readStructure(store), await readRows(store.db, before.tables)];
  const migration = await migrate(store, written, after.tables);
  await expectRows(store.db, rows, after.tables);
  if (!migration || !random.chance(0.4)) return;
  const there = await readStructure(store);
  if (!(await isUndone(store, migration, written.at(-1)!.text))) {
    expect(await readStructure(store)).toEqual(there);
    return;
  }
  expect(await readStructure(store)).toEqual(structure);
  await store.structuralTransaction((trx) => migration.up(trx, store));
  expect(await readStructure(store)).toEqual(there);
}

/** A table that was dropped comes back without its rows, so what led to them is in the way. */
async function isUndone(
  store: Store,
  { down }: ReturnType<typeof evaluateMigration>,
  text: string,
): Promise<boolean> {
  try {
    await store.structuralTransaction((trx) => down(trx, store));
    return true;
  } catch (error) {
    expect(error).toMatchObject({ code: 'ROWS_IN_THE_WAY' });
    expect(text).toContain("kind: 'dropTable'");
    return false;
  }
}

/** From the texts of the migrations so far, as a real run does it; the next one is added to them. */
async function migrate(
  store: Store,
  written: SourceText[],
  after: readonly Table[],
): Promise<ReturnType<typeof evaluateMigration> | null> {
  const folded = foldMigrations(written);
  expect([folded.broken, folded.unread]).toEqual([[], []]);
  const { steps } = findDifference(folded.tables, after, { allowDrop: () => true });
  if (steps.length === 0) return null;
  const text = renderMigration(steps, { ids: 'integer' });
  written.push({ file: `migrations/${written.length}.ts`, text });
  const migration = evaluateMigration(text);
  await store.structuralTransaction((trx) => migration.up(trx, store));
  return migration;
}

type Rows = ReadonlyMap<string, readonly Record<string, unknown>[]>;

async function readRows(db: Kysely<any>, tables: readonly Table[]): Promise<Rows> {
  const entries = await Promise.all(
    tables.map(async (table) => [table.name, await rowsOf(db, table)] as const),
  );
  return new Map(entries);
}

const rowsOf = (db: Kysely<any>, { name, primaryKey }: Table) =>
  db
    .selectFrom(name)
    .selectAll()
    .orderBy(sql.join(primaryKey.map((column) => sql.ref(column))))
    .execute();

/** Every row is there, and every value of a column that kept its type. */
async function expectRows(db: Kysely<any>, before: Rows, tables: readonly Table[]): Promise<void> {
  for (const table of tables) {
    const old = before.get(table.renamedFrom ?? table.name);
    if (!old) continue;
    const now = await rowsOf(db, table);
    expect(now.length).toBe(old.length);
    for (const column of table.columns) {
      const from = column.renamedFrom ?? column.name;
      if (!old.every((row) => from in row)) continue;
      expect(now.map((row) => same(row[column.name], column))).toEqual(
        old.map((row) => same(row[from] ?? filled(column), column)),
      );
    }
  }
}

function filled(column: TableColumn): unknown {
  return column.required && column.default?.kind === 'value' ? column.default.value : null;
}

/** A number that became text is compared by what it says. */
function same(value: unknown, { type }: TableColumn): unknown {
  if (type === 'json') return value;
  return value === null || value === undefined
    ? null
    : type === 'text'
      ? String(value).replace(/\.0$/, '')
      : type === 'boolean'
        ? Boolean(value)
        : String(value);
}

async function insertRows(
  db: Kysely<any>,
  tables: readonly Table[],
  random: Random,
): Promise<void> {
  for (const table of tables) {
    if (!random.chance(0.7)) continue;
    const values: Record<string, unknown> = {};
    const { foreignKeys = [] } = table;
    const led = new Set(foreignKeys.flatMap(({ columns }) => columns));
    for (const column of table.columns) {
      const counted = column.type === 'id' && !column.references;
      if (counted || led.has(column.name)) continue;
      if (column.default && random.chance(0.4)) continue;
      values[column.name] = column.references
        ? await someKey(db, column, random)
        : valueOf(column, random);
    }
    for (const key of foreignKeys) Object.assign(values, await somePair(db, key, random));
    await (
      Object.keys(values).length > 0
        ? db.insertInto(table.name).values(values)
        : db.insertInto(table.name).defaultValues()
    ).execute();
  }
}

/** The key of a row for all columns of a foreign key, or of no row. */
async function somePair(
  db: Kysely<any>,
  { columns, table, references }: TableForeignKey,
  random: Random,
): Promise<Record<string, unknown>> {
  const row = await db
    .selectFrom(table)
    .select([...references])
    .executeTakeFirst();
  if (!row || random.chance(0.3)) return {};
  return Object.fromEntries(columns.map((name, at) => [name, row[references[at]!]]));
}

async function someKey(
  db: Kysely<any>,
  { references, unique }: TableColumn,
  random: Random,
): Promise<unknown> {
  if (unique || random.chance(0.3)) return null;
  const row = await db
    .selectFrom(references!.table)
    .select('id')
    .orderBy(sql`id desc`)
    .executeTakeFirst();
  return row?.['id'] ?? null;
}

function valueOf(column: TableColumn, random: Random): unknown {
  if (!column.required && random.chance(0.2)) return null;
  if (column.values) return random.pick(column.values);
  switch (column.type) {
    case 'integer':
    case 'bigint':
      return random.whole(1_000_000);
    case 'real':
      return random.whole(1_000) + 0.5;
    case 'boolean':
      return random.chance(0.5);
    case 'timestamp':
      return new Date(1_700_000_000_000 + random.whole(1e9)).toISOString();
    case 'date':
      return `2026-01-${String(1 + random.whole(28)).padStart(2, '0')}`;
    case 'json':
      return JSON.stringify({ n: random.whole(10) });
    case 'decimal':
      return `${random.whole(1000)}.25`;
    case 'uuid':
      return `0189${random.whole(10_000).toString().padStart(4, '0')}-0000-7000-8000-000000000000`;
    default:
      return `text ${random.whole(1e9)} ' " \\ é`;
  }
}
