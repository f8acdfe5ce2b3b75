import type { Search } from '@twofold/schema';
import { classOf } from '../../store/search/postgres-search.ts';
import { CLASSES } from '../../store/search/search-index.ts';
import { parseSearch, type SearchQuery, type SearchTerm } from './search-query.ts';

/** The values of a search that its statements need. */
export interface SearchCall {
  /**
   * `none`: the search has no word, so it finds nothing. `without`: it has only words that rows
   * must not have.
   */
  readonly kind: 'words' | 'without' | 'none';
  /** The whole search for FTS5 and as a tsquery. For `without`, these are the words to avoid. */
  readonly sqlite: string;
  readonly postgres: string;
  /**
   * The searches by which rows are ranked: JSON of `[search, weight]`, and tsqueries for the same
   * weights.
   */
  readonly sqliteRanks: string;
  readonly postgresRanks: string;
  readonly weights: readonly number[];
  /**
   * `many`: it has many terms, too many to be a part of each of `sqliteRanks`. `long`: many of them
   * are alternatives, or must not be there. FTS5 looks at every alternative for every row, so the terms are then
   * looked for one by one: `terms` is JSON of the number of a group, or -1, and a term.
   */
  readonly size: 'short' | 'many' | 'long';
  readonly terms: string;
  readonly groups: number;
  /** The highest sum of the weights. */
  readonly most: number;
  /** The words to mark in texts: JSON of `[word, begins]`, and as a tsquery. */
  readonly marks: string;
  readonly postgresMarks: string;
}

/** How many terms are used to rank rows. More terms cost time and do not improve the order. */
const RANKED = 8;

/** The weights of the classes of fields. Their sums are exact, so both databases sort alike. */
const WEIGHTS = [8, 4, 2, 1];

/** PostgreSQL leaves longer words out of its index, so SQLite does too. */
const LONGEST = 500;

/**
 * Reads the argument of a search; undefined for null and undefined.
 *
 * @example readSearch('cats or dogs', post.search)?.postgres // "('cats' | 'dogs')"
 */
export function readSearch(given: unknown, search: Search | undefined): SearchCall | undefined {
  if (given === undefined || given === null) return undefined;
  const query = search && parseSearch(String(given));
  if (!query) return NOTHING;
  const known = {
    groups: query.groups.map((group) => group.filter(isIndexed)),
    without: query.without.filter(isIndexed),
  };
  if (known.groups.some((group) => group.length === 0)) return NOTHING;
  if (known.groups.length + known.without.length === 0) return NOTHING;
  return callOf(known, Math.min(CLASSES, search!.columns.length));
}

const isIndexed = ({ words }: SearchTerm): boolean => words.every((word) => word.length <= LONGEST);

const NOTHING: SearchCall = {
  kind: 'none',
  sqlite: '',
  postgres: '',
  sqliteRanks: '[]',
  postgresRanks: '[]',
  weights: [],
  size: 'short',
  terms: '[]',
  groups: 0,
  most: 1,
  marks: '[]',
  postgresMarks: '',
};

function callOf(query: SearchQuery, classes: number): SearchCall {
  const { groups, without } = query;
  const terms = groups.flat();
  const ranked = terms.slice(0, RANKED);
  const weights = WEIGHTS.slice(0, classes);
  const size = sizeOf(query);
  const long = size === 'long';
  return {
    kind: groups.length === 0 ? 'without' : 'words',
    sqlite: long ? '' : groups.length === 0 ? anyOf(without.map(ftsTerm)) : ftsQuery(query),
    postgres: tsquery(query, classes),
    sqliteRanks:
      groups.length === 0 ? '[]' : JSON.stringify(ftsRanks(query, weights, size === 'short')),
    postgresRanks: JSON.stringify(
      ranked.flatMap((term) => weights.map((_, at) => tsTerm(term, classOf(at)))),
    ),
    weights: ranked.flatMap(() => weights),
    size,
    terms: long ? JSON.stringify(numbered(query)) : '[]',
    groups: groups.length,
    most: Math.max(1, ranked.length) * weights.reduce((all, weight) => all + weight, 0),
    marks: JSON.stringify(marked(terms)),
    postgresMarks: marked(terms)
      .map(([word, begins]) => lexeme(word, begins ? ':*' : ''))
      .join(' | '),
  };
}

/**
 * One search for each weight; together they find the rows of the whole search. A short search is
 * repeated in each of them: a frequent word is then looked for only in rows that have the other
 * words.
 */
const REPEATED = 32;

/**
 * One search for each weight; together they find the rows of the whole search. A short search is
 * repeated in each of them: a frequent word is then looked for only in rows that have the other
 * words.
 */
function ftsRanks(query: SearchQuery, weights: readonly number[], short: boolean) {
  const { groups } = query;
  const terms = groups.flatMap((group, at) => group.map((term) => ({ term, at })));
  const ranks = terms.slice(0, RANKED).flatMap(({ term, at: group }) =>
    weights.map((weight, at) => {
      const rank = `(${FTS_CLASSES[at]} : ${ftsTerm(term)})`;
      return [short ? ftsQuery(query, { group, by: rank }) : rank, weight] as const;
    }),
  );
  // A row may have none of the terms that are used for ranking, and is found with rank 0.
  return terms.length > RANKED && short ? [[ftsQuery(query), 0] as const, ...ranks] : ranks;
}

function sizeOf({ groups, without }: SearchQuery): SearchCall['size'] {
  const terms = groups.flat().length;
  if (terms - groups.length + without.length > REPEATED) return 'long';
  return terms > REPEATED ? 'many' : 'short';
}

const numbered = ({ groups, without }: SearchQuery): (readonly [group: number, term: string])[] => [
  ...groups.flatMap((group, at) => group.map((term) => [at, ftsTerm(term)] as const)),
  ...without.map((term) => [-1, ftsTerm(term)] as const),
];

/** The words to mark in texts. The words of a phrase are marked one by one. */
const marked = (terms: readonly SearchTerm[]): (readonly [word: string, begins: boolean])[] =>
  terms
    .slice(0, 100)
    .flatMap(({ words, begins }) =>
      words.map((word, at) => [word, begins && at === words.length - 1] as const),
    );

/** The columns of each class of fields in FTS5. The last class has all fields after the third. */
const FTS_CLASSES = ['{c0}', '{c1}', '{c2}', '- {c0 c1 c2}'];

const anyOf = (parts: readonly string[]): string => `(${parts.join(' OR ')})`;

/** One group of a search is replaced by another search. */
interface Replaced {
  readonly group: number;
  readonly by: string;
}

/** See "Full-text Query Syntax" in SQLite's page on FTS5. Words are letters and digits only. */
function ftsQuery({ groups, without }: SearchQuery, replaced?: Replaced): string {
  const all = groups
    .map((group, at) => (at === replaced?.group ? replaced.by : anyOf(group.map(ftsTerm))))
    .join(' AND ');
  return without.length === 0 ? all : `(${all}) NOT ${anyOf(without.map(ftsTerm))}`;
}

const ftsTerm = ({ words, begins }: SearchTerm): string =>
  `"${words.join(' ')}"${begins ? ' *' : ''}`;

function tsquery({ groups, without }: SearchQuery, classes: number): string {
  const one = (term: SearchTerm) => inOneField(term, classes);
  return [
    ...groups.map((group) => `(${group.map(one).join(' | ')})`),
    ...without.map((term) => `!${one(term)}`),
  ].join(' & ');
}

/**
 * In the index, the words of a field directly follow those of the field before. A phrase must be
 * inside one field.
 */
function inOneField(term: SearchTerm, classes: number): string {
  if (term.words.length === 1) return tsTerm(term);
  const each = Array.from({ length: classes }, (_, at) => tsTerm(term, classOf(at)));
  return `(${each.join(' | ')})`;
}

/** With `ofClass`, only fields of that class are searched. */
function tsTerm({ words, begins }: SearchTerm, ofClass = ''): string {
  const label = (last: boolean) => `${last && begins ? '*' : ''}${ofClass}`;
  const parts = words.map((word, at) => {
    const mark = label(at === words.length - 1);
    return lexeme(word, mark === '' ? '' : `:${mark}`);
  });
  return parts.length === 1 ? parts[0]! : `(${parts.join(' <-> ')})`;
}

const lexeme = (word: string, mark: string): string => `'${word}'${mark}`;
