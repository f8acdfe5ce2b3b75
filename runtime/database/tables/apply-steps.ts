import type { ColumnDefinitionBuilder, Kysely } from 'kysely';
import type { IdKind, MigrationStep, StepOf, TableColumn } from '@twofold/schema';
import { columnTypes, type TableChange } from '@twofold/runtime/store';
import { dropSearchIndex } from './create-search-index.ts';
import { makeTableChanges } from './alter-table.ts';
import { createIndex, createTable, describe } from './create-tables.ts';

/** Makes the steps of a migration, in order. */
export async function applySteps(
  db: Kysely<any>,
  steps: readonly MigrationStep[],
  ids: IdKind,
): Promise<void> {
  for (const step of steps) await (APPLY[step.kind] as Apply<MigrationStep>)(db, step, ids);
}

type Apply<Step> = (db: Kysely<any>, step: Step, ids: IdKind) => Promise<unknown>;

const APPLY: { readonly [K in MigrationStep['kind']]: Apply<StepOf<K>> } = {
  createTable: (db, { table }, ids) => createTable(db, table, ids),
  dropTable: async (db, { table: { name, indexes } }) => {
    // The index of a search has tables of its own.
    for (const index of indexes)
      if (index.search) await dropSearchIndex(db, { name: index.name, table: name });
    await db.schema.dropTable(name).execute();
  },
  renameTable: (db, { from, to }) => db.schema.alterTable(from).renameTo(to).execute(),
  renameColumn: (db, { table, from, to }) =>
    db.schema.alterTable(table).renameColumn(from, to).execute(),
  renameValue: (db, { table, column, from, to }) => {
    const update = db.updateTable(table).set({ [column]: to });
    return update.where(column, '=', from).execute();
  },
  alterTable: alter,
  createIndex: (db, { table, index }) => createIndex(db, table, index),
  dropIndex: (db, { table, index: { name, search } }) =>
    search ? dropSearchIndex(db, { name, table }) : db.schema.dropIndex(name).execute(),
};

async function alter(
  db: Kysely<any>,
  { table, changes }: StepOf<'alterTable'>,
  ids: IdKind,
): Promise<void> {
  const types = columnTypes(db, ids);
  const stated = (column: TableColumn, { type }: TableColumn = column) => ({
    name: column.name,
    type: type === column.type ? types[type] : { from: types[type], to: types[column.type] },
    build: (build: ColumnDefinitionBuilder) => describe(build, column, { refers: true }),
  });
  const all = changes.map((change): TableChange => {
    if (change.kind === 'alter') return { kind: 'alter', ...stated(change.after, change.before) };
    return change.kind === 'add' ? { kind: 'add', ...stated(change.column) } : change;
  });
  await makeTableChanges(db, table, all);
}
