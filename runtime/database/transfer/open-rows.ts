import { ConfigError } from '@twofold/runtime/errors';
import { databaseAddress, isOfSearch } from '@twofold/runtime/store';
import type { Catalog, CatalogName } from '../catalog/catalog.ts';
import type { LoadOptions, ReadSchemas, RowReader, RowWriter } from './database.ts';
import type { TableRows } from './move-rows.ts';
import { foreignKeysFirst, type MovedTable, movedTable } from './moved-table.ts';
import { readPostgresRows, writePostgresRows } from './postgres-rows.ts';
import { readSqliteRows, writeSqliteRows } from './sqlite-rows.ts';

/** Opens a snapshot of the database at `url`. @throws ConfigError when there is none. */
export async function openRowReader(
  url: string,
  root: string,
  schemas?: ReadSchemas,
): Promise<RowReader> {
  const address = databaseAddress(url, root);
  if (address.dialect === 'postgres') return readPostgresRows(address.url, schemas);
  return readSqliteRows(fileOf(address.file));
}

/** Opens the database at `url` to write rows. */
export async function openRowWriter(
  url: string,
  root: string,
  options: LoadOptions,
): Promise<RowWriter> {
  const address = databaseAddress(url, root);
  if (address.dialect === 'postgres') return writePostgresRows(address.url, options);
  return writeSqliteRows(fileOf(address.file), options);
}

function fileOf(file: string): string {
  if (file !== ':memory:') return file;
  throw new ConfigError(['a database in memory ends with its server: there are no rows to move']);
}

/**
 * The label of a table among `names`. If several tables have the same name, the first one of the
 * search path has it without a schema. Undefined for a table that is not among them.
 */
export function labelOf(
  { schema, name }: CatalogName,
  { catalog, names }: { readonly catalog: Catalog; readonly names: ReadonlySet<string> },
): string | undefined {
  // SQLite has no schemas, so the table has its plain name.
  if (catalog.dialect === 'sqlite' && !names.has(name))
    return [...names].find((each) => each.endsWith(`.${name}`));
  if (names.has(`${schema}.${name}`)) return `${schema}.${name}`;
  if (!names.has(name)) return undefined;
  const placed = catalog.schemas.find((each) =>
    catalog.tables.some((table) => table.schema === each && table.name === name),
  );
  return placed === schema ? name : undefined;
}

/** The tables of a database that are among `names`, each after the tables that it refers to. */
export function movedTables(
  { catalog, dialect }: Pick<RowReader, 'catalog' | 'dialect'>,
  names: ReadonlySet<string>,
): MovedTable[] {
  const tables = catalog.tables.filter(
    (table) =>
      table.kind === 'table' &&
      !table.partitionOf &&
      !isOfSearch(table.name) &&
      labelOf(table, { catalog, names }) !== undefined,
  );
  return foreignKeysFirst(tables, catalog).map((table) =>
    movedTable(table, labelOf(table, { catalog, names })!, dialect),
  );
}

/** The rows of a table of an open database. */
export function tableRows(reader: RowReader, table: MovedTable): TableRows {
  return {
    name: table.label,
    columns: table.columns.map(({ name }) => name),
    read: () => reader.read(table),
    ...(reader.lines && { lines: { of: reader.lines, table } }),
    find: async (at) => {
      let before = 0;
      for await (const batch of reader.read(table)) {
        if (at < before + batch.length) return batch[at - before];
        before += batch.length;
      }
      return undefined;
    },
  };
}
