import type { ColumnType, JoinKey } from './types.ts';
import type { FilterOperator } from './filter-operator.ts';

/**
 * A condition on a row, as `@auth(where:)` and a path in `owner` state it. It is true or false for
 * every row, never unknown.
 */
export type Condition =
  | { readonly kind: 'all' | 'any'; readonly of: readonly Condition[] }
  | { readonly kind: 'not'; readonly of: Condition }
  | Comparison
  | Related
  | RelatedCount;

/** A column of the row, compared with a constant, with the caller's id or with a claim. */
export type Comparison = {
  readonly kind: 'compare';
  readonly column: string;
  readonly operator: FilterOperator;
  /** Whether the case of letters counts for nothing: `mode: INSENSITIVE`. */
  readonly insensitive?: true;
  /** The way to a value within the column's JSON: `path`. */
  readonly path?: readonly string[];
  /** The member of an object without `id`, which the column holds. */
  readonly member?: ComparedMember;
  /** The type of what is compared, when it is not that of the column: of an item of its list. */
  readonly item?: ColumnType;
} & Operand;

export interface ComparedMember {
  /** The way to it, through the objects that hold it. */
  readonly keys: readonly string[];
  readonly type: ColumnType;
  readonly list?: true;
}

export type Operand =
  | { readonly value: unknown }
  | { readonly caller: true }
  /** The path of a value in what `extend` returned: `company.id`. A list means any of them. */
  | { readonly claim: string };

/** Rows of another entity, some of which, all of which or none of which meet a condition. */
export interface Related {
  readonly kind: 'related';
  readonly quantifier: 'some' | 'every' | 'none';
  readonly entity: string;
  readonly link: RelatedLink;
  readonly of: Condition;
}

/** How many rows of another entity there are. */
export interface RelatedCount {
  readonly kind: 'count';
  readonly entity: string;
  readonly link: RelatedLink;
  readonly operator: FilterOperator;
  readonly value: unknown;
}

/** The way from a row to rows of another entity. */
export type RelatedLink =
  /** This row has their key. */
  | {
      readonly kind: 'own';
      readonly column: string;
      /** The column of theirs that it equals, when it is not the key. */
      readonly to?: string;
    }
  /**
   * They have the key of this row. `type`: their key may refer to several types, and the column
   * must name ours.
   */
  | {
      readonly kind: 'other';
      readonly column: string;
      readonly to?: string;
      readonly type?: { readonly column: string; readonly name: string };
    }
  | {
      readonly kind: 'join';
      readonly table: string;
      readonly schema?: string;
      readonly own: JoinKey;
      readonly other: JoinKey;
    };
