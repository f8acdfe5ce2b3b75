/** A whole number with 16 digits or more: JavaScript may round it. */
const WIDE = /[[:,]\s*-?\d{16,}/;

/**
 * Reads JSON. A whole number that JavaScript would round stays the text that it is.
 *
 * @example parseExact('{"a":9007199254740993}') // { a: '9007199254740993' }
 */
export function parseExact(text: string): unknown {
  return WIDE.test(text) ? JSON.parse(text, exact as Reviver) : JSON.parse(text);
}

type Reviver = (key: string, value: unknown) => unknown;

function exact(_: string, value: unknown, context?: { readonly source?: string }): unknown {
  const isRounded =
    typeof value === 'number' && Number.isInteger(value) && !Number.isSafeInteger(value);
  return isRounded ? (context?.source ?? value) : value;
}
