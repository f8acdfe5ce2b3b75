/** A whole number of so many digits may be one that JavaScript rounds. */
const WIDE = /[[:,]\s*-?\d{16,}/;

/** JSON that `JSON.stringify` writes as it was read. */
const raw = (JSON as unknown as { rawJSON(source: string): unknown }).rawJSON;

/** Reads JSON so that `JSON.stringify` writes each whole number as it was, also beyond 2^53. */
export const parseExact = (text: string): unknown =>
  WIDE.test(text)
    ? JSON.parse(text, exact as (key: string, value: unknown) => unknown)
    : JSON.parse(text);

function exact(_: string, value: unknown, context: { readonly source?: string }): unknown {
  const isRounded =
    typeof value === 'number' && Number.isInteger(value) && !Number.isSafeInteger(value);
  return isRounded && context.source !== undefined ? raw(context.source) : value;
}
