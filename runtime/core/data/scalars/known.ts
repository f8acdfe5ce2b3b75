import { rawNumber } from '../sql/exact-json.ts';
import { GraphQLError } from 'graphql';
import type { ColumnType } from '@twofold/schema';
import { formatOf, isOfPackage } from './text-formats.ts';

/**
 * How a scalar is parsed and serialised. `plain` means that the answer holds exactly what the
 * database writes, so JavaScript need not touch the value.
 */
export interface ScalarCodec {
  input(value: unknown): unknown;
  output(value: unknown): unknown;
  readonly plain: boolean;
}

/**
 * The codec of a scalar that we know by name, with the names of `graphql-scalars`.
 *
 * @example knownCodec('DateTime', 'timestamp').input('2026-01-02T03:04:05+01:00') // '2026-01-02T02:04:05.000Z'
 */
export function knownCodec(name: string, type: ColumnType): ScalarCodec {
  const convert = converter(name, type);
  if (name === 'Timestamp')
    return {
      input: timestamp(name),
      output: (value) => Date.parse(timestamp(name)(value)),
      plain: false,
    };
  if (type === 'bytes')
    return {
      input: bytes(name),
      output: (value) => Buffer.from(value as Uint8Array).toString('base64'),
      plain: false,
    };
  if (name === 'BigInt') {
    const digits = (value: unknown) => String(convert(value));
    // A sum may be larger than the 64 bits of its column.
    const output = (value: unknown) =>
      typeof value === 'string' && /^-?\d+$/.test(value) ? value : digits(value);
    return { input: digits, output, plain: true };
  }
  // On the wire these are numbers, whatever their size.
  if (type === 'bigint')
    return { input: convert, output: (value) => asNumber(convert(value)), plain: true };
  return { input: convert, output: convert, plain: true };
}

/**
 * The form in own code of a scalar that the project defines: that of its column. Null and undefined
 * are left to the caller.
 *
 * @example formIn('Opened', 'timestamp')(new Date(0)) // '1970-01-01T00:00:00.000Z'
 */
export function formIn(name: string, type: ColumnType): (value: unknown) => unknown {
  const convert = formOfColumn(name, type);
  return (value) => (value === null || value === undefined ? value : convert(value));
}

function formOfColumn(name: string, type: ColumnType): Convert {
  switch (type) {
    case 'text':
      return (value) => text(name, typeof value === 'number' ? String(value) : value, () => true);
    case 'integer':
      return wholeNumber(name);
    case 'real':
      return (value) => (Number.isFinite(value) ? value : refuse(name, value));
    default:
      return converter('', type);
  }
}

const asNumber = (whole: string | number) => (typeof whole === 'string' ? rawNumber(whole) : whole);

type Convert = (value: unknown) => any;

function converter(name: string, type: ColumnType): Convert {
  switch (type) {
    case 'timestamp':
      return timestamp(name);
    case 'date':
      return date(name);
    case 'time':
      return time(name);
    case 'json':
      return json(name);
    case 'bigint':
      return wholeNumber(name);
    case 'decimal':
      return decimal(name);
    case 'uuid':
      return (value) => text(name, value, (it) => UUID.test(it)).toLowerCase();
    case 'boolean':
      return boolean(name);
    case 'integer':
      return bounded(name, true);
    case 'real':
      return bounded(name, false);
    default:
      return (value) => text(name, value, formatOf(name));
  }
}

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;
const RFC3339 = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(?:\.\d+)?(?:Z|[+-]\d{2}:\d{2})$/i;
const TIME =
  /^(?:[01]\d|2[0-3]):[0-5]\d(?::[0-5]\d(?:\.\d{1,6})?)?(?:Z|[+-](?:[01]\d|2[0-3]):[0-5]\d)?$/i;
const DECIMAL = /^[+-]?\d{1,130}(?:\.\d{1,130})?$/;

function refuse(name: string, value: unknown, wanted = `a valid ${name}`): never {
  const shown = typeof value === 'bigint' ? String(value) : (JSON.stringify(value) ?? 'The value');
  throw new GraphQLError(`${shown} is not ${wanted}`, {
    extensions: { code: 'BAD_USER_INPUT' },
  });
}

function text(name: string, value: unknown, test: (text: string) => boolean): string {
  return typeof value === 'string' && test(value) ? value : refuse(name, value);
}

/**
 * RFC 3339 with any offset, a `Date`, or milliseconds since 1970; kept in UTC with milliseconds.
 */
function timestamp(name: string): (value: unknown) => string {
  return (value) => {
    const number = typeof value === 'number' || value instanceof Date;
    if (
      !number &&
      !(typeof value === 'string' && RFC3339.test(value) && isDate(value.slice(0, 10)))
    )
      return refuse(name, value);
    const time = new Date(value as string | number | Date);
    return Number.isNaN(time.getTime()) ? refuse(name, value) : time.toISOString();
  };
}

function date(name: string): Convert {
  return (value) => {
    const given = value instanceof Date ? value.toISOString().slice(0, 10) : value;
    return typeof given === 'string' && isDate(given) ? given : refuse(name, value);
  };
}

/** Whether the calendar has this day: `2026-02-30` does not exist. */
function isDate(text: string): boolean {
  if (!/^\d{4}-\d{2}-\d{2}$/.test(text)) return false;
  const day = new Date(`${text}T00:00:00Z`);
  return !Number.isNaN(day.getTime()) && day.toISOString().slice(0, 10) === text;
}

/**
 * A time of day in the form that both databases return: in UTC for `Time`, without a time zone for
 * local times.
 */
function time(name: string): Convert {
  return (value) => {
    const [, clock = '', offset] =
      /^(.+?)(Z|[+-]\d{2}:\d{2})?$/i.exec(text(name, value, (it) => TIME.test(it))) ?? [];
    if (offset !== undefined && name !== 'Time')
      return refuse(name, value, `a valid ${name}, which has no offset`);
    const full = toUtc(clock.length === 5 ? `${clock}:00` : clock, offset);
    return full.includes('.') ? full.replace(/\.?0+$/, '') : full;
  };
}

const DAY = 1440;

/** `10:00:00` at `+02:00` is `08:00:00`. */
function toUtc(clock: string, offset = 'Z'): string {
  if (/^z$/i.test(offset)) return clock;
  const minutes = (hours: string) => Number(hours.slice(0, 2)) * 60 + Number(hours.slice(3, 5));
  const ahead = minutes(offset.slice(1)) * (offset.startsWith('-') ? -1 : 1);
  const utc = (((minutes(clock) - ahead) % DAY) + DAY) % DAY;
  const two = (number: number) => String(number).padStart(2, '0');
  return `${two(Math.floor(utc / 60))}:${two(utc % 60)}${clock.slice(5)}`;
}

function json(name: string): Convert {
  if (name === 'JSONObject') return object(name);
  if (name !== 'GeoJSON') return (value) => value;
  return (value) => (isOfPackage(name, value) ? value : refuse(name, value));
}

function object(name: string): Convert {
  return (value) =>
    typeof value === 'object' && value !== null && !Array.isArray(value)
      ? value
      : refuse(name, value);
}

/**
 * A 64-bit integer: a number where that is exact, else text. A JavaScript number beyond 2^53 - 1
 * has lost digits already and is refused.
 */
function wholeNumber(name: string): Convert {
  const largest = name === 'SafeInt' ? BigInt(Number.MAX_SAFE_INTEGER) : 2n ** 63n - 1n;
  return (value) => {
    const isExact =
      Number.isSafeInteger(value) || typeof value === 'bigint' || typeof value === 'string';
    const given = isExact ? String(value) : '';
    if (!/^-?\d{1,19}$/.test(given)) return refuse(name, value);
    const whole = BigInt(given);
    if (whole > largest || whole < -largest - 1n) return refuse(name, value);
    return Number.isSafeInteger(Number(given)) ? Number(given) : given;
  };
}

/** A double holds any decimal number of this many digits exactly. */
const EXACT_DIGITS = 15;

function isExactNumber(value: number): boolean {
  if (Number.isInteger(value)) return Number.isSafeInteger(value);
  return String(value).replace(/^-?0*\.?0*|\./g, '').length <= EXACT_DIGITS;
}

/**
 * A decimal is exact, so it is text in answers and in JavaScript. A number that may have lost
 * digits is refused.
 */
function decimal(name: string): Convert {
  return (value) => {
    const given = typeof value === 'number' && isExactNumber(value) ? String(value) : value;
    return typeof given === 'string' && DECIMAL.test(given)
      ? given.replace(/^\+/, '')
      : refuse(name, value);
  };
}

function boolean(name: string): Convert {
  return (value) => (typeof value === 'boolean' ? value : refuse(name, value, 'true or false'));
}

function bytes(name: string): Convert {
  return (value) => {
    if (value instanceof Uint8Array) return Buffer.isBuffer(value) ? value : Buffer.from(value);
    return Buffer.from(
      text(name, value, (it) => /^[A-Za-z0-9+/]*={0,2}$/.test(it) && it.length % 4 === 0),
      'base64',
    );
  };
}

/** Smallest and largest value, the ends included unless `open`. */
const BOUNDS: Readonly<Record<string, readonly [number, number]>> = {
  Port: [0, 65_535],
  Year: [0, 9999],
  Latitude: [-90, 90],
  Longitude: [-180, 180],
};

function bounded(name: string, whole: boolean): Convert {
  const [min, max] = BOUNDS[name] ?? [-Infinity, Infinity];
  return (value) => {
    const isNumber = typeof value === 'number' || typeof value === 'bigint';
    const isText = typeof value === 'string' && value.trim() !== '';
    const number = isNumber || isText ? Number(value) : NaN;
    if (!Number.isFinite(number) || (whole && !isInt32(number))) return refuse(name, value);
    return number >= min && number <= max && hasSign(name, number) ? number : refuse(name, value);
  };
}

const isInt32 = (number: number) => Number.isInteger(number) && Math.abs(number) <= 2 ** 31 - 1;

function hasSign(name: string, number: number): boolean {
  if (name.startsWith('Positive')) return number > 0;
  if (name.startsWith('Negative')) return number < 0;
  if (name.startsWith('NonPositive')) return number <= 0;
  return !(name.startsWith('NonNegative') || name.startsWith('Unsigned')) || number >= 0;
}
