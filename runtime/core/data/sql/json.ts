import { isoTime } from './time-sql.ts';
import { KEY_PART } from '../../store/sqlite/key-part.ts';
import type { Column } from '@twofold/schema';
import type { Dialect } from '../../store/store.ts';
import { joinSql, literal, sql, type Part, type Sql } from './fragment.ts';

/** One member of a JSON object that the database writes. */
export interface Pair {
  readonly key: string;
  readonly value: Sql;
}

/** How one database writes JSON. */
export interface Json {
  object(pairs: readonly Pair[]): Sql;
  /** Collects `value` over the rows of the surrounding query; `only` filters the rows. */
  list(value: Sql, only?: Sql): Sql;
  array(values: readonly Sql[]): Sql;
  /** `true` or `false` for a condition that is never null. */
  boolean(condition: Sql): Sql;
  /** The value in a form that can stand beside JSON of other types, for example in one `case`. */
  any(value: Sql): Sql;
  /** A constant. */
  constant(json: string): Sql;
  /** The value of a column in the form that the answer shows. */
  column(reference: Part, column: Column, prefix?: string): Sql;
  /** The text of a composite key: `DE:BY`. */
  key(parts: readonly KeyColumn[], prefix?: string): Sql;
  /** Encodes a JSON text as hexadecimal digits. */
  hex(json: Sql): Sql;
}

/** One column of a composite key. */
export interface KeyColumn {
  readonly reference: string;
  readonly column: Column;
}

/** PostgreSQL takes at most 100 arguments in a call, SQLite 1000. */
const PAIRS = { postgres: 50, sqlite: 400 } as const;

const sqlite: Json = {
  object: (pairs) =>
    chunked(
      pairs,
      PAIRS.sqlite,
      (some) => sql`json_object(${arguments_(some)})`,
      (a, b) => sql`json(substr(${a}, 1, length(${a}) - 1) || ',' || substr(${b}, 2))`,
    ),
  list: (value, only) => sql`json_group_array(${value})${only ? sql` filter (where ${only})` : ''}`,
  array: (values) => sql`json_array(${joinSql(values, ', ')})`,
  boolean: (condition) => sql`json(case when ${condition} then 'true' else 'false' end)`,
  any: (value) => value,
  constant: (json) => sql`json(${literal(json)})`,
  column: sqliteColumn,
  key: (parts, prefix) =>
    keyText(parts, prefix, ({ reference, column }) =>
      isPlainPart(column) ? sql`cast(${reference} as text)` : sql`${KEY_PART}(${reference})`,
    ),
  hex: (json) => sql`hex(${json})`,
};

const postgres: Json = {
  object: (pairs) =>
    chunked(
      pairs,
      PAIRS.postgres,
      (some) => sql`json_build_object(${arguments_(some)})`,
      (a, b) => sql`(left((${a})::text, -1) || ',' || substr((${b})::text, 2))::json`,
    ),
  list: (value, only) =>
    sql`coalesce(json_agg(${value})${only ? sql` filter (where ${only})` : ''}, '[]'::json)`,
  array: (values) => sql`json_build_array(${joinSql(values, ', ')})`,
  boolean: (condition) => sql`(${condition})`,
  any: (value) => sql`to_json(${value})`,
  constant: (json) => sql`${literal(json)}::json`,
  column: postgresColumn,
  key: (parts, prefix) =>
    keyText(parts, prefix, ({ reference, column }) =>
      isPlainPart(column) ? sql`${reference}::text` : percentEncoded(reference),
    ),
  hex: (json) => sql`encode(convert_to((${json})::text, 'UTF8'), 'hex')`,
};

/** Whether the values of a column never need percent-encoding. */
const isPlainPart = ({ key, type }: Column): boolean =>
  key === 'integer' || key === 'uuid' || (type === 'id' && key === undefined) || type === 'integer';

function keyText(
  parts: readonly KeyColumn[],
  prefix: string | undefined,
  one: (part: KeyColumn) => Sql,
): Sql {
  const text = joinSql(
    parts.map((part) => (parts.length === 1 ? whole(part) : one(part))),
    ` || ':' || `,
  );
  return prefix === undefined ? text : sql`${literal(`${prefix}:`)} || ${text}`;
}

const whole = ({ reference }: KeyColumn): Sql => sql`cast(${reference} as text)`;

/** What JavaScript's `encodeURIComponent` makes of a text. */
function percentEncoded(reference: string): Sql {
  const text = `${reference}::text`;
  const bytes = `convert_to(${text}, 'UTF8')`;
  const byte = `get_byte(${bytes}, n)`;
  const kept = `${byte} < 128 and chr(greatest(${byte}, 1)) ~ '[A-Za-z0-9_.!~*''()-]'`;
  const encoded = `case when ${kept} then chr(${byte}) else '%' || upper(lpad(to_hex(${byte}), 2, '0')) end`;
  return sql`case when ${text} ~ '[^A-Za-z0-9_.!~*''()-]' then (select string_agg(${encoded}, '' order by n) from generate_series(0, octet_length(${bytes}) - 1) n) else ${text} end`;
}

export const jsonOf: Readonly<Record<Dialect, Json>> = { sqlite, postgres };

const arguments_ = (pairs: readonly Pair[]) =>
  joinSql(
    pairs.map(({ key, value }) => sql`${literal(key)}, ${value}`),
    ', ',
  );

function chunked(
  pairs: readonly Pair[],
  size: number,
  object: (pairs: readonly Pair[]) => Sql,
  merge: (a: Sql, b: Sql) => Sql,
): Sql {
  if (pairs.length <= size) return object(pairs);
  return merge(object(pairs.slice(0, size)), chunked(pairs.slice(size), size, object, merge));
}

/** Scalars that are numbers on the wire though they are kept as whole 64-bit numbers. */
const WIDE_NUMBERS = new Set(['Long', 'SafeInt']);

/** Whether the values are text in JSON and in own code: keys that are no `Int`, wide whole numbers. */
export const isDigits = ({ type, scalar }: Pick<Column, 'type' | 'scalar'>): boolean =>
  type === 'id' ? scalar !== 'Int' : type === 'bigint' && !WIDE_NUMBERS.has(scalar);

/** The value of an enum in the schema, where the database stores another text. */
function schemaValue(reference: Sql, storedValues: Readonly<Record<string, string>>): Sql {
  const cases = Object.entries(storedValues).map(
    ([value, stored]) => sql` when ${literal(stored)} then ${literal(value)}`,
  );
  return sql`case ${reference}${joinSql(cases, '')} else ${reference} end`;
}

function sqliteColumn(reference: Part, column: Column, prefix?: string): Sql {
  if (prefix !== undefined) return sql`${literal(`${prefix}:`)} || ${reference}`;
  if (column.storedValues) return schemaValue(sql`${reference}`, column.storedValues);
  if (column.scalar === 'ID' && !column.list) return sql`cast(${reference} as text)`;
  if (column.timeForm) return isoTime(reference, column.type === 'date' ? 'day' : 'time');
  switch (column.type) {
    case 'decimal':
      return sql`cast(${reference} as text)`;
    case 'id':
    case 'bigint':
      return isDigits(column) ? sql`cast(${reference} as text)` : sql`${reference}`;
    case 'boolean':
      return sql`json(case ${reference} when 1 then 'true' when 0 then 'false' end)`;
    case 'json':
      return sql`json(${reference})`;
    case 'bytes':
      // SQLite's `hex(null)` is an empty text, not null.
      return sql`case when ${reference} is not null then lower(hex(${reference})) end`;
    default:
      return sql`${reference}`;
  }
}

function postgresColumn(reference: Part, column: Column, prefix?: string): Sql {
  if (prefix !== undefined) return sql`${literal(`${prefix}:`)} || ${reference}`;
  if (column.storedValues) return schemaValue(sql`${reference}::text`, column.storedValues);
  if (column.scalar === 'ID' && !column.list) return sql`${reference}::text`;
  switch (column.type) {
    case 'decimal':
      return sql`${reference}::text`;
    case 'id':
    case 'bigint':
      return isDigits(column) ? sql`${reference}::text` : sql`${reference}`;
    case 'timestamp':
      return sql`to_char(${reference} at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`;
    case 'bytes':
      return sql`encode(${reference}, 'hex')`;
    default:
      return sql`${reference}`;
  }
}
