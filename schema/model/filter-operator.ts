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
 * A member of a field's filter input. `mode` lets the operators beside it ignore letter case, and
 * `path` makes them compare a value inside JSON.
 */
export type FilterWord = FilterOperator | 'mode' | 'path' | 'and' | 'or' | 'not';
