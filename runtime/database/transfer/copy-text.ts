import type { ValueKind } from './moved-table.ts';
import { hexOf, integerValue, type Row, taggedText, type Value } from './value.ts';

/**
 * The text format of PostgreSQL's COPY: a row a line, values between tabs, `\N` for null ("COPY",
 * File Formats).
 */
const ESCAPES: Readonly<Record<string, string>> = {
  '\\': '\\\\',
  '\n': '\\n',
  '\r': '\\r',
  '\t': '\\t',
};

const MEANINGS: Readonly<Record<string, string>> = {
  b: '\b',
  f: '\f',
  n: '\n',
  r: '\r',
  t: '\t',
  v: '\v',
};

/** Reads a line without its end. */
export function parseCopyLine(line: string, kinds: readonly ValueKind[]): Row {
  const parts = line.split('\t');
  const row: Value[] = [];
  for (let at = 0; at < kinds.length; at++) {
    const part = parts[at]!;
    row.push(part === '\\N' ? null : valueOf(plain(part), kinds[at]!));
  }
  return row;
}

function plain(text: string): string {
  return text.includes('\\')
    ? text.replace(/\\([^])/g, (_all, character: string) => MEANINGS[character] ?? character)
    : text;
}

/** The value that PostgreSQL wrote as `text`. */
function valueOf(text: string, kind: ValueKind): Value {
  switch (kind) {
    case 'integer':
      return integerValue(text);
    case 'real':
      return Number.isFinite(Number(text)) ? Number(text) : { real: text };
    case 'boolean':
      return text === 't';
    case 'timestamp':
      return isoOf(text);
    case 'bytes':
      return Buffer.from(text.slice(2), 'hex').toString('base64');
    default:
      return text;
  }
}

/** `2026-01-02 03:04:05.6+00` as ISO 8601 with at least milliseconds; other forms as they are. */
function isoOf(text: string): string {
  const found = /^(\d{4}-\d\d-\d\d) (\d\d:\d\d:\d\d)(?:\.(\d+))?(?:\+00)?$/.exec(text);
  return found ? `${found[1]}T${found[2]}.${(found[3] ?? '').padEnd(3, '0')}Z` : text;
}

/** Writes a line with its end. */
export function printCopyLine(row: Row, kinds: readonly ValueKind[]): string {
  let line = '';
  for (let at = 0; at < kinds.length; at++) {
    const value = row[at]!;
    if (at > 0) line += '\t';
    line += value === null ? '\\N' : escaped(textOf(value, kinds[at]!));
  }
  return `${line}\n`;
}

function escaped(text: string): string {
  return /[\\\n\r\t]/.test(text)
    ? text.replace(/[\\\n\r\t]/g, (character) => ESCAPES[character]!)
    : text;
}

/** The text that PostgreSQL reads as this value. */
function textOf(value: Exclude<Value, null>, kind: ValueKind): string {
  if (typeof value === 'object') return taggedText(value);
  if (typeof value !== 'string') return String(value);
  if (kind === 'bytes') return hexOf(value);
  return kind === 'list' ? arrayText(value) : value;
}

/** A number with all its digits. TypeScript does not know the function yet. */
const { rawJSON } = JSON as unknown as { rawJSON(text: string): object };

/**
 * JSON as the text of an array. A value that is not a list stays as it is, and the database refuses
 * it.
 */
function arrayText(text: string): string {
  const exact = (_key: string, value: unknown, context?: { source?: string }) =>
    typeof value === 'number' ? rawJSON(context!.source!) : value;
  try {
    const list: unknown = JSON.parse(text, exact);
    return Array.isArray(list) ? arrayOf(list) : text;
  } catch {
    return text;
  }
}

function arrayOf(list: readonly unknown[]): string {
  const parts = list.map((each) => {
    if (each === null) return 'NULL';
    if (Array.isArray(each)) return arrayOf(each);
    const text = typeof each === 'string' ? each : JSON.stringify(each);
    return `"${text.replace(/["\\]/g, '\\$&')}"`;
  });
  return `{${parts.join(',')}}`;
}
