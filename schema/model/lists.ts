import type { Condition, FilterOperator, FilterWord } from './condition.ts';

/** The arguments of a list and what they do. */
export interface ListOptions {
  /** Arguments that filter by equality. */
  readonly filters: readonly { readonly arg: string; readonly column: string }[];
  readonly where?: { readonly arg: string; readonly shape: string };
  readonly orderBy?: { readonly arg: string; readonly shape: string };
  /**
   * The argument that leaves one row of each combination, and value → column; without that, each
   * value is a field in capitals.
   */
  readonly distinct?: { readonly arg: string; readonly by?: Readonly<Record<string, string>> };
  /**
   * The condition that every row of the list must meet, whatever the caller asks for:
   * `@list(where:)`.
   */
  readonly condition?: Condition;
  /** The argument with the words that rows must have. */
  readonly search?: string;
  readonly paging: Paging;
  /**
   * Set when the field returns a Relay connection; its fields are found by the connection's type.
   */
  readonly connection?: Connection;
  /**
   * Columns that a caller may filter by, when `@list(filter:)` names them; all of them when absent.
   */
  readonly filterable?: readonly string[];
  /** The order when the caller gives none; its last column is always the key. */
  readonly order: readonly { readonly column: string; readonly descending: boolean }[];
}

export interface Paging {
  readonly limit?: string;
  readonly offset?: string;
  readonly first?: string;
  readonly after?: string;
  readonly last?: string;
  readonly before?: string;
  /** Those of the names that the schema leaves out: a function of the user need not know them. */
  readonly added?: readonly string[];
  /** The number of rows when the caller gives none. */
  readonly default: number;
  /** The largest number that a caller may request. */
  readonly max: number;
}

export interface Connection {
  readonly type: string;
  /** The type of its edges; absent when the connection has only nodes. */
  readonly edge?: string;
  /** The field names that the schema declares; absent when it does not declare them. */
  readonly nodes?: string;
  /** Further fields that are lists of the same rows. */
  readonly lists?: readonly string[];
  readonly totalCount?: string;
  /** The field with numbers over all rows that the filter lets through. */
  readonly aggregate?: string;
}

export interface FilterShape {
  /** Name of the input type. */
  readonly id: string;
  /** The entity, or the type of an object without a table. */
  readonly entity: string;
  readonly filters: readonly Filter[];
}

export type Filter =
  | {
      readonly kind: 'operators';
      readonly name: string;
      /** For a shape that filters an object without a table: the name of its field. */
      readonly column: string;
      readonly operators: readonly FilterWord[];
    }
  | { readonly kind: 'equals'; readonly name: string; readonly column: string }
  | { readonly kind: 'and' | 'or' | 'not'; readonly name: string }
  /** A field with `@count` or `@exists`; without operators its value is compared with `eq`. */
  | {
      readonly kind: 'tally';
      readonly name: string;
      readonly field: string;
      readonly operators?: readonly FilterOperator[];
    }
  /** Whether the object of the whole input exists: `author: { isNull: true }`. */
  | { readonly kind: 'isNull'; readonly name: string }
  /** An object without a table, which a column holds. The shape is about its type. */
  | {
      readonly kind: 'object';
      readonly name: string;
      readonly column: string;
      readonly shape: string;
    }
  | { readonly kind: 'one'; readonly name: string; readonly field: string; readonly shape: string }
  | {
      readonly kind: 'many';
      readonly name: string;
      readonly field: string;
      readonly quantifiers: readonly ('some' | 'every' | 'none')[];
      /** The shape of `some`, `every` and `none`; empty when none of them is declared. */
      readonly shape: string;
      /** The operators of `count`. */
      readonly count?: readonly FilterWord[];
      readonly groups?: readonly ('and' | 'or' | 'not')[];
    };

export interface OrderShape {
  /** Name of the enum or input type. */
  readonly id: string;
  readonly entity: string;
  readonly form:
    /** `enum UserOrder { NAME_ASC NAME_DESC }` */
    | {
        readonly kind: 'enum';
        readonly values: readonly ({
          readonly value: string;
          readonly descending: boolean;
        } & OrderedBy)[];
      }
    /** `input UserOrder { name: SortDirection }` */
    | { readonly kind: 'fields'; readonly fields: readonly OrderMember[] }
    /** `input UserOrder { field: UserOrderField!, direction: SortDirection, nulls: Nulls }` */
    | {
        readonly kind: 'pair';
        readonly field: string;
        readonly direction?: string;
        readonly nulls?: string;
        readonly values: readonly ({ readonly value: string } & OrderedBy)[];
      };
}

/** The value by which rows are ordered: a column, or a field with `@count` or `@exists`. */
export type OrderedBy = { readonly column: string } | { readonly tally: string };

/** A member of an order input. Its value is a direction, or `{ direction, nulls }`. */
export type OrderMember = { readonly name: string } & (
  | OrderedBy
  /** Orders by a value of the related object. `shape` is the order of its type. */
  | { readonly one: string; readonly shape: string }
  /** Orders by the number of rows in a list: `{ comments: { count: DESC } }`. */
  | { readonly many: string }
);

/** Numbers over rows of an entity: of all of them together, or of each group of equal values. */
export interface Aggregated {
  readonly kind: 'aggregated';
  readonly entity: string;
  /** The rows that are counted; for groups also the arguments that page them. */
  readonly list: ListOptions;
  /** Set when the rows are grouped. */
  readonly groups?: Grouping;
}

/** The arguments of a list of groups and what they do. */
export interface Grouping {
  readonly by: {
    readonly arg: string;
    /**
     * The field for each value of the enum: `status`, or a field and a unit of time: `createdAt
     * day`.
     */
    readonly values: Readonly<Record<string, string>>;
  };
  readonly having?: string;
  readonly orderBy?: string;
}

export type TimeUnit = 'hour' | 'day' | 'week' | 'month' | 'year';
