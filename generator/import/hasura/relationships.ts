import { lookUp } from '@twofold/schema';
import type { Catalog, CatalogForeignKey, CatalogTable } from '@twofold/database';
import { keyOf } from '../database/column-type.ts';
import type { Importing, TypeInProgress } from '../database/types.ts';
import type { ReportItem } from '../imported.ts';
import { referenceOf, type MetadataRelationship, type MetadataTable } from './metadata.ts';

/** A relationship of Hasura, and the foreign key that it follows. */
interface Followed {
  readonly name: string;
  /** The table that has the relationship. */
  readonly table: CatalogTable;
  readonly key: CatalogForeignKey;
  /** Whether this table has the foreign key. Otherwise the other table has it. */
  readonly own: boolean;
}

/**
 * The relationships of all tables, and the catalog with a foreign key for each manual relationship.
 */
export interface Relationships {
  readonly catalog: Catalog;
  readonly followed: readonly Followed[];
  readonly items: readonly ReportItem[];
}

/** A tracked table of the metadata, and the same table in the database. */
export interface Tracked {
  readonly entry: MetadataTable;
  readonly table: CatalogTable;
}

/** Finds the foreign key of each relationship. A manual relationship gets a new key. */
export function followRelationships(catalog: Catalog, tracked: readonly Tracked[]): Relationships {
  const made = new Map<string, CatalogForeignKey[]>();
  const items: ReportItem[] = [];
  const followed = tracked.flatMap(({ entry, table }) =>
    relationshipsOf(entry).flatMap((each) => {
      const found = follow(each, table, { tables: tracked.map((one) => one.table), made });
      if (typeof found !== 'string') return [{ name: each.name, table, ...found }];
      items.push({ ...itemOf(table, each.name), status: 'notExpressible', why: found });
      return [];
    }),
  );
  return { catalog: withKeys(catalog, made), followed, items };
}

const relationshipsOf = (entry: MetadataTable): readonly MetadataRelationship[] => [
  ...(entry.object_relationships ?? []),
  ...(entry.array_relationships ?? []),
];

const itemOf = ({ schema, name }: CatalogTable, relationship: string) => ({
  object: `${schema}.${name}.${relationship}`,
  kind: 'relationship',
});

const withKeys = (catalog: Catalog, made: ReadonlyMap<string, readonly CatalogForeignKey[]>) => ({
  ...catalog,
  tables: catalog.tables.map((table) => {
    const keys = made.get(keyOf(table)) ?? [];
    return keys.length === 0 ? table : { ...table, foreignKeys: [...table.foreignKeys, ...keys] };
  }),
});

interface Following {
  readonly tables: readonly CatalogTable[];
  /** The keys of manual relationships, by table. */
  readonly made: Map<string, CatalogForeignKey[]>;
}

type Found = Pick<Followed, 'key' | 'own'>;

/** @returns the key, or why there is none */
function follow(
  { using }: MetadataRelationship,
  table: CatalogTable,
  following: Following,
): Found | string {
  const { foreign_key_constraint_on: on, manual_configuration: manual } = using;
  if (manual) return followManual(manual, table, following);
  if (on === undefined) return 'it names no foreign key';
  if (typeof on === 'string' || isList(on))
    return ownKey(table, [on].flat(), following) ?? 'the database has no such foreign key';
  const other = tableOf(on.table, following);
  if (!other) return 'its table is not tracked';
  const columns = on.columns ?? [on.column ?? ''];
  const key = other.foreignKeys.find(
    (each) => sameColumns(each.columns, columns) && keyOf(each.table) === keyOf(table),
  );
  return key ? { key, own: false } : 'the database has no such foreign key';
}

const isList = (value: unknown): value is readonly string[] => Array.isArray(value);

const tableOf = (reference: MetadataTable['table'], { tables }: Following) =>
  tables.find((each) => keyOf(each) === keyOf(referenceOf(reference)));

const sameColumns = (a: readonly string[], b: readonly string[]) =>
  [...a].sort().join() === [...b].sort().join();

function ownKey(
  table: CatalogTable,
  columns: readonly string[],
  { tables }: Following,
): Found | undefined {
  const key = table.foreignKeys.find(
    (each) =>
      sameColumns(each.columns, columns) && tables.some((one) => keyOf(one) === keyOf(each.table)),
  );
  return key && { key, own: true };
}

/**
 * Follows a relationship by columns, which refer to the key of the other table or are referred to
 * by it.
 */
function followManual(
  manual: NonNullable<MetadataRelationship['using']['manual_configuration']>,
  table: CatalogTable,
  following: Following,
): Found | string {
  const other = tableOf(manual.remote_table, following);
  if (!other) return 'its table is not tracked';
  const pairs = Object.entries(manual.column_mapping);
  const here = pairs.map(([own]) => own);
  const there = pairs.map(([, remote]) => remote);
  if (pairs.some(([own, remote]) => typeIn(table, own) !== typeIn(other, remote)))
    return 'its columns are of different types';
  if (isKey(other, there))
    return { key: keyBetween(table, here, { other, there, following }), own: true };
  if (isKey(table, here))
    return {
      key: keyBetween(other, there, { other: table, there: here, following }),
      own: false,
    };
  return 'its columns are the key of neither table';
}

/**
 * A text that is equal for two keys if they compare the same columns. A key to another column finds
 * other rows.
 */
const pairsOf = (columns: readonly string[], references: readonly string[]): string =>
  columns
    .map((column, at) => JSON.stringify([column, references[at]]))
    .sort()
    .join();

const typeIn = ({ columns }: CatalogTable, name: string) =>
  columns.find((each) => each.name === name)?.type;

const isKey = ({ primaryKey, uniques }: CatalogTable, columns: readonly string[]): boolean =>
  [...(primaryKey ? [primaryKey] : []), ...uniques].some((key) =>
    sameColumns(key.columns, columns),
  );

interface Target {
  readonly other: CatalogTable;
  readonly there: readonly string[];
  readonly following: Following;
}

/** The foreign key that the database has, or one made for the relationship. */
function keyBetween(
  table: CatalogTable,
  here: readonly string[],
  { other, there, following: { made } }: Target,
): CatalogForeignKey {
  const known = [...table.foreignKeys, ...(made.get(keyOf(table)) ?? [])].find(
    (each) =>
      pairsOf(each.columns, each.references) === pairsOf(here, there) &&
      keyOf(each.table) === keyOf(other),
  );
  if (known) return known;
  const key: CatalogForeignKey = {
    name: `${here.join('+')} by hand`,
    columns: here,
    table: { schema: other.schema, name: other.name },
    references: there,
    onDelete: 'no action',
    onUpdate: 'no action',
    deferrable: false,
    validated: true,
  };
  made.set(keyOf(table), [...(made.get(keyOf(table)) ?? []), key]);
  return key;
}

/** A field for a relationship, and the type of its rows. */
export interface Reach {
  readonly field: string;
  readonly to: TypeInProgress;
  readonly list: boolean;
}

/** The fields of the relationships of a type, by the names that Hasura has for them. */
export type Reaches = ReadonlyMap<TypeInProgress, ReadonlyMap<string, Reach>>;

/** Finds the fields for the relationships. @returns report items for each, too. */
export function reachOf(
  { followed }: Relationships,
  { types }: Importing,
): { readonly reaches: Reaches; readonly items: readonly ReportItem[] } {
  const reaches = new Map<TypeInProgress, Map<string, Reach>>();
  const items = followed.map(({ name, table, key, own }): ReportItem => {
    const type = lookUp(types, keyOf(table));
    const field = (own ? type.relations : type.inverses).get(key);
    const to = own ? types.get(keyOf(key.table)) : ownerOf(key, types);
    const item = itemOf(table, name);
    if (field === undefined || !to)
      return { ...item, status: 'notExpressible', why: 'its foreign key could not become a field' };
    const list = type.fields.some((each) => each.name === field && each.type.startsWith('['));
    const known = reaches.get(type) ?? new Map<string, Reach>();
    reaches.set(type, known.set(name, { field, to, list }));
    const as = `${type.name}.${field}`;
    return field === name
      ? { ...item, status: 'kept', as }
      : { ...item, status: 'approximated', as, why: 'it has another name' };
  });
  return { reaches, items };
}

const ownerOf = (key: CatalogForeignKey, types: Importing['types']) =>
  [...types.values()].find(({ relations }) => relations.has(key));
