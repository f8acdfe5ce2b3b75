import type { DatabaseSync } from 'node:sqlite';
import { containsText } from './contains-text.ts';
import { foldText } from './fold-text.ts';
import type { ReadText } from '../bounds.ts';

/**
 * The SQL function `twofold_json(word, document, path, given, fold)`: whether a value inside a JSON
 * text meets an operator of a filter. Null when there is no value.
 */
export const JSON_WORD = 'twofold_json';

/** SQLite has no comparison of JSON by type and value. PostgreSQL has jsonb. */
export function addJsonWords(database: DatabaseSync, read: ReadText): void {
  const parse = remembering();
  const documentOf = rememberingDocument();
  database.function(JSON_WORD, { deterministic: true }, (word, document, path, given, fold) => {
    read(String(document).length);
    const value = valueAt(documentOf(document), path === null ? [] : (parse(path) as string[]));
    if (word === 'isNull') return Number(value === null);
    if (value === null) return null;
    const meets = WORDS[String(word)];
    const wanted = given === null ? null : parse(given);
    return meets ? answerOf(meets(folded(value, fold), folded(wanted, fold))) : null;
  });
}

const answerOf = (met: boolean | null) => (met === null ? null : Number(met));

/**
 * Keeps the last parsed texts, because path and operand are the same for every row of a statement.
 */
function remembering() {
  const known = new Map<unknown, unknown>();
  return (text: unknown): unknown => {
    if (!known.has(text)) {
      if (known.size >= 8) known.clear();
      known.set(text, JSON.parse(String(text)));
    }
    return known.get(text);
  };
}

/**
 * Keeps the last parsed document, because several operators of a filter read the same one, row by
 * row.
 */
function rememberingDocument() {
  let last: { readonly text: unknown; readonly value: unknown } = { text: null, value: null };
  return (text: unknown): unknown => {
    if (text !== last.text) last = { text, value: parsed(text) };
    return last.value;
  };
}

function parsed(document: unknown): unknown {
  try {
    return JSON.parse(String(document));
  } catch {
    return null;
  }
}

function valueAt(document: unknown, path: readonly string[]): unknown {
  let value = document;
  for (const step of path) value = member(value, step);
  return value ?? null;
}

/**
 * The value at one step of a path: a key of an object, or the index of an array. A negative index
 * counts from the end.
 */
function member(value: unknown, step: string): unknown {
  if (Array.isArray(value))
    return /^[ \t-\r]*[+-]?\d{1,9}$/.test(step) ? value.at(Number(step)) : undefined;
  return isObject(value) && Object.hasOwn(value, step) ? value[step] : undefined;
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

type ValueTest = (value: unknown, given: unknown) => boolean | null;

/**
 * Compares two texts or two numbers. Other values, and values of different types, have no order.
 */
const ordered =
  (test: (order: number) => boolean): ValueTest =>
  (value, given) => {
    if (typeof value === 'number' && typeof given === 'number') return test(value - given);
    if (typeof value !== 'string' || typeof given !== 'string') return null;
    // By the bytes of UTF-8, as SQLite and PostgreSQL do. JavaScript would compare UTF-16.
    return test(Buffer.compare(Buffer.from(value), Buffer.from(given)));
  };

const texts =
  (test: (value: string, given: string) => boolean): ValueTest =>
  (value, given) =>
    typeof value === 'string' && typeof given === 'string' ? test(value, given) : null;

const lists =
  (test: (value: readonly unknown[], given: unknown) => boolean): ValueTest =>
  (value, given) =>
    Array.isArray(value) ? test(value, given) : null;

const includes = (list: unknown, item: unknown): boolean =>
  Array.isArray(list) && list.some((each) => isSame(each, item));

const WORDS: Readonly<Record<string, ValueTest>> = {
  eq: isSame,
  in: (value, given) => includes(given, value),
  lt: ordered((order) => order < 0),
  lte: ordered((order) => order <= 0),
  gt: ordered((order) => order > 0),
  gte: ordered((order) => order >= 0),
  contains: texts(containsText),
  startsWith: texts((value, given) => value.startsWith(given)),
  endsWith: texts((value, given) => value.endsWith(given)),
  has: lists((value, given) => includes(value, given)),
  hasSome: lists((value, given) => [given].flat().some((each) => includes(value, each))),
  hasEvery: lists((value, given) => [given].flat().every((each) => includes(value, each))),
  isEmpty: lists((value, given) => (value.length === 0) === given),
};

/** Whether two JSON values are equal. The order of an object's keys does not count. */
function isSame(a: unknown, b: unknown): boolean {
  if (Array.isArray(a))
    return Array.isArray(b) && a.length === b.length && a.every((each, at) => isSame(each, b[at]));
  if (!isObject(a)) return a === b;
  const keys = Object.keys(a);
  return (
    isObject(b) &&
    keys.length === Object.keys(b).length &&
    keys.every((key) => Object.hasOwn(b, key) && isSame(a[key], b[key]))
  );
}

function folded(value: unknown, fold: unknown): unknown {
  if (Number(fold) !== 1) return value;
  if (typeof value === 'string') return foldText(value);
  return Array.isArray(value) ? value.map((each) => folded(each, fold)) : value;
}
