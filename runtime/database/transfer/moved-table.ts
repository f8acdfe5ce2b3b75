import { type Dialect, namedType, type StoredType } from '@twofold/runtime/store';
import type { Catalog, CatalogColumn, CatalogName, CatalogTable } from '../catalog/catalog.ts';

/**
 * The kind of a column's values. It decides how a value is written as JSON and compared. `list` is
 * an array of PostgreSQL, `padded` its `char(n)`.
 */
export type ValueKind =
  | 'integer'
  | 'decimal'
  | 'real'
  | 'boolean'
  | 'timestamp'
  | 'json'
  | 'list'
  | 'bytes'
  | 'uuid'
  | 'padded'
  | 'text';

export interface MovedColumn {
  readonly name: string;
  readonly kind: ValueKind;
}

/** A table whose rows are moved: without generated columns, which the target makes itself. */
export interface MovedTable {
  readonly schema: string;
  readonly name: string;
  /**
   * The name in reports and backups. It includes the schema when that is not in the search path.
   */
  readonly label: string;
  readonly columns: readonly MovedColumn[];
  /** The primary key, which names a row in messages. */
  readonly key: readonly string[];
}

export function movedTable(table: CatalogTable, label: string, dialect: Dialect): MovedTable {
  return {
    schema: table.schema,
    name: table.name,
    label,
    columns: table.columns
      .filter(({ generated }) => generated === null)
      .map((column) => ({
        name: column.name,
        kind: dialect === 'sqlite' ? sqliteKind(column) : postgresKind(column),
      })),
    key: table.primaryKey?.columns ?? [],
  };
}

const KINDS: Readonly<Partial<Record<StoredType, ValueKind>>> = {
  integer: 'integer',
  bigint: 'integer',
  real: 'real',
  boolean: 'boolean',
  json: 'json',
  bytes: 'bytes',
};

/** By the declared type, else by the affinity that SQLite gives it ("Datatypes In SQLite", 3.1). */
function sqliteKind({ type, typeName }: CatalogColumn): ValueKind {
  const known = namedType(typeName.name);
  if (known !== undefined && !/^(numeric|decimal)/i.test(type)) return KINDS[known] ?? 'text';
  if (/int/i.test(type)) return 'integer';
  if (/char|clob|text/i.test(type)) return 'text';
  if (type === '' || /blob/i.test(type)) return 'bytes';
  return /real|floa|doub/i.test(type) ? 'real' : 'integer';
}

const POSTGRES_KINDS: Readonly<Record<string, ValueKind>> = {
  int2: 'integer',
  int4: 'integer',
  int8: 'integer',
  numeric: 'decimal',
  float4: 'real',
  float8: 'real',
  bool: 'boolean',
  timestamptz: 'timestamp',
  timestamp: 'timestamp',
  json: 'json',
  jsonb: 'json',
  bytea: 'bytes',
  uuid: 'uuid',
  bpchar: 'padded',
};

function postgresKind({ typeKind, typeName }: CatalogColumn): ValueKind {
  if (typeKind === 'array') return 'list';
  return typeName.schema === 'pg_catalog' ? (POSTGRES_KINDS[typeName.name] ?? 'text') : 'text';
}

const keyOf = ({ schema, name }: CatalogName) => JSON.stringify([schema, name]);

/**
 * The tables, each after those that its foreign keys refer to. In a circle the order is that of the
 * list.
 */
export function foreignKeysFirst<T extends CatalogName>(
  tables: readonly T[],
  catalog: Catalog,
): readonly T[] {
  const given = new Map(tables.map((table) => [keyOf(table), table]));
  const facts = new Map(catalog.tables.map((table) => [keyOf(table), table]));
  const placed = new Set<T>();
  const place = (table: T, above: ReadonlySet<T>): void => {
    if (placed.has(table) || above.has(table)) return;
    for (const { table: other } of facts.get(keyOf(table))?.foreignKeys ?? []) {
      const referred = given.get(keyOf(other));
      if (referred) place(referred, new Set([...above, table]));
    }
    placed.add(table);
  };
  for (const table of tables) place(table, new Set());
  return [...placed];
}
