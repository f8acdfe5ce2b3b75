/**
 * A name in SQL, whatever its letters.
 *
 * @example quotedName('posts') // '"posts"'
 */
export const quotedName = (name: string): string => `"${name.replaceAll('"', '""')}"`;

/**
 * A text in SQL, for statements that cannot take parameters.
 *
 * @example quotedText("it's") // "'it''s'"
 */
export const quotedText = (text: string): string => `'${text.replaceAll("'", "''")}'`;
