import type { FilterOperator } from '../model.ts';

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
  is: 'the filter itself, without is',
  isNot: 'not',
  array_contains: 'has',
  order_by: 'orderBy',
};

/** @example knownWord('_neq') // 'ne' */
export const knownWord = (word: string): string | undefined =>
  Object.hasOwn(ELSEWHERE, word) ? ELSEWHERE[word] : undefined;
