const NAMES = new Map<string, string>();

/**
 * The name of a column or a table in the project's own code. Results are cached: a schema has few
 * names, and every row that is read needs those of all its columns.
 *
 * @example camelCase('author_id') // 'authorId'
 */
export function camelCase(name: string): string {
  const known = NAMES.get(name);
  if (known !== undefined) return known;
  const made = name.replace(/(?!^)_([a-z0-9])/g, (_, letter: string) => letter.toUpperCase());
  NAMES.set(name, made);
  return made;
}
