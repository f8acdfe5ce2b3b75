import type { ColumnType } from './model.ts';

const WHOLE = ['smallint', 'integer', 'bigint'];
const TEXT = ['text', 'character varying', 'character', 'citext', 'name'];

/** The types of PostgreSQL that fit each type of column. */
const FITTING: Readonly<Record<ColumnType, readonly string[]>> = {
  id: [...WHOLE, ...TEXT, 'uuid', 'numeric', 'date'],
  json: ['json', 'jsonb'],
  text: TEXT,
  integer: ['smallint', 'integer'],
  bigint: WHOLE,
  real: ['real', 'double precision', ...WHOLE],
  decimal: ['numeric', ...WHOLE],
  boolean: ['boolean'],
  timestamp: ['timestamp with time zone', 'timestamp without time zone'],
  date: ['date'],
  time: ['time without time zone', 'time with time zone'],
  uuid: ['uuid'],
  bytes: ['bytea'],
};

const KNOWN: ReadonlySet<string> = new Set(Object.values(FITTING).flat());

const ALIASES: Readonly<Record<string, string>> = {
  varchar: 'character varying',
  char: 'character',
  bpchar: 'character',
  int: 'integer',
  int2: 'smallint',
  int4: 'integer',
  int8: 'bigint',
  bool: 'boolean',
  decimal: 'numeric',
  float4: 'real',
  float8: 'double precision',
  timestamptz: 'timestamp with time zone',
  timestamp: 'timestamp without time zone',
  timetz: 'time with time zone',
  time: 'time without time zone',
  serial: 'integer',
  bigserial: 'bigint',
};

/**
 * The name that PostgreSQL's catalog has for a type: without parameters and schema.
 *
 * @example canonicalType('varchar(20)') // 'character varying'
 */
export function canonicalType(text: string): string {
  const plain = text
    .replaceAll('"', '')
    .replace(/^\w+\./, '')
    .toLowerCase();
  const array = /(?:\[\d*\])+$/.test(plain);
  const word = plain
    .replace(/(?:\[\d*\])+$/, '')
    .replace(/ ?\(\s*\d+(?:\s*,\s*\d+)*\s*\)/, '')
    .replace(/\s+/g, ' ')
    .trim();
  return `${ALIASES[word] ?? word}${array ? '[]' : ''}`;
}

/**
 * Whether a column of the model can hold what a type of PostgreSQL holds; undefined for a type that
 * only the database knows: an enum, a domain, an extension's.
 *
 * @example fitsDatabaseType({ type: 'integer', list: false }, 'text') // false
 */
export function fitsDatabaseType(
  { type, list }: { readonly type: ColumnType; readonly list: boolean },
  written: string,
): boolean | undefined {
  const name = canonicalType(written);
  if (name.endsWith('[]')) return list;
  if (list) return FITTING.json.includes(name) ? true : KNOWN.has(name) ? false : undefined;
  return KNOWN.has(name) ? FITTING[type].includes(name) : undefined;
}
