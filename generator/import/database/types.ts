import type { Catalog, CatalogColumn, CatalogForeignKey, CatalogTable } from '@twofold/database';
import { isOwnTable, snakeCase } from '@twofold/schema';
import type { ImportedField, ReportItem } from '../imported.ts';
import { keyOf } from './column-type.ts';
import { createNames, TAKEN, typeName, upperFirst } from './names.ts';

/** A type of the imported schema while its fields are collected. */
export interface TypeInProgress {
  readonly name: string;
  readonly table: CatalogTable;
  readonly fields: ImportedField[];
  readonly names: (name: string, prefix?: string) => string;
  /** The fields of columns, by the name of the column. */
  readonly columns: Map<string, string>;
  /** The fields of the table's own foreign keys. */
  readonly relations: Map<CatalogForeignKey, string>;
  /** The fields of this type for foreign keys in other tables. */
  readonly inverses: Map<CatalogForeignKey, string>;
  /** The fields of `@table(key:)`; undefined where `id` is the key. */
  key?: readonly string[];
  /** Whether the table has no key, so that rows can only be read. */
  view: boolean;
}

/** What an import takes from a database, and what it calls otherwise than the database does. */
export interface Wishes {
  /** Whether a table is part of the import. */
  readonly wanted: (table: CatalogTable) => boolean;
  /** Why the other tables are left out, for the report. */
  readonly unwanted?: string;
  /**
   * Whether the schema must name the type of each key, because migrations make the tables and no
   * catalog tells it.
   */
  readonly typedKeys?: boolean;
  /** Whether a table of two keys and nothing else becomes a type, as every other table does. */
  readonly joinsAreTypes?: boolean;
  readonly typeName?: (table: CatalogTable) => string | undefined;
  readonly fieldName?: (table: CatalogTable, column: CatalogColumn) => string | undefined;
  /** The name of the field for a foreign key. */
  readonly relationName?: (key: CatalogForeignKey) => string | undefined;
  /** The name of the field at the other end; null when there is none. */
  readonly inverseName?: (key: CatalogForeignKey) => string | null | undefined;
}

/** Whether the server makes the table for itself or for its searches. */
const isOwn = (name: string) => isOwnTable(name) || name.startsWith('twofold_search_');

export const isServed = ({ kind, partitionOf, extension, name }: CatalogTable): boolean =>
  kind !== 'virtual table' && !partitionOf && extension === null && !isOwn(name);

/** Whether the table consists only of two foreign keys that together are its primary key. */
export function isJoinTable(
  table: CatalogTable,
  served: ReadonlyMap<string, CatalogTable>,
): boolean {
  const { columns, foreignKeys, primaryKey, kind } = table;
  const own = foreignKeys.flatMap((key) => key.columns);
  return (
    kind === 'table' &&
    foreignKeys.length === 2 &&
    foreignKeys.every((key) => refersToKey(key, served)) &&
    own.length === columns.length &&
    new Set(own).size === own.length &&
    primaryKey?.columns.length === own.length
  );
}

/** Whether a foreign key leads to the primary key of a table that is served. */
export function refersToKey(
  key: CatalogForeignKey,
  served: ReadonlyMap<string, CatalogTable>,
): boolean {
  const target = served.get(keyOf(key.table));
  return (
    target !== undefined &&
    JSON.stringify(target.primaryKey?.columns) === JSON.stringify(key.references)
  );
}

export interface Types {
  readonly served: ReadonlyMap<string, CatalogTable>;
  /** By the table's schema and name; join tables have none. */
  readonly types: ReadonlyMap<string, TypeInProgress>;
  readonly joins: readonly CatalogTable[];
  readonly enumNames: ReadonlyMap<string, string>;
  readonly nameType: (name: string, prefix?: string) => string;
}

/** An import while its types are filled. */
export interface Importing extends Types {
  readonly catalog: Catalog;
  readonly wishes: Wishes;
  readonly items: ReportItem[];
  /** Enums that were made from check constraints: their values by name. */
  readonly checked: Map<string, readonly string[]>;
}

/** Names a type for each table, a name for each native enum, and finds the join tables. */
export function namedTypes(
  catalog: Catalog,
  tables: readonly CatalogTable[],
  wishes: Wishes,
): Types {
  const served = new Map(tables.map((table) => [keyOf(table), table]));
  const joins = wishes.joinsAreTypes ? [] : tables.filter((table) => isJoinTable(table, served));
  const nameType = createNames(TAKEN);
  // The tables that the connection finds without a schema keep the plain names.
  const byDefault = tables.toSorted(
    (a, b) => Number(isDefaultSchema(b.schema)) - Number(isDefaultSchema(a.schema)),
  );
  const types = new Map(
    byDefault
      .filter((table) => !joins.includes(table))
      .map((table) => [
        keyOf(table),
        {
          name: nameType(wishes.typeName?.(table) ?? typeName(table.name), prefixOf(table.schema)),
          table,
          fields: [],
          names: createNames([], snakeCase),
          columns: new Map(),
          relations: new Map(),
          inverses: new Map(),
          view: false,
        } satisfies TypeInProgress,
      ]),
  );
  const used = new Set(
    tables.flatMap(({ columns }) => columns.map(({ typeName: of }) => keyOf(of))),
  );
  const enumNames = new Map(
    catalog.enums
      .filter((each) => used.has(keyOf(each)))
      .map((each) => [keyOf(each), nameType(typeName(each.name), prefixOf(each.schema))]),
  );
  return { served, types, joins, enumNames, nameType };
}

const prefixOf = (schema: string) => upperFirst(typeName(schema));

/** A table as the report names it: `public.film`, and `film` on SQLite. */
export const objectOf = ({
  schema,
  name,
}: {
  readonly schema: string;
  readonly name: string;
}): string => (schema === 'main' ? name : `${schema}.${name}`);

export const isDefaultSchema = (schema: string): boolean =>
  schema === 'public' || schema === 'main';
