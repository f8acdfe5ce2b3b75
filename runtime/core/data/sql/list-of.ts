/**
 * The items of an argument that is a list. GraphQL lets a caller give a single value in place of a
 * list with one item.
 *
 * @example listOf('a') // ['a']
 */
export const listOf = (value: unknown): readonly any[] =>
  value === undefined || value === null ? [] : Array.isArray(value) ? value : [value];
