/** A comparison in a filter or a condition. */
export type FilterOperator =
  | 'eq'
  | 'ne'
  | 'in'
  | 'notIn'
  | 'lt'
  | 'lte'
  | 'gt'
  | 'gte'
  | 'contains'
  | 'startsWith'
  | 'endsWith'
  | 'isNull'
  | 'has'
  | 'hasSome'
  | 'hasEvery'
  | 'isEmpty';

/**
 * A word of the input of one field. `mode` ignores case in the words beside it, and `path` leads to
 * a value in JSON, which they are about.
 */
export type FilterWord = FilterOperator | 'mode' | 'path' | 'and' | 'or' | 'not';
