import { didYouMean } from '../did-you-mean.ts';
import type { FilterOperator, FilterWord } from '../model.ts';

export const OPERATORS: readonly FilterOperator[] = [
  'eq',
  'ne',
  'in',
  'notIn',
  'lt',
  'lte',
  'gt',
  'gte',
  'contains',
  'startsWith',
  'endsWith',
  'isNull',
];

/** The operators for a list of scalars or enums. */
export const LIST_OPERATORS: readonly FilterOperator[] = [
  'has',
  'hasSome',
  'hasEvery',
  'isEmpty',
  'eq',
  'ne',
  'isNull',
];

/**
 * Members that join conditions. A group in this project is something else: rows that are equal in a
 * key.
 */
export const LOGICAL = ['and', 'or', 'not'] as const;

export type LogicalWord = (typeof LOGICAL)[number];

/** All members that the filter input of one field may have. */
export const WORDS: readonly FilterWord[] = [
  ...new Set<FilterWord>([...OPERATORS, 'mode', ...LIST_OPERATORS, 'path', ...LOGICAL]),
];

/** Words of other servers, and ours that means the same. */
const ELSEWHERE: Readonly<Record<string, string>> = {
  equals: 'eq',
  _eq: 'eq',
  equalTo: 'eq',
  _neq: 'ne',
  neq: 'ne',
  notEqualTo: 'ne',
  _in: 'in',
  _nin: 'notIn',
  nin: 'notIn',
  _gt: 'gt',
  _gte: 'gte',
  _lt: 'lt',
  _lte: 'lte',
  _ilike: 'contains, with mode: INSENSITIVE',
  _like: 'contains',
  _is_null: 'isNull',
  _and: 'and',
  AND: 'and',
  _or: 'or',
  OR: 'or',
  _not: 'not',
  NOT: 'not',
  _some: 'some',
  _every: 'every',
  _none: 'none',
  _contains: 'contains',
  _has_key: 'path, with isNull: false',
  _nlike: 'not: { contains }',
  _nilike: 'not: { contains, with mode: INSENSITIVE }',
  has_some: 'hasSome',
  is: 'the filter itself, without is',
  isNot: 'not',
  array_contains: 'has',
  order_by: 'orderBy',
};

/** @example knownWord('_neq') // 'ne' */
export const knownWord = (word: string): string | undefined =>
  Object.hasOwn(ELSEWHERE, word) ? ELSEWHERE[word] : undefined;

/** What to write in place of a word that has no meaning: ours for a word of another server. */
export function meantWord(word: string, known: readonly string[], shown = known): string {
  const ours = knownWord(word);
  return ours ? `write ${ours}` : (didYouMean(word, known) ?? `one of ${shown.join(', ')}`);
}
