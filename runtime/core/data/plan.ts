import type { JoinKey, ColumnType, Field, ListOptions, Tally, TimeUnit } from '@twofold/schema';
import type { Access, RowConditions } from './access/row-condition.ts';
import type { SearchCall } from './search/search-call.ts';

/**
 * What to read, as data: a tree of entities, columns and relations for each root field. It can be
 * printed as JSON and is the same for all callers of one class. It holds no values: a node with
 * arguments has a number, `call`, under which they are found.
 */
export type Root =
  | Get
  | ({ readonly kind: 'list' } & Rows)
  | ({ readonly kind: 'connection' } & Linked)
  | ({ readonly kind: 'aggregated' } & Aggregated)
  | ({ readonly kind: 'abstractList' } & AbstractRows)
  | ByGlobalId
  | {
      readonly kind: 'count';
      readonly entity: string;
      readonly list: ListOptions;
      readonly call: number;
    };

/** Reads the row of one global id, or for each of several ids its row or null. */
export interface ByGlobalId {
  readonly kind: 'node' | 'nodes';
  readonly call: number;
  readonly members: readonly Member[];
}

/** Reads one row by its key, or by other columns. */
export interface Get {
  readonly kind: 'get';
  readonly entity: string;
  readonly call: number;
  readonly selection: Selection;
  readonly access?: Access;
}

/** An object of the answer: an entity's row as the selection wants it. */
export interface Selection {
  readonly entity: string;
  readonly fields: readonly Planned[];
  /** Whether the whole row is read too, because user code gets it as the parent. */
  readonly row: boolean;
}

/**
 * One member of an object. `key` is the name in the answer; `only` are conditions that the row must
 * meet to show it.
 */
export type Planned =
  | {
      readonly kind: 'column';
      readonly key: string;
      readonly column: string;
      readonly only?: RowConditions;
    }
  | { readonly kind: 'typename'; readonly key: string; readonly value: string }
  | ({
      readonly kind: 'one';
      readonly key: string;
      readonly required: boolean;
      readonly selection: Selection;
      readonly only?: RowConditions;
    } & OneLink)
  | {
      readonly kind: 'tally';
      readonly key: string;
      /** The relation whose rows are counted. */
      readonly relation: Field;
      readonly tally: Tally;
      readonly only?: RowConditions;
    }
  | ({ readonly kind: 'many'; readonly key: string; readonly only?: RowConditions } & Rows)
  | ({
      readonly kind: 'aggregated';
      readonly key: string;
      readonly only?: RowConditions;
    } & Aggregated)
  | ({
      readonly kind: 'connection';
      readonly key: string;
      readonly only?: RowConditions;
    } & Linked)
  | {
      readonly kind: 'abstract';
      readonly key: string;
      readonly required: boolean;
      readonly typeColumn: string;
      readonly column: string;
      readonly members: readonly Member[];
      readonly only?: RowConditions;
    }
  /** How well the row fits the search of the list whose node has this number. */
  | {
      readonly kind: 'rank';
      readonly key: string;
      readonly call: number;
      readonly only?: RowConditions;
    }
  | {
      readonly kind: 'highlight';
      readonly key: string;
      readonly call: number;
      readonly column: string;
      readonly only?: RowConditions;
    }
  | {
      readonly kind: 'refused';
      readonly key: string;
      readonly code: 'UNAUTHENTICATED' | 'FORBIDDEN';
    };

/** Which side of the relation holds the key, and in which column. */
export interface OneLink {
  readonly link: {
    readonly key: 'own' | 'inverse';
    readonly column: string;
    /** The column of the other side that equals `column`, when that is not the primary key. */
    readonly to?: string;
    readonly of?: KeyType;
  };
}

/**
 * The column of the same table that names the type of a key, when a key may refer to several types.
 * It must name ours.
 */
export interface KeyType {
  readonly column: string;
  readonly type: string;
}

export interface Member {
  readonly entity: string;
  readonly selection: Selection;
}

/** How the listed rows belong to their parent object; absent at a root. */
export type Link =
  | {
      readonly kind: 'column';
      readonly column: string;
      /** The column of the parent that equals `column`, when that is not the primary key. */
      readonly to?: string;
      readonly of?: KeyType;
    }
  | ({ readonly kind: 'table' } & JoinTable);

/** A join table: each row is a pair of keys. */
export interface JoinTable {
  readonly table: string;
  readonly schema?: string;
  readonly own: JoinKey;
  readonly other: JoinKey;
}

export interface Rows {
  readonly entity: string;
  /** Set when the rules of the root field replace those of the entity. */
  readonly access?: Access;
  readonly link?: Link;
  readonly list: ListOptions;
  readonly call: number;
  readonly selection: Selection;
}

export interface AbstractRows {
  readonly type: string;
  readonly list: ListOptions;
  readonly call: number;
  readonly members: readonly Member[];
}

/** A Relay connection. */
export interface Linked {
  readonly type: string;
  readonly entity: string;
  readonly access?: Access;
  readonly link?: Link;
  readonly list: ListOptions;
  readonly call: number;
  readonly fields: readonly ConnectionPart[];
}

export type ConnectionPart =
  | {
      readonly kind: 'edges';
      readonly key: string;
      readonly type: string;
      readonly fields: readonly EdgePart[];
    }
  | { readonly kind: 'nodes'; readonly key: string; readonly selection: Selection }
  | {
      readonly kind: 'pageInfo';
      readonly key: string;
      readonly fields: readonly { readonly key: string; readonly name: PageInfoField }[];
    }
  | { readonly kind: 'totalCount'; readonly key: string }
  | {
      readonly kind: 'aggregate';
      readonly key: string;
      readonly type: string;
      readonly fields: readonly AggregatePart[];
    }
  | { readonly kind: 'typename'; readonly key: string; readonly value: string };

/** Numbers over rows; with `grouped`, a list of them for rows that are equal in some fields. */
export interface Aggregated {
  readonly type: string;
  readonly entity: string;
  readonly grouped: boolean;
  readonly access?: Access;
  readonly link?: Link;
  readonly list: ListOptions;
  readonly call: number;
  readonly fields: readonly AggregatePart[];
}

export type AggregatePart =
  | { readonly kind: 'typename'; readonly key: string; readonly value: string }
  | ({ readonly kind: 'count'; readonly key: string } & NumberType)
  | {
      readonly kind: 'figures';
      readonly key: string;
      readonly type: string;
      readonly of: Figure;
      readonly fields: readonly FigurePart[];
    }
  | {
      readonly kind: 'groupKey';
      readonly key: string;
      readonly type: string;
      readonly fields: readonly KeyPart[];
    };

/** A number over the values that a column has in the rows. */
export type Figure = 'countDistinct' | 'sum' | 'avg' | 'min' | 'max';

export type FigurePart =
  | { readonly kind: 'typename'; readonly key: string; readonly value: string }
  | {
      readonly kind: 'refused';
      readonly key: string;
      readonly code: 'UNAUTHENTICATED' | 'FORBIDDEN';
    }
  | ({ readonly kind: 'figure'; readonly key: string; readonly column: string } & NumberType);

/** The type of a number in the schema. */
export interface NumberType {
  readonly scalar: string;
  /** The type in which values of the scalar are stored. It decides which numbers fit. */
  readonly as: ColumnType;
  readonly required: boolean;
}

/**
 * A field of the key of a group. Its column may not be among those that rows are grouped by: the
 * field is then null.
 */
export interface KeyPart {
  readonly planned: Extract<Planned, { kind: 'column' | 'one' | 'refused' | 'typename' }>;
  /** The column that the rows have to be grouped by. */
  readonly column?: string;
  readonly required: boolean;
}

export type EdgePart =
  | { readonly kind: 'node'; readonly key: string; readonly selection: Selection }
  | { readonly kind: 'cursor'; readonly key: string }
  | { readonly kind: 'typename'; readonly key: string; readonly value: string };

export type PageInfoField =
  | 'hasNextPage'
  | 'hasPreviousPage'
  | 'startCursor'
  | 'endCursor'
  | '__typename';

/** The argument values of one node. */
export interface Call {
  readonly equals: readonly { readonly column: string; readonly value: unknown }[];
  readonly where?: unknown;
  readonly search?: SearchCall;
  readonly order: readonly Order[];
  /** One row of each combination of these columns: the first in the order. */
  readonly distinct?: readonly string[];
  readonly page?: Page;
  /** Locks the rows until the transaction ends. What others have locked is waited for, left out, or an error. */
  readonly lock?: 'wait' | 'skip' | 'fail';
  /** Only the rows with these keys. */
  readonly keys?: readonly string[];
  /** The arguments of a list of groups; absent for other fields. */
  readonly groups?: GroupCall;
  /** The global id that `node(id:)` got, or those of `nodes(ids:)`; absent for other fields. */
  readonly targets?: readonly Target[];
}

/** The parts of a global id. The type is empty when no entity has its name. */
export interface Target {
  readonly type: string;
  readonly id: string;
}

/** The arguments of a list of groups. */
export interface GroupCall {
  readonly keys: readonly GroupKey[];
  readonly having?: unknown;
  readonly order: readonly GroupOrder[];
}

/** A column by which rows are grouped. For a time, `unit` says to what it is rounded down. */
export interface GroupKey {
  readonly column: string;
  readonly unit?: TimeUnit;
}

export interface GroupOrder {
  readonly of: 'count' | 'key' | Figure;
  /** The column whose values are used; absent for `count`. */
  readonly column?: string;
  readonly descending: boolean;
  readonly nulls?: 'first' | 'last';
}

export interface Order {
  /** The column by which rows are compared: of the row, or of the row at the end of `path`. */
  readonly column: string;
  readonly descending: boolean;
  /** Where rows without a value are sorted. When absent, null is the highest value. */
  readonly nulls?: 'first' | 'last';
  /** The to-one relations from the row to the compared row, by field. */
  readonly path?: readonly string[];
  /**
   * Set in place of a column: the name of a list whose rows are counted, or of a field with @count
   * or @exists.
   */
  readonly tally?: string;
  /** Set in place of a column: rows are sorted by how well they fit the search. */
  readonly rank?: true;
}

export interface Page {
  readonly limit: number;
  /**
   * Whether the number is the list's default. It is then written into the SQL text, which SQLite
   * runs a little faster.
   */
  readonly constant?: boolean;
  /** Whether the answer says that there are more rows, because nobody asked for this page. */
  readonly told?: boolean;
  readonly offset: number;
  /** The sort values of the row after which the page starts. */
  readonly after?: readonly unknown[];
  readonly before?: readonly unknown[];
  /** Whether the page is counted from the end: `last`. */
  readonly backwards: boolean;
}
