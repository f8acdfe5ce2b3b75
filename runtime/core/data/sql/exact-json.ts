import { ROW_KEY } from './scope.ts';

/** A whole number with 16 digits or more: JavaScript may round it. */
const WIDE = /(?:^|[[:,])\s*-?\d{16,}/;

/** A number that `JSON.stringify` writes with the digits that were read. */
interface RawNumber {
  readonly rawJSON: string;
}

/** TypeScript does not know the reviver's third argument and these functions yet. */
const { parse, rawJSON, isRawJSON } = JSON as unknown as {
  parse(text: string, reviver?: Reviver): any;
  rawJSON(source: string): RawNumber;
  isRawJSON(value: unknown): value is RawNumber;
};

type Reviver = (key: string, value: unknown, context: { readonly source?: string }) => unknown;

/**
 * Reads JSON so that `JSON.stringify` writes each whole number as it was, also beyond 2^53. In rows
 * for own code such a number is text, as `BigInt` is.
 */
export const parseExact = (text: string): any => (WIDE.test(text) ? parse(text, raw) : parse(text));

/** Reads JSON for own code: a whole number beyond 2^53 becomes its text. */
export const parseDigits = (text: string): any =>
  WIDE.test(text) ? parse(text, digits) : parse(text);

export const isRawNumber = (value: unknown): value is RawNumber =>
  typeof value === 'object' && isRawJSON(value);

/** The number as JSON has to show it: a JavaScript number could not hold all of its digits. */
export const rawNumber = (digitsOf: string): RawNumber => rawJSON(digitsOf);

function raw(key: string, value: unknown, { source }: { readonly source?: string }): unknown {
  if (key === ROW_KEY) return asRow(value);
  return source !== undefined && isRounded(value) ? rawJSON(source) : value;
}

function digits(_: string, value: unknown, { source }: { readonly source?: string }): unknown {
  return source !== undefined && isRounded(value) ? source : value;
}

const isRounded = (value: unknown) => Number.isInteger(value) && !Number.isSafeInteger(value);

/** Numbers that are columns become text. Numbers inside a JSON document become JavaScript's. */
function asRow(row: unknown): unknown {
  if (typeof row !== 'object' || row === null) return row;
  return Object.fromEntries(
    Object.entries(row).map(([name, value]) => [
      name,
      isRawNumber(value) ? value.rawJSON : withNumbers(value),
    ]),
  );
}

function withNumbers(value: unknown): unknown {
  if (isRawNumber(value)) return Number(value.rawJSON);
  if (Array.isArray(value)) return value.map(withNumbers);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, inner]) => [name, withNumbers(inner)]),
  );
}
