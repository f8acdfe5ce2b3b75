import type { Search } from '@twofold/schema';
import { classOf } from '../store/search/postgres-search.ts';
import { CLASSES } from '../store/search/search-index.ts';
import { parseSearch, type SearchQuery, type SearchTerm } from './search-query.ts';

/** A search as the statements get it: values only. */
export interface SearchCall {
  /**
   * `none`: without a word, so that nothing is found. `without`: only words that rows must not
   * have.
   */
  readonly kind: 'words' | 'without' | 'none';
  /** The whole search, of `without` the words to avoid, for FTS5 and as a tsquery. */
  readonly sqlite: string;
  readonly postgres: string;
  /** What rows are ranked by: JSON of `[search, weight]`. */
  readonly sqliteRanks: string;
  readonly postgresRanks: string;
  /** The highest sum of the weights. */
  readonly most: number;
  /** The words to mark in texts: JSON of `[word, begins]`, and as a tsquery. */
  readonly marks: string;
  readonly postgresMarks: string;
}

/** Terms that rows are ranked by: more make no better order, but cost. */
const RANKED = 8;

/** The weights of the classes of fields. Their sums are exact, so both databases sort alike. */
const WEIGHTS = [8, 4, 2, 1];

/** A longer word is in no index: PostgreSQL leaves it out. */
const LONGEST = 500;

/**
 * The values of a search. Null and undefined are no search.
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
  most: 1,
  marks: '[]',
  postgresMarks: '',
};

function callOf({ groups, without }: SearchQuery, classes: number): SearchCall {
  const terms = groups.flat();
  const ranked = terms.slice(0, RANKED);
  const weights = WEIGHTS.slice(0, classes);
  const ranks = (one: (term: SearchTerm, at: number) => string) =>
    JSON.stringify(
      ranked.flatMap((term) => weights.map((weight, at) => [one(term, at), weight] as const)),
    );
  return {
    kind: groups.length === 0 ? 'without' : 'words',
    sqlite: groups.length === 0 ? anyOf(without.map(ftsTerm)) : ftsQuery({ groups, without }),
    postgres: tsquery({ groups, without }),
    sqliteRanks: ranks((term, at) => `${FTS_CLASSES[at]} : ${ftsTerm(term)}`),
    postgresRanks: ranks((term, at) => tsTerm(term, classOf(at))),
    most: Math.max(1, ranked.length) * weights.reduce((all, weight) => all + weight, 0),
    marks: JSON.stringify(marked(terms)),
    postgresMarks: marked(terms)
      .map(([word, begins]) => lexeme(word, begins ? ':*' : ''))
      .join(' | '),
  };
}

/** Words to mark: those of phrases are marked one by one. */
const marked = (terms: readonly SearchTerm[]): (readonly [word: string, begins: boolean])[] =>
  terms
    .slice(0, 100)
    .flatMap(({ words, begins }) =>
      words.map((word, at) => [word, begins && at === words.length - 1] as const),
    );

/** The columns of the classes in FTS5: the last one has all fields behind the third. */
const FTS_CLASSES = ['{c0}', '{c1}', '{c2}', '- {c0 c1 c2}'];

const anyOf = (parts: readonly string[]): string => `(${parts.join(' OR ')})`;

/** See "Full-text Query Syntax" in SQLite's page on FTS5. Words are letters and digits only. */
function ftsQuery({ groups, without }: SearchQuery): string {
  const all = groups.map((group) => anyOf(group.map(ftsTerm))).join(' AND ');
  return without.length === 0 ? all : `(${all}) NOT ${anyOf(without.map(ftsTerm))}`;
}

const ftsTerm = ({ words, begins }: SearchTerm): string =>
  `"${words.join(' ')}"${begins ? ' *' : ''}`;

function tsquery({ groups, without }: SearchQuery): string {
  return [
    ...groups.map((group) => `(${group.map((term) => tsTerm(term)).join(' | ')})`),
    ...without.map((term) => `!${tsTerm(term)}`),
  ].join(' & ');
}

/** `class`: only in fields of it. */
function tsTerm({ words, begins }: SearchTerm, ofClass = ''): string {
  const label = (last: boolean) => `${last && begins ? '*' : ''}${ofClass}`;
  const parts = words.map((word, at) => {
    const mark = label(at === words.length - 1);
    return lexeme(word, mark === '' ? '' : `:${mark}`);
  });
  return parts.length === 1 ? parts[0]! : `(${parts.join(' <-> ')})`;
}

const lexeme = (word: string, mark: string): string => `'${word}'${mark}`;
