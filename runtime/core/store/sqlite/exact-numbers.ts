import type { DatabaseSync } from 'node:sqlite';

/**
 * SQL functions for whole numbers beyond 64 bits and for decimals, which SQLite keeps as text. Its
 * own `sum` fails beyond 64 bits, and its casts round.
 */
export const EXACT = {
  /** Aggregates of decimals. */
  sum: 'twofold_sum',
  min: 'twofold_min',
  max: 'twofold_max',
  /** The sum of 64-bit numbers, from the sums of their upper and lower 32 bits. */
  wide: 'twofold_wide',
  /** A sum divided by a count, as decimal text. */
  ratio: 'twofold_ratio',
  /** The same text for equal numbers: `1.50` is `1.5`. */
  plain: 'twofold_plain',
  /** -1, 0 or 1; null when one of the two is null. */
  compare: 'twofold_compare',
  /** A text whose order is that of the numbers. */
  sortable: 'twofold_sortable',
  /** The whole number as text; null when it has a fraction. */
  digits: 'twofold_digits',
  /** The 64-bit integer; null when it is none. */
  integer: 'twofold_integer',
  /** The new value of an operator; text where it is beyond 64 bits. */
  plus: 'twofold_plus',
  minus: 'twofold_minus',
  times: 'twofold_times',
  /** The nearest 64-bit float; null when it is too large. */
  float: 'twofold_float',
} as const;

/** A decimal number: `units` times ten to the power of `-scale`. */
interface Decimal {
  readonly units: bigint;
  readonly scale: number;
}

type Value = string | number | bigint | null | Uint8Array;

const FORM = /^\s*([+-]?)(\d*)\.?(\d*)(?:e([+-]?\d+))?\s*$/i;

/** @example parse('1.50') // { units: 150n, scale: 2 } */
function parse(value: Value): Decimal | undefined {
  if (typeof value === 'bigint') return { units: value, scale: 0 };
  if (value === null) return undefined;
  const [, sign, whole = '', fraction = '', power = '0'] = FORM.exec(String(value)) ?? [];
  if (whole + fraction === '') return undefined;
  const scale = fraction.length - Number(power);
  if (Math.abs(scale) > MAX_SCALE) return undefined;
  const digits = BigInt(whole + fraction) * (sign === '-' ? -1n : 1n);
  return scale < 0 ? { units: digits * tenTo(-scale), scale: 0 } : { units: digits, scale };
}

/** PostgreSQL's `numeric` has at most 16,383 digits behind the point. */
const MAX_SCALE = 16_383;

const tenTo = (power: number): bigint => 10n ** BigInt(power);

const unitsAt = ({ units, scale }: Decimal, to: number): bigint =>
  to === scale ? units : units * tenTo(to - scale);

function add(a: Decimal, b: Decimal): Decimal {
  const scale = Math.max(a.scale, b.scale);
  return { units: unitsAt(a, scale) + unitsAt(b, scale), scale };
}

function order(a: Decimal, b: Decimal): -1 | 0 | 1 {
  const scale = Math.max(a.scale, b.scale);
  const difference = unitsAt(a, scale) - unitsAt(b, scale);
  return difference < 0n ? -1 : difference > 0n ? 1 : 0;
}

function print({ units, scale }: Decimal): string {
  const digits = String(units < 0n ? -units : units).padStart(scale + 1, '0');
  const sign = units < 0n ? '-' : '';
  return scale === 0 ? sign + digits : `${sign}${digits.slice(0, -scale)}.${digits.slice(-scale)}`;
}

/** Without zeros at the end of the fraction, as PostgreSQL's `trim_scale`. */
function trimmed({ units, scale }: Decimal): Decimal {
  if (units === 0n) return { units, scale: 0 };
  let [left, places] = [units, scale];
  while (places > 0 && left % 10n === 0n) [left, places] = [left / 10n, places - 1];
  return { units: left, scale: places };
}

/** Digits behind the point that an average has more than its sum. */
export const AVERAGE_PLACES = 20;

/** Rounded half away from zero, as PostgreSQL rounds. */
function divide({ units, scale }: Decimal, count: bigint): Decimal {
  const scaled = (units < 0n ? -units : units) * tenTo(AVERAGE_PLACES) * 2n;
  const rounded = (scaled + count) / (2n * count);
  return { units: units < 0n ? -rounded : rounded, scale: scale + AVERAGE_PLACES };
}

/** Sign and number of digits come first, so that the texts sort as the numbers. */
function sortable(value: Decimal): string {
  const { units, scale } = trimmed(value);
  if (units === 0n) return '1';
  const negative = units < 0n;
  const digits = String(negative ? -units : units);
  const size = digits.length - scale + 50_000;
  if (!negative) return `2${String(size).padStart(6, '0')}${digits}`;
  // The nines' complement turns the order around; `~` sorts behind every digit.
  const turned = digits.replace(/\d/g, (digit) => String(9 - Number(digit)));
  return `0${String(999_999 - size).padStart(6, '0')}${turned}~`;
}

const LEAST = -(2n ** 63n);
const MOST = 2n ** 63n - 1n;

const functions: Readonly<Record<string, (...values: Value[]) => Value>> = {
  [EXACT.wide]: (high, low) =>
    high === null ? null : String(BigInt(high as bigint) * 4_294_967_296n + BigInt(low as bigint)),
  [EXACT.ratio]: (sum, count) => {
    const value = parse(sum!);
    return value && count ? print(trimmed(divide(value, BigInt(count as bigint)))) : null;
  },
  [EXACT.plain]: (value) => whenNumber(value!, (number) => print(trimmed(number)), value!),
  [EXACT.sortable]: (value) => whenNumber(value!, sortable),
  [EXACT.compare]: compare,
  [EXACT.digits]: (value) =>
    whenNumber(value!, (number) => {
      const { units, scale } = trimmed(number);
      return scale === 0 ? String(units) : null;
    }),
  [EXACT.integer]: (value) =>
    whenNumber(value!, (number) => {
      const { units, scale } = trimmed(number);
      return scale === 0 && units >= LEAST && units <= MOST ? units : null;
    }),
  [EXACT.plus]: (a, b) => changed(a!, b!, add),
  [EXACT.minus]: (a, b) =>
    changed(a!, b!, (from, { units, scale }) => add(from, { units: -units, scale })),
  [EXACT.times]: (a, b) =>
    changed(a!, b!, (left, right) => ({
      units: left.units * right.units,
      scale: left.scale + right.scale,
    })),
  [EXACT.float]: (value) => {
    const float = Number(value);
    return value === null || !Number.isFinite(float) ? null : float;
  },
};

/** A whole number stays one, because a decimal is kept as text. */
function changed(a: Value, b: Value, by: (a: Decimal, b: Decimal) => Decimal): Value {
  const [left, right] = [parse(a), parse(b)];
  if (!left || !right) return null;
  const result = by(left, right);
  const { units, scale } = typeof a === 'bigint' ? trimmed(result) : result;
  const whole = typeof a === 'bigint' && scale === 0 && units >= LEAST && units <= MOST;
  return whole ? units : print({ units, scale });
}

function whenNumber(
  value: Value,
  then: (number: Decimal) => Value,
  otherwise: Value = null,
): Value {
  const number = parse(value);
  return number ? then(number) : otherwise;
}

/** The figure `a` is exact unless it is a float. `b` is the number that the caller wrote. */
function compare(a: Value = null, b: Value = null): Value {
  if (a === null || b === null) return null;
  if (typeof a === 'number') return Math.sign(a - Number(b));
  const [left, right] = [parse(a), parse(b)];
  return left && right ? order(left, right) : null;
}

/** The state of an aggregate of decimals. */
interface AggregateState {
  value: Decimal | undefined;
}

/** Of equal numbers the later one is kept, as PostgreSQL does: `1.5`, `1.50`. */
const aggregates = {
  [EXACT.sum]: (a: Decimal, b: Decimal) => add(a, b),
  [EXACT.min]: (a: Decimal, b: Decimal) => (order(b, a) <= 0 ? b : a),
  [EXACT.max]: (a: Decimal, b: Decimal) => (order(b, a) >= 0 ? b : a),
};

/** Adds the functions of `EXACT` to a connection. */
export function addExactNumbers(database: DatabaseSync): void {
  const options = { deterministic: true, useBigIntArguments: true, varargs: false } as const;
  for (const [name, run] of Object.entries(functions)) {
    const two = run.length === 2 || name === EXACT.compare;
    database.function(
      name,
      options,
      (two ? (a: Value, b: Value) => run(a, b) : (a: Value) => run(a)) as never,
    );
  }
  for (const [name, join] of Object.entries(aggregates))
    database.aggregate(name, {
      useBigIntArguments: true,
      start: (): AggregateState => ({ value: undefined }),
      step: (found: AggregateState, value: unknown) => {
        const number = parse(value as Value);
        if (number) found.value = found.value ? join(found.value, number) : number;
        return found;
      },
      result: ({ value }: AggregateState) => (value ? print(value) : null),
    } as never);
}
