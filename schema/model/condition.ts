import type { ColumnType, JoinKey } from './types.ts';

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
  /** Whether letter case is ignored: `mode: INSENSITIVE`. */
  readonly insensitive?: true;
  /** The path to a value inside the column's JSON: `path`. */
  readonly path?: readonly string[];
  /** The member of an object without `id`, which the column holds. */
  readonly member?: ComparedMember;
  /**
   * The type of the compared value, when it is not that of the column: the type of a list's items.
   */
  readonly item?: ColumnType;
} & Operand;

export interface ComparedMember {
  /** The path to it, through the objects that contain it. */
  readonly keys: readonly string[];
  readonly type: ColumnType;
  readonly list?: true;
}

export type Operand =
  | { readonly value: unknown }
  | { readonly caller: true }
  /** The path of a value in what `extend` returned: `company.id`. A list means any of them. */
  | { readonly claim: string };

/**
 * A condition on rows of another entity: that some of them, all of them or none of them meet `of`.
 */
export interface Related {
  readonly kind: 'related';
  readonly quantifier: 'some' | 'every' | 'none';
  readonly entity: string;
  readonly link: RelatedLink;
  readonly of: Condition;
}

/** A condition on the number of related rows. */
export interface RelatedCount {
  readonly kind: 'count';
  readonly entity: string;
  readonly link: RelatedLink;
  readonly operator: FilterOperator;
  readonly value: unknown;
}

/** How the related rows are found from a row. */
export type RelatedLink =
  /** This row has their key. */
  | {
      readonly kind: 'own';
      readonly column: string;
      /** The column of the related row that equals this one, when it is not the primary key. */
      readonly to?: string;
    }
  /**
   * The related rows refer to this row. `type`: their key may refer to several types, and this
   * column must name ours.
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

/** A comparison in a filter or a condition. */
export type FilterOperator =
  | 'eq'
  | 'ne'
  | 'in'
  | 'notIn'
  | 'lt'
  | 'lte'
  | 'gt'
  | 'gte'
  | 'contains'
  | 'startsWith'
  | 'endsWith'
  | 'isNull'
  | 'has'
  | 'hasSome'
  | 'hasEvery'
  | 'isEmpty';

/**
 * A member of a field's filter input. `mode` lets the operators beside it ignore letter case, and
 * `path` makes them compare a value inside JSON.
 */
export type FilterWord = FilterOperator | 'mode' | 'path' | 'and' | 'or' | 'not';
