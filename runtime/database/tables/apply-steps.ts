import type { Kysely } from 'kysely';
import type { IdKind, MigrationStep, StepOf, TableColumn } from '@twofold/schema';
import { columnTypes } from '@twofold/runtime/store';
import { dropSearchIndex } from './create-search-index.ts';
import { makeChanges } from './alter-table.ts';
import { type Alteration, describeColumn } from './alteration.ts';
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
  const described = ({ type }: TableColumn, column: TableColumn) =>
    describeColumn(db, {
      table,
      name: column.name,
      type: types[column.type],
      ...(type !== column.type && { from: types[type] }),
      build: (build) => describe(build, column, { refers: true }),
    });
  const alterations = changes.map((change): Alteration => {
    if (change.kind === 'alter')
      return { kind: 'alter', column: described(change.before, change.after) };
    return change.kind === 'add'
      ? { kind: 'add', column: described(change.column, change.column) }
      : change;
  });
  await makeChanges(db, table, alterations);
}
