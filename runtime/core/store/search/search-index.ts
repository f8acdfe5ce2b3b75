import { quotedName } from '../tables/quoting.ts';
/** The index of full-text search of one table. */
export interface SearchIndex {
  /** The name of the index, which is also the name of its table and of its triggers. */
  readonly name: string;
  readonly table: string;
  /** The searched columns. Words in earlier columns rank higher. */
  readonly columns: readonly string[];
  readonly language: string;
}

/** An index of full-text search, with the key of its table. */
export interface SearchIndexOptions extends SearchIndex {
  /** The columns of the table's primary key. */
  readonly key: readonly string[];
}

/** Further facts about the table that the statements need. */
export interface SearchedTable {
  /** Columns of the primary key. */
  readonly key: readonly string[];
  /** Whether the key is SQLite's own number of the row, which no command changes. */
  readonly byNumber: boolean;
}

/** The prefix in the names of all objects that belong to a search index. */
export const SEARCH_PREFIX = 'twofold_search_';

/**
 * Whether a table or a trigger belongs to a search index. Triggers fill these tables, so their rows
 * are not copied.
 */
export const isOfSearch = (name: string): boolean => name.startsWith(SEARCH_PREFIX);

/** Fields have four weights: one for the first, the second, the third, and one for all others. */
export const CLASSES = 4;

/** Characters of a row that are indexed: a `tsvector` has at most 1 MiB. */
const INDEXED = 200_000;

/** How many characters of each column are indexed. */
export const indexedOf = ({ columns }: Pick<SearchIndex, 'columns'>): number =>
  Math.floor(INDEXED / columns.length);

/** A column of the table's key, in the tables of the index: `k0`. */
export const keyColumn = (at: number): string => `k${at}`;

/** The columns of the key, of the table or with another prefix: `new."id"`. */
export const keyParts = ({ key }: SearchedTable, prefix = ''): readonly string[] =>
  key.map((column) => `${prefix}${quotedName(column)}`);
