import type { ListOptions } from '@twofold/schema';

/**
 * What to read, as data: one tree for each root field, made of entities, columns and relations. It prints as JSON, it
 * holds no values (a node that takes arguments has a number, `call`, under which they are found), and it is the same for
 * all callers of one class.
 */
export type Root =
  | Get
  | ({ readonly kind: 'list' } & Rows)
  | ({ readonly kind: 'connection' } & Linked)
  | ({ readonly kind: 'abstractList' } & AbstractRows)
  | { readonly kind: 'node'; readonly call: number; readonly members: readonly Member[] }
  | {
      readonly kind: 'count';
      readonly entity: string;
      readonly list: ListOptions;
      readonly call: number;
    };

/** One row by its key, or by other columns. */
export interface Get {
  readonly kind: 'get';
  readonly entity: string;
  readonly call: number;
  readonly selection: Selection;
  readonly owners?: readonly string[];
}

/** An object of the answer: an entity's row as the selection wants it. */
export interface Selection {
  readonly entity: string;
  readonly fields: readonly Planned[];
  /** Whether the whole row is needed too, because user code gets it as its parent. */
  readonly row: boolean;
}

/** One member of an object. `key` is the name in the answer; `only` are the columns that must hold the caller's id. */
export type Planned =
  | {
      readonly kind: 'column';
      readonly key: string;
      readonly column: string;
      readonly only?: readonly string[];
    }
  | { readonly kind: 'typename'; readonly key: string; readonly value: string }
  | ({
      readonly kind: 'one';
      readonly key: string;
      readonly required: boolean;
      readonly selection: Selection;
      readonly only?: readonly string[];
    } & OneLink)
  | ({ readonly kind: 'many'; readonly key: string; readonly only?: readonly string[] } & Rows)
  | ({
      readonly kind: 'connection';
      readonly key: string;
      readonly only?: readonly string[];
    } & Linked)
  | {
      readonly kind: 'abstract';
      readonly key: string;
      readonly required: boolean;
      readonly typeColumn: string;
      readonly column: string;
      readonly members: readonly Member[];
      readonly only?: readonly string[];
    }
  | {
      readonly kind: 'refused';
      readonly key: string;
      readonly code: 'UNAUTHENTICATED' | 'FORBIDDEN';
    };

/** Which column of which side holds the key. */
export interface OneLink {
  readonly link: {
    readonly key: 'own' | 'inverse';
    readonly column: string;
    readonly of?: KeyType;
  };
}

/** A key that may be of several types: this column of the same table has to say ours. */
export interface KeyType {
  readonly column: string;
  readonly type: string;
}

export interface Member {
  readonly entity: string;
  readonly selection: Selection;
}

/** How rows belong to the object they are listed under; absent at a root. */
export type Link =
  | { readonly kind: 'column'; readonly column: string; readonly of?: KeyType }
  | {
      readonly kind: 'table';
      readonly table: string;
      readonly own: string;
      readonly other: string;
    };

export interface Rows {
  readonly entity: string;
  /** Of a root field whose own rules stand for the entity's: the owner columns, none when all rows are allowed. */
  readonly owners?: readonly string[];
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
  readonly owners?: readonly string[];
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
  | { readonly kind: 'typename'; readonly key: string; readonly value: string };

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

/** The values of one node: what its arguments came to. */
export interface Call {
  readonly equals: readonly { readonly column: string; readonly value: unknown }[];
  readonly where?: unknown;
  readonly order: readonly Order[];
  readonly page?: Page;
  /** Of `node(id:)`: the parts of a global id. */
  readonly target?: { readonly type: string; readonly id: string };
}

export interface Order {
  readonly column: string;
  readonly descending: boolean;
}

export interface Page {
  readonly limit: number;
  /** Whether the caller did not name the number: then it is part of the statement, which SQLite runs a little faster. */
  readonly constant?: boolean;
  readonly offset: number;
  /** The order values of the row to start behind. */
  readonly after?: readonly unknown[];
  readonly before?: readonly unknown[];
  /** From the end: `last`. */
  readonly backwards: boolean;
}
