/**
 * The items of an argument that is a list: GraphQL takes one value for a list with this value.
 *
 * @example listOf('a') // ['a']
 */
export const listOf = (value: unknown): readonly any[] =>
  value === undefined || value === null ? [] : Array.isArray(value) ? value : [value];
