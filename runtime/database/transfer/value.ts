/**
 * A value of a row in the form that both databases and a backup share: JSON without loss. Integers
 * above 2^53 and decimals are texts, bytes are base64, times are ISO 8601, JSON is its text. A
 * value that its column would not lead one to expect says what it is, as SQLite can keep anything
 * in any column.
 */
export type Value = null | boolean | number | string | Tagged;

export type Tagged =
  | { readonly integer: string }
  | { readonly real: string }
  | { readonly text: string }
  | { readonly bytes: string };

/** The values of a row, in the order of the table's columns. */
export type Row = readonly Value[];

/** Rows that are handled together, so that there is not a promise for each row. */
export type Batch = readonly Row[];

/** An integer as a number where JavaScript has it exactly, else as its digits. */
export function integerValue(digits: string): number | string {
  return digits.length < 16 || Number.isSafeInteger(Number(digits)) ? Number(digits) : digits;
}

/** The text of a tagged value; bytes as PostgreSQL reads them. */
export function taggedText(value: Tagged): string {
  if ('bytes' in value) return hexOf(value.bytes);
  return 'integer' in value ? value.integer : 'real' in value ? value.real : value.text;
}

/** Base64 as PostgreSQL's text for bytea. */
export function hexOf(base64: string): string {
  return `\\x${Buffer.from(base64, 'base64').toString('hex')}`;
}
