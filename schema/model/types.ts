export type TypeKind = 'scalar' | 'enum' | 'entity' | 'object' | 'interface' | 'union' | 'input';

/** The reference to a type in a field or argument. */
export interface TypeRef {
  readonly name: string;
  readonly kind: TypeKind;
  /** The type as the SDL prints it: `[Post!]!`. */
  readonly text: string;
  readonly required: boolean;
  readonly list: boolean;
  /** Whether the items of a list are non-null. */
  readonly itemRequired: boolean;
}

export interface Argument {
  readonly name: string;
  readonly type: TypeRef;
  readonly constraint?: Constraint;
}

export interface Constraint {
  readonly min?: number;
  readonly max?: number;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly pattern?: string;
  readonly format?: string;
  /** For a list. The other rules apply to each of its items. */
  readonly minItems?: number;
  readonly maxItems?: number;
}

/** An object type that is not a table: a JSON column's shape, a payload, a connection, an edge. */
export interface ObjectType {
  readonly name: string;
  readonly role: 'value' | 'aggregate' | 'payload' | 'connection' | 'edge' | 'pageInfo' | 'root';
  readonly fields: readonly {
    readonly name: string;
    readonly type: TypeRef;
    readonly args: readonly Argument[];
  }[];
}

export interface AbstractType {
  readonly name: string;
  readonly kind: 'interface' | 'union';
  readonly members: readonly string[];
}

export interface EnumType {
  readonly name: string;
  readonly values: readonly string[];
  /** The stored texts of values that are stored under another name. */
  readonly storedValues?: Readonly<Record<string, string>>;
  /** The column's type in PostgreSQL, when it is not the usual one. */
  readonly databaseType?: string;
  /** Values that were renamed with `@renamed`: rows with the old value are rewritten. */
  readonly renames?: readonly { readonly from: string; readonly to: string }[];
}

/**
 * The stored type. `timestamp` is UTC in ISO 8601 text on SQLite and `timestamptz` on PostgreSQL;
 * `id` follows `Project.ids`.
 */
export type ColumnType =
  | 'id'
  | 'text'
  | 'integer'
  | 'bigint'
  | 'real'
  | 'decimal'
  | 'boolean'
  | 'timestamp'
  | 'date'
  | 'time'
  | 'json'
  | 'uuid'
  | 'bytes';

export interface ScalarType {
  readonly name: string;
  readonly column: ColumnType;
  /**
   * `builtin`: one of GraphQL's own; `known`: one of graphql-scalars; `user`: mapped in
   * `src/scalars.ts`.
   */
  readonly source: 'builtin' | 'known' | 'user';
}

/** The columns of a join table that hold one key: several when the key is composite. */
export type JoinKey = string | readonly string[];
