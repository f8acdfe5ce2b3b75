import { oneOf } from './rules.ts';

/** The bounds of a number, as in a JSON Schema. */
export interface Bounds {
  readonly minimum?: number;
  readonly maximum?: number;
  readonly exclusiveMinimum?: number;
  readonly exclusiveMaximum?: number;
}

/** Numbers with more digits before the point would lose some in JavaScript. */
const LARGEST_DIGITS = 15;
const MAX_DECIMALS = 12;
/** Digits before and after the point that a number of JavaScript can tell apart. */
const ALL_DIGITS = 16;
const USUAL_DECIMALS = 2;

/**
 * The grammar of the numbers within bounds, or null when there are none. Numbers with a fraction
 * have a fixed number of decimals, because a range of digits can be written as a grammar only for
 * texts of a known length.
 *
 * @example numberRange({ minimum: 1, maximum: 31 }, true) // (([1-9]) | ([1-2] [0-9]) | ([3] [0-1]))
 */
export function numberRange(bounds: Bounds, isInteger: boolean): string | null {
  const first = isInteger ? 0 : Math.max(USUAL_DECIMALS, ...given(bounds).map(decimalsOf));
  const last = isInteger ? 0 : Math.min(MAX_DECIMALS, ALL_DIGITS - digitsOf(given(bounds)));
  for (let decimals = Math.min(first, last); decimals <= last; decimals += 1) {
    const [low, high] = scaled(bounds, decimals);
    if (low <= high) return between(low, high, decimals);
  }
  return null;
}

const given = ({ minimum, maximum, exclusiveMinimum, exclusiveMaximum }: Bounds): number[] =>
  [minimum, maximum, exclusiveMinimum, exclusiveMaximum].filter((bound) => bound !== undefined);

/** The digits before the point of the largest of these numbers. */
function digitsOf(bounds: readonly number[]): number {
  const largest = Math.max(1, ...bounds.map(Math.abs));
  return Math.min(ALL_DIGITS, Math.floor(Math.log10(largest)) + 1);
}

function decimalsOf(bound: number): number {
  for (let decimals = 0; decimals < MAX_DECIMALS; decimals += 1)
    if (Number(bound.toFixed(decimals)) === bound) return decimals;
  return MAX_DECIMALS;
}

/** The lowest and the highest number in units of the last decimal. */
function scaled(bounds: Bounds, decimals: number): [low: bigint, high: bigint] {
  const { minimum = -Infinity, maximum = Infinity } = bounds;
  const { exclusiveMinimum = -Infinity, exclusiveMaximum = Infinity } = bounds;
  const value = (units: bigint) => Number(units) / 10 ** decimals;
  const unitsOf = (bound: number) => {
    // A number of nines alone is the shortest grammar for the end of all numbers.
    const nines = 10n ** BigInt(LARGEST_DIGITS + decimals) - 1n;
    if (Math.abs(bound) >= 10 ** LARGEST_DIGITS) return bound < 0 ? -nines : nines;
    return BigInt(bound.toFixed(decimals).replace('.', ''));
  };
  const [lowest, highest] = [
    Math.max(minimum, exclusiveMinimum),
    Math.min(maximum, exclusiveMaximum),
  ];
  // No number that the grammar can write is so large, and the search below would never end.
  const largest = 10 ** LARGEST_DIGITS;
  if (lowest >= largest || highest <= -largest || lowest > highest) return [1n, 0n];
  let low = unitsOf(lowest);
  while (value(low) < minimum || value(low) <= exclusiveMinimum) low += 1n;
  let high = unitsOf(highest);
  while (value(high) > maximum || value(high) >= exclusiveMaximum) high -= 1n;
  return [low, high];
}

function between(low: bigint, high: bigint, decimals: number): string {
  const negative = low < 0n ? texts(high < 0n ? -high : 1n, -low, decimals) : [];
  const positive = high >= 0n ? texts(low > 0n ? low : 0n, high, decimals) : [];
  return oneOf([
    ...negative.map((text) => `("-" ${text})`),
    ...positive.map((text) => `(${text})`),
  ]);
}

/** The grammars of the numbers from `low` to `high`, none of which is negative. */
function texts(low: bigint, high: bigint, decimals: number): string[] {
  const shortest = decimals + 1;
  const found: string[] = [];
  const longest = Math.max(shortest, String(high).length);
  for (let length = Math.max(shortest, String(low).length); length <= longest; length += 1) {
    // Only a number of the shortest length may begin with a zero.
    const least = length === shortest ? 0n : 10n ** BigInt(length - 1);
    const most = 10n ** BigInt(length) - 1n;
    const from = low > least ? low : least;
    const to = high < most ? high : most;
    if (from > to) continue;
    const padded = (units: bigint) => String(units).padStart(length, '0');
    for (const digits of sameLength(padded(from), padded(to)))
      found.push(withPoint(digits, decimals));
  }
  return found;
}

function withPoint(digits: readonly string[], decimals: number): string {
  const classes = digits.map((digit) => `[${digit}]`);
  if (decimals > 0) classes.splice(classes.length - decimals, 0, '"."');
  return classes.join(' ');
}

/** Ranges of digits, place by place, of all numbers between two texts of the same length. */
function sameLength(from: string, to: string): string[][] {
  if (from === '') return [[]];
  const [first, last] = [from[0] as string, to[0] as string];
  const [after, until] = [from.slice(1), to.slice(1)];
  const before = (digit: string, rest: readonly string[][]) => rest.map((each) => [digit, ...each]);
  if (first === last) return before(first, sameLength(after, until));
  const zeros = '0'.repeat(after.length);
  const nines = '9'.repeat(after.length);
  const lower = after === zeros ? [] : before(first, sameLength(after, nines));
  const upper = until === nines ? [] : before(last, sameLength(zeros, until));
  const [low, high] = [
    Number(first) + (lower.length > 0 ? 1 : 0),
    Number(last) - (upper.length > 0 ? 1 : 0),
  ];
  const middle = low > high ? [] : [[`${low}-${high}`, ...after].map((d, i) => (i ? '0-9' : d))];
  return [...lower, ...middle, ...upper];
}
