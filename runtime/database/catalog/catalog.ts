import type { Dialect } from '@twofold/runtime/store';

/**
 * What a database says of itself, as data: the same form for SQLite and PostgreSQL. Everything is
 * in a stable order: objects by schema and name, columns as the table has them.
 */
export interface Catalog {
  readonly dialect: Dialect;
  /** The schemas that were read and are there; `main` on SQLite. */
  readonly schemas: readonly string[];
  /** Tables and views. Partitions are included, with the name of their table. */
  readonly tables: readonly CatalogTable[];
  readonly enums: readonly CatalogEnum[];
  readonly domains: readonly CatalogDomain[];
  readonly sequences: readonly CatalogSequence[];
  readonly functions: readonly CatalogFunction[];
  readonly role: CatalogRole | null;
}

/** The name of an object in its schema. */
export interface CatalogName {
  readonly schema: string;
  readonly name: string;
}

export interface CatalogTable extends CatalogName {
  readonly kind: 'table' | 'view' | 'materialized view' | 'foreign table' | 'virtual table';
  readonly comment: string | null;
  /** The table of which this one is a partition. */
  readonly partitionOf: CatalogName | null;
  /** Whether the table itself is split into partitions. */
  readonly partitioned: boolean;
  /** How the table is divided into partitions: `RANGE (payment_date)`. */
  readonly partitionKey: string | null;
  /** Which rows a partition has: `FOR VALUES FROM (1) TO (9)`. */
  readonly bound: string | null;
  /** The extension that made it; null for one of the user's. */
  readonly extension: string | null;
  /** Whether row-level security is on, whether or not it has policies. */
  readonly rowSecurity: boolean;
  /** The query of a view, the CREATE TABLE of a table on SQLite; null for a table on PostgreSQL. */
  readonly definition: string | null;
  readonly columns: readonly CatalogColumn[];
  readonly primaryKey: CatalogKey | null;
  readonly uniques: readonly CatalogKey[];
  readonly foreignKeys: readonly CatalogForeignKey[];
  /** All indexes except those of a primary key or a unique constraint. */
  readonly indexes: readonly CatalogIndex[];
  readonly checks: readonly CatalogCheck[];
  /** Exclusion constraints of PostgreSQL, as the database writes them. */
  readonly exclusions: readonly CatalogCheck[];
  readonly triggers: readonly CatalogTrigger[];
  readonly policies: readonly CatalogPolicy[];
}

export interface CatalogColumn {
  readonly name: string;
  /**
   * The type as the database writes it, with its parameters: `numeric(10,2)`, `text[]`,
   * `NVARCHAR(160)`.
   */
  readonly type: string;
  /** The kind of the type in PostgreSQL's catalog; `base` for everything on SQLite. */
  readonly typeKind: 'base' | 'enum' | 'domain' | 'array' | 'composite' | 'range' | 'pseudo';
  /** The type without parameters and quotes; of an array, that of its elements. */
  readonly typeName: CatalogName;
  readonly nullable: boolean;
  /** The expression of the default as the database writes it. */
  readonly default: string | null;
  /** The expression of a generated column. */
  readonly generated: string | null;
  readonly identity: 'always' | 'by default' | null;
  readonly comment: string | null;
  /** On SQLite, for an import: how many of its values are kept in each form. */
  readonly stored?: StorageClasses;
}

/** The number of values of a column by the form in which SQLite keeps them. */
export type StorageClasses = Readonly<Record<'integer' | 'real' | 'text' | 'blob', number>>;

/** A primary key or a unique constraint. SQLite's have names that it made itself. */
export interface CatalogKey {
  readonly name: string;
  readonly columns: readonly string[];
}

export interface CatalogForeignKey {
  /** Null on SQLite, which keeps no names of foreign keys. */
  readonly name: string | null;
  readonly columns: readonly string[];
  readonly table: CatalogName;
  /** The columns of the other table, one for each of `columns`. */
  readonly references: readonly string[];
  readonly onDelete: ForeignKeyAction;
  readonly onUpdate: ForeignKeyAction;
  readonly deferrable: boolean;
  /** False while PostgreSQL has not checked the rows that existed before the constraint. */
  readonly validated: boolean;
}

export type ForeignKeyAction = 'no action' | 'restrict' | 'cascade' | 'set null' | 'set default';

export interface CatalogIndex {
  readonly name: string;
  readonly unique: boolean;
  /** Null for an expression. */
  readonly columns: readonly (string | null)[];
  /** The condition of a partial index. */
  readonly where: string | null;
  /** Whether any part is an expression instead of a column. */
  readonly onExpressions: boolean;
  /** `btree`, `gin`, … */
  readonly method: string;
  /** False when `create index concurrently` has failed. */
  readonly valid: boolean;
  /** The statement that makes the index. */
  readonly definition: string;
}

export interface CatalogCheck {
  readonly name: string | null;
  /** The condition without `CHECK` and its parentheses. */
  readonly expression: string;
  /** The columns that it reads, where the database says so. */
  readonly columns: readonly string[];
  readonly validated: boolean;
}

export interface CatalogTrigger {
  readonly name: string;
  readonly definition: string;
}

export interface CatalogPolicy {
  readonly name: string;
  readonly command: 'all' | 'select' | 'insert' | 'update' | 'delete';
  readonly roles: readonly string[];
  readonly using: string | null;
  readonly check: string | null;
}

export interface CatalogEnum extends CatalogName {
  readonly values: readonly string[];
  readonly comment: string | null;
}

export interface CatalogDomain extends CatalogName {
  readonly type: string;
  readonly typeName: CatalogName;
  readonly nullable: boolean;
  readonly default: string | null;
  readonly checks: readonly CatalogCheck[];
  readonly comment: string | null;
}

export interface CatalogSequence extends CatalogName {
  /** The column for which the sequence counts: `films.id`. */
  readonly ownedBy: (CatalogName & { readonly column: string }) | null;
}

export interface CatalogFunction extends CatalogName {
  readonly kind: 'function' | 'procedure' | 'aggregate' | 'window';
  /** The parameters as PostgreSQL writes them: `p_id integer, OUT total numeric`. */
  readonly parameters: string;
  /** The statement that makes the function; null for an aggregate. */
  readonly definition: string | null;
  readonly extension: string | null;
}

/** The role that the connection has. */
export interface CatalogRole {
  readonly name: string;
  /** Whether row-level security does not apply to the role: a superuser, or BYPASSRLS. */
  readonly bypassesRowSecurity: boolean;
}

/** Runs one reading statement: `?` on SQLite, `$1` on PostgreSQL. */
export interface CatalogSource {
  readonly dialect: Dialect;
  rows(sql: string, parameters: readonly unknown[]): Promise<readonly Record<string, unknown>[]>;
}
