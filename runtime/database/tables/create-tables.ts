import { type ColumnDefinitionBuilder, type Kysely, sql } from 'kysely';
import {
  columnChecks,
  type ColumnDefault,
  type IdKind,
  type Table,
  type TableColumn,
  type TableIndex,
} from '@twofold/schema';
import { columnTypes, type ColumnTypes, dialectOf, type Store } from '@twofold/runtime/store';
import { createFoldedIndex } from './folded-index.ts';
import { addForeignKeyOnPostgres, foreignKeyName } from './foreign-keys.ts';
import { createSearchIndex } from './create-search-index.ts';

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
      for (const table of missing) await createTable(trx, table, ids, dialectOf(trx) === 'sqlite');
      if (dialectOf(trx) === 'postgres')
        for (const table of missing) await addForeignKeys(trx, table);
      for (const table of tables) {
        await addColumns(trx, table, existing.get(table.name), ids);
        if (existing.has(table.name)) await addSearch(trx, table, new Set(existing.keys()));
      }
    }),
  );
}

/** Makes a table with its indexes. `refers`: with its foreign keys. */
export async function createTable(
  db: Kysely<any>,
  table: Table,
  ids: IdKind,
  refers = true,
): Promise<void> {
  const types = columnTypes(db, ids);
  let builder = db.schema.createTable(table.name);
  for (const column of table.columns)
    builder = builder.addColumn(column.name, dataType(types, table, column), (build) =>
      describe(build, column, { table, refers }),
    );
  if (table.primaryKey.length > 1)
    builder = builder.addPrimaryKeyConstraint(`${table.name}_pkey`, table.primaryKey as never);
  if (refers)
    for (const key of table.foreignKeys ?? [])
      builder = builder.addForeignKeyConstraint(
        foreignKeyName(table.name, key.columns),
        [...key.columns] as never,
        key.table,
        [...key.references],
        (made) => made.onDelete(key.onDelete),
      );
  await builder.execute();
  for (const index of table.indexes) await createIndex(db, table.name, index);
}

export async function createIndex(
  db: Kysely<any>,
  table: string,
  { name, columns, unique, fold, search }: TableIndex,
): Promise<void> {
  if (search) return createSearchIndex(db, { name, table, columns, ...search });
  const [column] = columns;
  if (fold && column !== undefined) return createFoldedIndex(db, { name, table, column, fold });
  const builder = db.schema.createIndex(name).on(table);
  const over = builder.columns([...columns]);
  await (unique ? over.unique() : over).execute();
}

/**
 * Foreign keys are added later on PostgreSQL, because the other table must exist, and two tables
 * may refer to each other. SQLite accepts them only with the table.
 */
async function addForeignKeys(db: Kysely<any>, table: Table): Promise<void> {
  const single = table.columns.flatMap(({ name, references: to }) =>
    to ? [{ ...to, columns: [name], references: [to.column] }] : [],
  );
  for (const key of [...single, ...(table.foreignKeys ?? [])])
    await addForeignKeyOnPostgres(db, table.name, key);
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
          { table, refers: true },
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
    if (index.search && !existing.has(index.name)) await createIndex(db, table.name, index);
}

const isKey = (table: Table, column: TableColumn) =>
  table.primaryKey.length === 1 && table.primaryKey[0] === column.name;

const dataType = (types: ColumnTypes, table: Table, column: TableColumn) =>
  isCounted(table, column) ? types.key : types[column.type];

/** Whether the database or the server makes the key. The caller gives one of another type, or of another row. */
const isCounted = (table: Table, column: TableColumn) =>
  isKey(table, column) && column.type === 'id' && !column.references;

/** The definition of a column. `table` is absent for a column that is no key. */
export function describe(
  build: ColumnDefinitionBuilder,
  column: TableColumn,
  { table, refers }: { readonly table?: Table; readonly refers: boolean },
): ColumnDefinitionBuilder {
  if (table && isCounted(table, column)) return build;
  let described = table && isKey(table, column) ? build.primaryKey() : build;
  if (column.required) described = described.notNull();
  if (column.unique) described = described.unique();
  if (column.default) described = withDefault(described, column.default);
  const checks = columnChecks(column);
  // Kysely keeps only one check for a column.
  if (checks.length > 0) described = described.check(sql.raw(checks.join(' and ')));
  if (column.references && refers) {
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
