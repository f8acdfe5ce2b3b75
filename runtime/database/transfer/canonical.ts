import { hash } from 'node:crypto';
import type { MovedColumn, ValueKind } from './moved-table.ts';
import { type Row, taggedText, type Value } from './value.ts';

/** Two values are the same in a column of this kind when their canonical texts are. */
function canonical(value: Value, kind: ValueKind): string | null {
  if (value === null) return null;
  const text = typeof value === 'object' ? taggedText(value) : String(value);
  switch (kind) {
    case 'decimal':
      return plainNumber(text);
    case 'real':
      return realText(text);
    case 'boolean':
      return text === '1' ? 'true' : text === '0' ? 'false' : text;
    case 'timestamp':
      return timestampText(text);
    case 'json':
    case 'list':
      return jsonText(text);
    case 'uuid':
      return text.toLowerCase();
    case 'padded':
      return text.trimEnd();
    default:
      return text;
  }
}

/** A sum over rows in any order. Equal rows give equal sums. */
export interface RowSum {
  add(row: Row): void;
  rows(): number;
  digest(): string;
}

/**
 * Adds the hashes of rows, because a database returns rows in an order of its own. They are not
 * combined by exclusive or, in which two equal rows would cancel out.
 *
 * @param columns of the row, with the kinds by which values are compared; the order does not
 * matter.
 */
export function rowSum(columns: readonly MovedColumn[]): RowSum {
  const order = columns
    .map(({ name, kind }, at) => ({ name, kind, at }))
    .sort((a, b) => (a.name < b.name ? -1 : 1));
  const lanes = new Uint32Array(8);
  let rows = 0;
  return {
    add: (row) => {
      const texts = order.map(({ kind, at }) => canonical(row[at]!, kind));
      const digest = hash('sha256', JSON.stringify(texts), 'buffer');
      for (let lane = 0; lane < 8; lane++) lanes[lane]! += digest.readUInt32LE(lane * 4);
      rows += 1;
    },
    rows: () => rows,
    digest: () => Buffer.from(lanes.buffer).toString('hex'),
  };
}

/** `1.50`, `+1.5` and `15e-1` are the same decimal. */
function plainNumber(text: string): string {
  const [, sign = '', whole = '', fraction = '', exponent = '0'] =
    /^([+-]?)(\d*)\.?(\d*)(?:e([+-]?\d+))?$/i.exec(text) ?? [];
  if (whole === '' && fraction === '') return text;
  const digits = `${whole}${fraction}`.replace(/^0+(?=\d)/, '');
  const trimmed = digits.replace(/0+$/, '');
  if (trimmed === '') return '0';
  const power = Number(exponent) - fraction.length + (digits.length - trimmed.length);
  return `${sign === '-' ? '-' : ''}${trimmed}e${power}`;
}

/** -0 and 0 are equal in both databases, and SQLite keeps no sign of zero. */
function realText(text: string): string {
  const number = Number(text);
  return text === '' || Number.isNaN(number) ? text : String(number === 0 ? 0 : number);
}

const ISO = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;

/** Times in different forms, which SQLite may have, are equal when they are the same moment. */
function timestampText(text: string): string {
  if (ISO.test(text) || /\.\d{4,}/.test(text)) return text;
  const zoned = /(z|[+-]\d\d(:?\d\d)?)$/i.test(text) ? text : `${text.replace(' ', 'T')}Z`;
  const time = new Date(zoned);
  return Number.isNaN(time.getTime()) ? text : time.toISOString();
}

/**
 * The same text for equal JSON: the order of members, the spaces and the form of numbers do not
 * matter.
 */
function jsonText(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text, exactly));
  } catch {
    return text;
  }
}

function exactly(this: unknown, _key: string, value: unknown, context?: { source?: string }) {
  if (typeof value === 'number') return `#${plainNumber(context?.source ?? String(value))}`;
  if (typeof value === 'string') return `"${value}`;
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  return Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)));
}
