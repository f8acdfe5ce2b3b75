import { type RawBuilder, sql } from 'kysely';
import type { StoredType } from './column-types.ts';

/** The function and SQL that convert the values of a column to its new type. */
export interface TypeChange {
  readonly from: StoredType;
  readonly to: StoredType;
}

/** A value after the conversion. `exact` means that nothing was lost. */
export interface Converted {
  readonly value: string | number | bigint | null;
  readonly exact: boolean;
}

/**
 * Converts a value that is not null. Returns null when it cannot become a value of the new type.
 */
type Convert = (value: never) => Converted | null;

interface Conversion {
  readonly convert: Convert;
  /** The same conversion in PostgreSQL, for values that `convert` accepts. */
  readonly postgres: (value: RawBuilder<unknown>) => RawBuilder<unknown>;
  /** Whether it accepts every value without loss: rows then need no check. */
  readonly safe?: true;
}

const exact = (value: Converted['value']): Converted => ({ value, exact: true });

const cast = (type: string) => (value: RawBuilder<unknown>) => sql`${value}::${sql.raw(type)}`;

/**
 * Every change of a column's type that can keep values, as `from>to`. A change that is not listed
 * keeps none, so rows with a value prevent it. Both databases follow this table, so that a
 * migration has the same result on both.
 */
const CONVERSIONS: Readonly<Partial<Record<`${StoredType}>${StoredType}`, Conversion>>> = {
  'integer>bigint': { convert: same, postgres: cast('bigint'), safe: true },
  'integer>real': { convert: toNumber, postgres: cast('double precision'), safe: true },
  'integer>decimal': { convert: toText, postgres: cast('numeric'), safe: true },
  'integer>text': { convert: toText, postgres: cast('text'), safe: true },
  'bigint>integer': { convert: toInteger, postgres: cast('integer') },
  'bigint>real': { convert: decimalToReal, postgres: cast('double precision') },
  'bigint>decimal': { convert: toText, postgres: cast('numeric'), safe: true },
  'bigint>text': { convert: toText, postgres: cast('text'), safe: true },
  'real>integer': {
    convert: toInteger,
    postgres: (value) => sql`round(${value}::text::numeric)::integer`,
  },
  'real>bigint': {
    convert: toBigint,
    postgres: (value) => sql`round(${value}::text::numeric)::bigint`,
  },
  'real>decimal': { convert: toDecimal, postgres: (value) => sql`${value}::text::numeric` },
  'real>text': { convert: toDecimal, postgres: (value) => sql`${value}::text::numeric::text` },
  'decimal>integer': { convert: toInteger, postgres: (value) => sql`round(${value})::integer` },
  'decimal>bigint': { convert: toBigint, postgres: (value) => sql`round(${value})::bigint` },
  'decimal>real': { convert: decimalToReal, postgres: cast('double precision') },
  'decimal>text': { convert: toText, postgres: cast('text'), safe: true },
  'text>integer': { convert: whole(toInteger), postgres: cast('integer') },
  'text>bigint': { convert: whole(toBigint), postgres: cast('bigint') },
  'text>real': { convert: textToReal, postgres: cast('double precision') },
  'text>decimal': { convert: textToDecimal, postgres: cast('numeric') },
  'text>boolean': { convert: textToBoolean, postgres: cast('boolean') },
  'text>timestamp': { convert: textToTimestamp, postgres: cast('timestamptz(3)') },
  'text>date': { convert: textToDate, postgres: cast('date') },
  'text>time': { convert: textToTime, postgres: cast('time') },
  'text>uuid': { convert: textToUuid, postgres: cast('uuid') },
  'boolean>text': { convert: booleanToText, postgres: cast('text'), safe: true },
  'timestamp>date': {
    convert: timestampToDate,
    postgres: (value) => sql`(${value} at time zone 'UTC')::date`,
  },
  'timestamp>text': {
    convert: same,
    postgres: (value) => sql`to_char(${value} at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`,
    safe: true,
  },
  'date>timestamp': {
    convert: (value: string) => exact(`${value}T00:00:00.000Z`),
    postgres: (value) => sql`${value}::timestamp at time zone 'UTC'`,
    safe: true,
  },
  'date>text': {
    convert: same,
    postgres: (value) => sql`to_char(${value}, 'YYYY-MM-DD')`,
    safe: true,
  },
  'time>text': { convert: same, postgres: cast('text'), safe: true },
  'uuid>text': { convert: same, postgres: cast('text'), safe: true },
};

/** Whether a change of type cannot lose or refuse any value. */
export function isSafe(from: StoredType, to: StoredType): boolean {
  return from === to || CONVERSIONS[`${from}>${to}`]?.safe === true;
}

/**
 * Converts a value from one type to another.
 *
 * @example
 * convertValue('text', 'integer', '7') // { value: 7, exact: true }
 * convertValue('real', 'integer', 7.5) // { value: 8, exact: false }
 * convertValue('text', 'integer', '7.5') // null
 */
export function convertValue(from: StoredType, to: StoredType, value: unknown): Converted | null {
  if (from === to) return exact(value as Converted['value']);
  return CONVERSIONS[`${from}>${to}`]?.convert(value as never) ?? null;
}

/**
 * SQL for the conversion in PostgreSQL, for values that `convertValue` accepts; null when it
 * accepts none.
 */
export function convertOnPostgres(
  from: StoredType,
  to: StoredType,
  value: RawBuilder<unknown>,
): RawBuilder<unknown> {
  return CONVERSIONS[`${from}>${to}`]?.postgres(value) ?? sql`null`;
}

function same(value: string | number | bigint): Converted {
  return exact(value);
}

function toText(value: string | number | bigint): Converted {
  return exact(String(value));
}

function toNumber(value: string | number | bigint): Converted {
  return exact(Number(value));
}

/**
 * The decimal digits of a number: `-12.50` is `{ negative: true, whole: '12', fraction: '50' }`.
 */
interface Digits {
  readonly negative: boolean;
  readonly whole: string;
  readonly fraction: string;
}

/**
 * Reads a number with or without an exponent, digit by digit. Null when the text is not a number.
 */
function readDigits(text: string): Digits | null {
  const match = /^([+-]?)(\d+)(?:\.(\d*))?(?:e([+-]?\d{1,3}))?$/i.exec(text);
  if (!match) return null;
  const [, sign, first = '', rest = '', exponent = '0'] = match;
  const shift = Number(exponent);
  const digits =
    shift >= 0
      ? { whole: first + rest.slice(0, shift).padEnd(shift, '0'), fraction: rest.slice(shift) }
      : {
          whole: first.slice(0, shift),
          fraction: first.slice(shift).padStart(-shift, '0') + rest,
        };
  const whole = digits.whole.replace(/^0+(?=\d)/, '') || '0';
  const isZero = /^0*$/.test(whole + digits.fraction);
  return { negative: sign === '-' && !isZero, whole, fraction: digits.fraction };
}

/** Rounds half away from zero, as PostgreSQL rounds decimals. */
function rounded({ negative, whole, fraction }: Digits): { value: bigint; exact: boolean } {
  const size = BigInt(whole) + (fraction !== '' && fraction[0]! >= '5' ? 1n : 0n);
  return { value: negative ? -size : size, exact: /^0*$/.test(fraction) };
}

function toInteger(value: string | number | bigint): Converted | null {
  const converted = toBigint(value);
  if (converted === null || typeof converted.value !== 'bigint') return null;
  const fits = converted.value >= -(2n ** 31n) && converted.value < 2n ** 31n;
  return fits ? { ...converted, value: Number(converted.value) } : null;
}

function toBigint(value: string | number | bigint): Converted | null {
  const digits = readDigits(String(value));
  if (!digits) return null;
  const converted = rounded(digits);
  return converted.value >= -(2n ** 63n) && converted.value < 2n ** 63n ? converted : null;
}

/** Accepts only text that is a whole number: text is never rounded. */
function whole(convert: (value: string) => Converted | null): Convert {
  return (value: string) => (/^[+-]?\d+$/.test(value) ? convert(value) : null);
}

/** Writes a float without an exponent. NaN and infinity are not decimals. */
function toDecimal(value: number): Converted | null {
  const digits = readDigits(String(value));
  return digits ? exact(writeDigits(digits)) : null;
}

function writeDigits({ negative, whole, fraction }: Digits): string {
  return `${negative ? '-' : ''}${whole}${fraction === '' ? '' : `.${fraction}`}`;
}

function textToDecimal(value: string): Converted | null {
  if (!/^[+-]?\d{1,130}(\.\d{1,130})?$/.test(value)) return null;
  return exact(writeDigits(readDigits(value)!));
}

function decimalToReal(value: string | number | bigint): Converted | null {
  const digits = readDigits(String(value));
  const number = Number(value);
  if (!digits || !Number.isFinite(number)) return null;
  return {
    value: number,
    exact: withoutZeros(digits) === withoutZeros(readDigits(String(number))!),
  };
}

function withoutZeros({ fraction, ...digits }: Digits): string {
  return writeDigits({ ...digits, fraction: fraction.replace(/0+$/, '') });
}

/** Refuses text that a float would not represent digit by digit: text is never rounded. */
function textToReal(value: string): Converted | null {
  const converted = decimalToReal(value);
  return converted?.exact ? converted : null;
}

function textToBoolean(value: string): Converted | null {
  return value === 'true' || value === 'false' ? exact(value === 'true' ? 1 : 0) : null;
}

function booleanToText(value: boolean | number | bigint): Converted {
  return exact(value ? 'true' : 'false');
}

const TIMESTAMP =
  /^(\d{4}-\d{2}-\d{2})T\d{2}:\d{2}:\d{2}(?:\.\d{1,3}0*)?(?:Z|[+-](?:0\d|1[0-4]):\d{2})$/i;

/** RFC 3339 with at most milliseconds, as the server accepts it for a DateTime. */
function textToTimestamp(value: string): Converted | null {
  const day = TIMESTAMP.exec(value)?.[1];
  if (day === undefined || !isDay(day)) return null;
  const time = new Date(value);
  return Number.isNaN(time.getTime()) ? null : exact(time.toISOString());
}

function textToDate(value: string): Converted | null {
  return isDay(value) ? exact(value) : null;
}

/** Whether the calendar has this day. PostgreSQL's calendar begins with the year 1. */
function isDay(text: string): boolean {
  if (!/^\d{4}-\d{2}-\d{2}$/.test(text) || text.startsWith('0000')) return false;
  const day = new Date(`${text}T00:00:00Z`);
  return !Number.isNaN(day.getTime()) && day.toISOString().startsWith(text);
}

function textToTime(value: string): Converted | null {
  if (!/^(?:[01]\d|2[0-3]):[0-5]\d(?::[0-5]\d(?:\.\d{1,6})?)?$/.test(value)) return null;
  const full = value.length === 5 ? `${value}:00` : value;
  return exact(full.includes('.') ? full.replace(/\.?0+$/, '') : full);
}

function textToUuid(value: string): Converted | null {
  const isUuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(value);
  return isUuid ? exact(value.toLowerCase()) : null;
}

/** A timestamp at midnight UTC becomes a day without loss; any other one loses its time. */
function timestampToDate(value: string): Converted {
  const [day = '', time = ''] = value.split('T');
  return { value: day, exact: /^00:00:00(\.0*)?Z$/.test(time) };
}
