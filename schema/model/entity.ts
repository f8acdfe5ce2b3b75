import type { AuthRule } from './access.ts';
import type { ListOptions } from './lists.ts';
import type { Argument, ColumnType, Constraint, TypeRef } from './types.ts';

/** An object type that is a table. */
export interface Entity {
  readonly name: string;
  /** `User` → `user` in loader names and error texts. */
  readonly singular: string;
  /** `User` → `users`: table, list fields, and in kebab-case the REST path. */
  readonly plural: string;
  readonly table: string;
  readonly description?: string;
  /** In the schema's order. */
  readonly fields: readonly Field[];
  /** Everything stored in the entity's own table, the foreign keys included, the key first. */
  readonly columns: readonly Column[];
  readonly indexes: readonly Index[];
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
  /** What decided `source`: the name of the inference rule or `@directive`. `explain` prints it. */
  readonly decidedBy: string;
}

/** Where a field's value comes from. */
export type FieldSource =
  | { readonly kind: 'column'; readonly column: string }
  | One
  | Many
  | { readonly kind: 'custom' };

/** A to-one relation. `own`: the foreign key is a column of this table; `inverse`: of the other. */
export interface One {
  readonly kind: 'one';
  readonly entity: string;
  readonly key: 'own' | 'inverse';
  readonly column: string;
  /** Field of the other entity that is the other end, if the schema has one. */
  readonly inverse?: string;
  /**
   * For a field whose type is an interface or union of entities: the column with the type's name.
   */
  readonly typeColumn?: string;
}

/** A to-many relation: over a foreign key of the other table, or over a join table. */
export interface Many {
  readonly kind: 'many';
  readonly entity: string;
  readonly via:
    /** `typeColumn`: the key may be of several types, and this column has to say ours. */
    | { readonly kind: 'column'; readonly column: string; readonly typeColumn?: string }
    | {
        readonly kind: 'table';
        readonly table: string;
        readonly own: string;
        readonly other: string;
      };
  readonly inverse?: string;
  readonly list: ListOptions;
}

export interface Column {
  readonly name: string;
  /** The field that shows it, if one does. */
  readonly field?: string;
  readonly type: ColumnType;
  readonly required: boolean;
  readonly unique: boolean;
  readonly values?: readonly string[];
  /** Name of the SDL scalar, enum or object; picks the codec. */
  readonly scalar: string;
  /** Whether the SDL type is a list (then `type` is `json`). */
  readonly list: boolean;
  readonly default?: ColumnDefault;
  /** `now` on insert, or on insert and every update. */
  readonly stamp?: 'created' | 'updated';
  readonly references?: { readonly entity: string; readonly onDelete: OnDelete };
  readonly constraint?: Constraint;
  readonly renamedFrom?: string;
}

export type OnDelete = 'cascade' | 'restrict' | 'set null';

export type ColumnDefault =
  | { readonly kind: 'value'; readonly value: string | number | boolean | null }
  | { readonly kind: 'now' | 'uuid' | 'autoincrement' };

export interface Index {
  readonly name: string;
  readonly columns: readonly string[];
  readonly unique: boolean;
  /** Compares the one column without regard to how it is written. */
  readonly fold?: Fold;
}

/**
 * `letters`: in lower case, ASCII only. `digits`: without spaces, dashes and parentheses. Empty
 * texts are not compared.
 */
export type Fold = 'letters' | 'digits';

/** One entry for each way rows are fetched in batches. */
export interface Loader {
  /** `user`, `postsByAuthor`. */
  readonly name: string;
  readonly entity: string;
  readonly by: string;
  readonly many: boolean;
  readonly via?: { readonly table: string; readonly own: string; readonly other: string };
}
