import { type ColumnDefinitionBuilder, type Kysely, sql } from 'kysely';
import {
  columnChecks,
  type ColumnDefault,
  type IdKind,
  type Table,
  type TableColumn,
} from '@twofold/schema';
import { columnTypes, dialectOf, type ColumnTypes } from './column-types.ts';
import { createFoldedIndex } from './folded-index.ts';
import { addForeignKeyOnPostgres, foreignKeyName } from './foreign-keys.ts';
import { createSearchIndex } from '../search/create-search-index.ts';
import type { Store } from '../store.ts';

/**
 * Makes missing tables and missing columns, for a server that was given only a schema; a project
 * has migrations instead. It never drops or changes anything.
 *
 * @example await createTables(store, buildTables(project), 'integer');
 */
export async function createTables(
  store: Store,
  tables: readonly Table[],
  ids: IdKind,
): Promise<void> {
  await store.lock('tables', () =>
    store.structuralTransaction(async (trx) => {
      const existing = new Map(
        (await trx.introspection.getTables()).map((table) => [
          table.name,
          new Set(table.columns.map((column) => column.name)),
        ]),
      );
      const missing = tables.filter((table) => !existing.has(table.name));
      for (const table of missing) await createTable(trx, table, ids);
      if (dialectOf(trx) === 'postgres')
        for (const table of missing) await addForeignKeys(trx, table);
      for (const table of tables) {
        await addColumns(trx, table, existing.get(table.name), ids);
        if (existing.has(table.name)) await addSearch(trx, table, new Set(existing.keys()));
      }
    }),
  );
}

async function createTable(db: Kysely<any>, table: Table, ids: IdKind): Promise<void> {
  const types = columnTypes(db, ids);
  let builder = db.schema.createTable(table.name);
  for (const column of table.columns)
    builder = builder.addColumn(column.name, dataType(types, table, column), (build) =>
      describe(build, column, table, dialectOf(db) === 'sqlite'),
    );
  if (table.primaryKey.length > 1)
    builder = builder.addPrimaryKeyConstraint(`${table.name}_pkey`, table.primaryKey as never);
  if (dialectOf(db) === 'sqlite')
    for (const key of table.foreignKeys ?? [])
      builder = builder.addForeignKeyConstraint(
        foreignKeyName(table.name, key.columns),
        [...key.columns] as never,
        key.table,
        [...key.references],
        (made) => made.onDelete(key.onDelete),
      );
  await builder.execute();
  for (const index of table.indexes) await createIndex(db, table, index);
}

async function createIndex(
  db: Kysely<any>,
  table: Table,
  index: Table['indexes'][number],
): Promise<void> {
  const { name, columns, search } = index;
  if (search) return createSearchIndex(db, { name, table: table.name, columns, ...search });
  const [column] = index.columns;
  if (index.fold && column !== undefined)
    return createFoldedIndex(db, {
      name: index.name,
      table: table.name,
      column,
      fold: index.fold,
    });
  const builder = db.schema
    .createIndex(index.name)
    .on(table.name)
    .columns([...index.columns]);
  await (index.unique ? builder.unique() : builder).execute();
}

/**
 * Foreign keys are added later on PostgreSQL, because the other table must exist, and two tables
 * may refer to each other. SQLite accepts them only with the table.
 */
async function addForeignKeys(db: Kysely<any>, table: Table): Promise<void> {
  for (const { name, references } of table.columns) {
    if (!references) continue;
    await db.schema
      .alterTable(table.name)
      .addForeignKeyConstraint(`${table.name}_${name}_fkey`, [name], references.table, [
        references.column,
      ])
      .onDelete(references.onDelete)
      .execute();
  }
  for (const key of table.foreignKeys ?? []) await addForeignKeyOnPostgres(db, table.name, key);
}

async function addColumns(
  db: Kysely<any>,
  table: Table,
  existing: ReadonlySet<string> | undefined,
  ids: IdKind,
): Promise<void> {
  if (!existing) return;
  const types = columnTypes(db, ids);
  for (const column of table.columns.filter(({ name }) => !existing.has(name))) {
    await db.schema
      .alterTable(table.name)
      .addColumn(column.name, dataType(types, table, column), (build) =>
        describe(
          build,
          { ...column, required: column.required && column.default !== undefined },
          table,
          true,
        ),
      )
      .execute();
  }
}

/**
 * Indexes of a search are made with the table, because nothing can be found without them. Other
 * indexes only make queries faster.
 */
async function addSearch(
  db: Kysely<any>,
  table: Table,
  existing: ReadonlySet<string>,
): Promise<void> {
  for (const index of table.indexes)
    if (index.search && !existing.has(index.name)) await createIndex(db, table, index);
}

const isKey = (table: Table, column: TableColumn) =>
  table.primaryKey.length === 1 && table.primaryKey[0] === column.name;

const dataType = (types: ColumnTypes, table: Table, column: TableColumn) =>
  isCounted(table, column) ? types.key : types[column.type];

/** Whether the database or the server makes the key. The caller gives a key of another type. */
const isCounted = (table: Table, column: TableColumn) =>
  isKey(table, column) && column.type === 'id';

function describe(
  build: ColumnDefinitionBuilder,
  column: TableColumn,
  table: Table,
  withReferences: boolean,
): ColumnDefinitionBuilder {
  if (isCounted(table, column)) return build;
  let described = isKey(table, column) ? build.primaryKey() : build;
  if (column.required) described = described.notNull();
  if (column.unique) described = described.unique();
  if (column.default) described = withDefault(described, column.default);
  const checks = columnChecks(column);
  // Kysely keeps only one check for a column.
  if (checks.length > 0) described = described.check(sql.raw(checks.join(' and ')));
  if (column.references && withReferences) {
    const { table: target, column: key, onDelete } = column.references;
    described = described.references(`${target}.${key}`).onDelete(onDelete);
  }
  return described;
}

function withDefault(
  build: ColumnDefinitionBuilder,
  value: ColumnDefault,
): ColumnDefinitionBuilder {
  // The server fills in the other kinds: times and ids.
  return value.kind === 'value' ? build.defaultTo(value.value) : build;
}
