import type { Paging } from '../model.ts';

/** The names of paging arguments, with their function. */
export const PAGING: ReadonlyMap<string, keyof Omit<Paging, 'default' | 'max' | 'added'>> = new Map(
  [
    ['limit', 'limit'],
    ['take', 'limit'],
    ['offset', 'offset'],
    ['skip', 'offset'],
    ['first', 'first'],
    ['after', 'after'],
    ['last', 'last'],
    ['before', 'before'],
  ],
);

export const WHERE: ReadonlySet<string> = new Set(['where', 'filter', 'filters']);

export const ORDER: ReadonlySet<string> = new Set(['orderBy', 'order', 'sort', 'sortBy']);

export const DISTINCT: ReadonlySet<string> = new Set(['distinct', 'distinctOn', 'distinct_on']);

/** Whether an argument of this name pages, sorts or filters any list, or leaves out rows of it. */
export function isListArgument(name: string): boolean {
  return (
    PAGING.has(name) ||
    WHERE.has(name) ||
    ORDER.has(name) ||
    DISTINCT.has(name) ||
    name === 'order_by'
  );
}
