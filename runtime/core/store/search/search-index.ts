import { quotedName } from '../quoting.ts';
/** The index of full-text search of one table. */
export interface SearchIndex {
  /** Also the name of the table that has the index, and of its triggers. */
  readonly name: string;
  readonly table: string;
  /** The columns with the words; hits in earlier ones count more. */
  readonly columns: readonly string[];
  readonly language: string;
}

/** What else the statements need of the table. */
export interface SearchedTable {
  /** Columns of the primary key. */
  readonly key: readonly string[];
  /** Whether the key is SQLite's own number of the row, which no command changes. */
  readonly byNumber: boolean;
}

/** Begins the name of everything that a search index makes. */
export const SEARCH_PREFIX = 'twofold_search_';

/** Whether a table or a trigger belongs to an index: the triggers fill it, so no rows are moved. */
export const isOfSearch = (name: string): boolean => name.startsWith(SEARCH_PREFIX);

/** Fields count in four classes: the first, the second, the third, and the others. */
export const CLASSES = 4;

/** Characters of a row that are indexed: a `tsvector` has at most 1 MiB. */
const INDEXED = 200_000;

/** Of one column. */
export const indexedOf = ({ columns }: Pick<SearchIndex, 'columns'>): number =>
  Math.floor(INDEXED / columns.length);

/** A column of the table's key, in the tables of the index: `k0`. */
export const keyColumn = (at: number): string => `k${at}`;

/** The columns of the key, of the table or with another prefix: `new."id"`. */
export const keyParts = ({ key }: SearchedTable, prefix = ''): readonly string[] =>
  key.map((column) => `${prefix}${quotedName(column)}`);
