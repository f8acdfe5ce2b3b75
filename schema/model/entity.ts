import type { Aggregated, ListOptions } from './lists.ts';
import type { AuthRule } from './access.ts';
import type { Condition } from './condition.ts';
import type { Argument, ColumnType, Constraint, JoinKey, TypeRef } from './types.ts';

/** An object type with a table. */
export interface Entity {
  readonly name: string;
  /** `User` → `user` in loader names and error texts. */
  readonly singular: string;
  /** `User` → `users`: table, list fields, and in kebab-case the REST path. */
  readonly plural: string;
  readonly table: string;
  /** The schema of the table on PostgreSQL; that of the connection when absent. */
  readonly schema?: string;
  /** Whether rows are only read: a view, or a table without a key. */
  readonly view?: true;
  readonly description?: string;
  /** In the schema's order. */
  readonly fields: readonly Field[];
  /**
   * Every column of the entity's table, including foreign keys. The key is the first and is called
   * `id`; a view without a key has none.
   */
  readonly columns: readonly Column[];
  readonly indexes: readonly Index[];
  /** Set for a type with `@search`. */
  readonly search?: Search;
  readonly rules: readonly AuthRule[];
  /** Interfaces it implements, by name. */
  readonly interfaces: readonly string[];
  readonly renamedFrom?: string;
  /** Column that marks a removed row, when `@entity(softDelete: true)`. */
  readonly softDelete?: string;
}

export interface Field {
  readonly name: string;
  readonly type: TypeRef;
  readonly args: readonly Argument[];
  readonly description?: string;
  readonly deprecated?: string;
  readonly source: FieldSource;
  readonly rules: readonly AuthRule[];
  /** The inference rule or `@directive` that decided `source`. `explain` prints it. */
  readonly decidedBy: string;
}

/** Where a field's value comes from. */
export type FieldSource =
  | { readonly kind: 'column'; readonly column: string }
  | One
  | Many
  | Tally
  | AggregatedRelation
  /**
   * A result of the search of the row's list: how well the row fits, or the text of a column around
   * the words that were found.
   */
  | { readonly kind: 'search'; readonly of: 'rank' }
  | { readonly kind: 'search'; readonly of: 'highlight'; readonly column: string }
  | { readonly kind: 'custom' };

/** The columns that are searched. Words in earlier columns rank higher. */
export interface Search {
  readonly columns: readonly string[];
  /** Name of a text search configuration of PostgreSQL: `simple`, `english`. */
  readonly language: string;
}

/** `@count` and `@exists`: how many related rows there are, or whether there are any. */
export interface Tally {
  readonly kind: 'tally';
  readonly of: 'count' | 'exists';
  readonly entity: string;
  /** The field of this type that leads to the rows. */
  readonly relation: string;
  /** The condition that counted rows must meet; absent when all rows count. */
  readonly where?: Condition;
}

/** A to-one relation. `own`: the foreign key is in this table; `inverse`: in the other one. */
export interface One {
  readonly kind: 'one';
  readonly entity: string;
  readonly key: 'own' | 'inverse';
  readonly column: string;
  /** The column that equals `column`, when it is not the primary key. */
  readonly to?: string;
  /** The field of the other entity for the same relation, if the schema has one. */
  readonly inverse?: string;
  /**
   * For a field whose type is an interface or union of entities: the column with the type's name.
   */
  readonly typeColumn?: string;
}

/** A to-many relation, by a foreign key of the other table or a join table. */
export interface Many {
  readonly kind: 'many';
  readonly entity: string;
  readonly via:
    /**
     * `typeColumn`: the key may reference several types, and this column must contain the name of
     * ours.
     */
    | {
        readonly kind: 'column';
        readonly column: string;
        /** The column of this entity that `column` equals, when it is not the primary key. */
        readonly to?: string;
        readonly typeColumn?: string;
      }
    | {
        readonly kind: 'table';
        readonly table: string;
        readonly schema?: string;
        readonly own: JoinKey;
        readonly other: JoinKey;
        /** Whether a capability makes and writes the table. Here, it can only be read. */
        readonly managed?: true;
      };
  readonly inverse?: string;
  readonly list: ListOptions;
}

/** Numbers over the rows of a relation, as a field of their parent. */
export interface AggregatedRelation extends Aggregated {
  /** How the rows belong to the parent. */
  readonly via: Many['via'];
}

export interface Column {
  /** The name in the model: in snake_case, made from the field's. */
  readonly name: string;
  /** The name in the database, when it differs. */
  readonly stored?: string;
  /**
   * For a composite key or a reference to one: the columns that together are its value, in order.
   * The database has no column for it.
   */
  readonly parts?: readonly string[];
  /** The type of a key, when it is not that of `Project.ids`. */
  readonly key?: KeyKind;
  /** The column's type in PostgreSQL, from `@column(type:)`. */
  readonly databaseType?: string;
  /**
   * The form of times and days in a SQLite table that another program made. It is found out from
   * the rows.
   */
  readonly timeForm?: TimeForm;
  /** Whether no input sets it, because it is a generated column, or a trigger fills it. */
  readonly readOnly?: true;
  /** Values of an enum that are stored under another name, by their name in the schema. */
  readonly storedValues?: Readonly<Record<string, string>>;
  /** The field that shows the column, if there is one. */
  readonly field?: string;
  readonly type: ColumnType;
  readonly required: boolean;
  readonly unique: boolean;
  readonly values?: readonly string[];
  /** The name of the SDL scalar, enum or object, which selects the codec. */
  readonly scalar: string;
  /** Whether the SDL type is a list (then `type` is `json`). */
  readonly list: boolean;
  readonly default?: ColumnDefault;
  /** `now` on insert, or on insert and every update. */
  readonly stamp?: 'created' | 'updated';
  /** Whether it counts the updates of the row: `@version`. Its default is 1. */
  readonly version?: true;
  readonly references?: {
    readonly entity: string;
    readonly onDelete: OnDelete;
    /** The column of the other entity, when it is not the key. */
    readonly to?: string;
  };
  readonly constraint?: Constraint;
  readonly renamedFrom?: string;
}

/**
 * The form of stored times: text with these parts, `2026-01-02 03:04:05.000`, or a number since
 * 1970; Julian days for dates.
 */
export type TimeForm =
  | {
      readonly unit: 'text';
      readonly separator: string;
      /** The number of digits of the fraction of a second. */
      readonly digits: number;
      readonly zone: string;
    }
  | { readonly unit: 'seconds' | 'milliseconds' | 'microseconds' | 'days' };

/** The type of a key. Types other than the first two count as `text`. */
export type KeyKind = 'integer' | 'uuid' | 'text';

export type OnDelete = 'cascade' | 'restrict' | 'set null';

/** A value as JSON has it. That of a list or an object is stored as JSON. */
export type DefaultValue =
  | string
  | number
  | boolean
  | null
  | readonly DefaultValue[]
  | { readonly [name: string]: DefaultValue };

export type ColumnDefault =
  | { readonly kind: 'value'; readonly value: DefaultValue }
  | { readonly kind: 'now' | 'uuid' | 'autoincrement' }
  /** The key of the signed-in user. */
  | { readonly kind: 'caller' }
  /** The database fills it: a sequence, an identity column, a function. */
  | { readonly kind: 'database' };

export interface Index {
  readonly name: string;
  readonly columns: readonly string[];
  readonly unique: boolean;
  /** Compares the only column of the index in this folded form. */
  readonly fold?: Fold;
}

/**
 * `letters`: lower case, ASCII only. `digits`: without spaces, dashes and parentheses. Empty texts
 * are not compared.
 */
export type Fold = 'letters' | 'digits';

/** One way to fetch rows in batches. */
export interface Loader {
  /** `user`, `postsByAuthor`. */
  readonly name: string;
  readonly entity: string;
  readonly by: string;
  readonly many: boolean;
  readonly via?: {
    readonly table: string;
    readonly schema?: string;
    readonly own: JoinKey;
    readonly other: JoinKey;
  };
}
