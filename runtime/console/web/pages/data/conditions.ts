import { query, setQuery } from '../../address.ts';
import type { Column, Module } from '../../rest-modules.ts';

/** A condition of the address: `title_contains=a`. */
export interface Condition {
  readonly column: Column;
  readonly word: string;
  readonly text: string;
}

/** The names of the operators in the dialog. */
export const WORD_TEXTS: Readonly<Record<string, string>> = {
  eq: 'is',
  ne: 'is not',
  contains: 'contains',
  startsWith: 'starts with',
  endsWith: 'ends with',
  gt: 'is more than',
  gte: 'is at least',
  lt: 'is less than',
  lte: 'is at most',
  in: 'is one of',
  notIn: 'is none of',
  isNull: 'is NULL',
};

export function conditionsOf({ columns }: Module, parameters: URLSearchParams): Condition[] {
  return [...parameters].flatMap(([name, text]) => {
    const plain = columns.find((column) => column.name === name && column.words.includes('eq'));
    if (plain) return [{ column: plain, word: 'eq', text }];
    const column = columns.find((each) =>
      each.words.some((word) => `${each.name}_${word}` === name),
    );
    return column ? [{ column, word: name.slice(column.name.length + 1), text }] : [];
  });
}

/**
 * The parameter of a condition in the address. The operator is left out for `eq`, unless the short
 * name has another meaning.
 */
export function parameterOf({ column, word }: Pick<Condition, 'column' | 'word'>): string {
  const reserved = ['page', 'limit', 'sort', 'order', 'include', 'fields', 'search', 'row', 'as'];
  return word === 'eq' && !reserved.includes(column.name) ? column.name : `${column.name}_${word}`;
}

/** Writes the conditions into the address, in place of those there. */
export function put(module: Module, conditions: readonly Condition[]): void {
  const changes: Record<string, string | null> = { page: null };
  for (const each of conditionsOf(module, query.value))
    for (const name of [parameterOf(each), `${each.column.name}_${each.word}`])
      changes[name] = null;
  for (const each of conditions) changes[parameterOf(each)] = each.text;
  setQuery(changes);
}

/** A condition of a column, as it begins. */
export function begun(column: Column): Condition {
  const { words, kind, keyOf } = column;
  const [first = 'eq'] = words;
  const contains = kind === 'text' && !keyOf && words.includes('contains');
  return { column, word: contains ? 'contains' : first, text: '' };
}
