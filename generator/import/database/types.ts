import type { Catalog, CatalogForeignKey, CatalogTable } from '../../../templates/catalog.ts';
import type { ImportedField } from '../imported.ts';
import { keyOf } from './column-type.ts';
import { createNames, typeName, upperFirst } from './names.ts';

/** A type of the schema to be, while its fields are found. */
export interface TypeInProgress {
  readonly name: string;
  readonly table: CatalogTable;
  readonly fields: ImportedField[];
  readonly names: (name: string, prefix?: string) => string;
  /** The fields of columns, by the name of the column. */
  readonly columns: Map<string, string>;
  /** The fields of `@table(key:)`; undefined where `id` is the key. */
  key?: readonly string[];
  /** Whether it has no key, so that rows are only read. */
  view: boolean;
}

/** Names that a type of the user cannot have. */
const TAKEN = [
  ...['Query', 'Mutation', 'Subscription', 'Node', 'PageInfo'],
  ...['ID', 'String', 'Int', 'Float', 'Boolean', 'BigInt', 'Decimal', 'DateTime', 'Date', 'Time'],
  ...['UUID', 'JSON', 'Byte'],
];

/** Tables that the server makes for itself. */
const OWN = /^twofold_(migrations|seeds|jobs\w*)$/;

export const isServed = ({ kind, partitionOf, extension, name }: CatalogTable): boolean =>
  kind !== 'virtual table' && !partitionOf && extension === null && !OWN.test(name);

/** A table of two foreign keys that are its key, and nothing else. */
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

/** Names a type for each table, a name for each native enum, and finds the join tables. */
export function namedTypes(catalog: Catalog, tables: readonly CatalogTable[]): Types {
  const served = new Map(tables.map((table) => [keyOf(table), table]));
  const joins = tables.filter((table) => isJoinTable(table, served));
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
          name: nameType(typeName(table.name), prefixOf(table.schema)),
          table,
          fields: [],
          names: createNames(),
          columns: new Map(),
          view: false,
        } satisfies TypeInProgress,
      ]),
  );
  const used = new Set(
    tables.flatMap(({ columns }) =>
      columns.filter(({ typeKind }) => typeKind === 'enum').map(({ typeName: of }) => keyOf(of)),
    ),
  );
  const enumNames = new Map(
    catalog.enums
      .filter((each) => used.has(keyOf(each)))
      .map((each) => [keyOf(each), nameType(typeName(each.name), prefixOf(each.schema))]),
  );
  return { served, types, joins, enumNames, nameType };
}

const prefixOf = (schema: string) => upperFirst(typeName(schema));

export const isDefaultSchema = (schema: string): boolean =>
  schema === 'public' || schema === 'main';
