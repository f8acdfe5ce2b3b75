import { last } from '../present.ts';
const SPANS: Readonly<Record<string, number>> = {
  d: 86_400_000,
  h: 3_600_000,
  m: 60_000,
  s: 1000,
  ms: 1,
};
const SIZES: Readonly<Record<string, number>> = {
  TiB: 2 ** 40,
  GiB: 2 ** 30,
  MiB: 2 ** 20,
  KiB: 2 ** 10,
  B: 1,
};

/** A sliding window: at most `count` in `window` milliseconds. */
export interface RateLimit {
  readonly count: number;
  readonly window: number;
}

/**
 * Parses a duration into milliseconds: a whole number with the unit ms, s, m, h or d. Null for any
 * other text.
 *
 * @example
 * parseDuration('15m') // 900000
 */
export function parseDuration(text: string): number | null {
  const [, count, unit = ''] = /^(\d+)(ms|s|m|h|d)$/.exec(text) ?? [];
  return count === undefined ? null : Number(count) * (SPANS[unit] as number);
}

/** The milliseconds of a duration that was checked before. */
export const duration = (text: string): number => parseDuration(text) ?? 0;

/**
 * Parses a size into bytes; a number already is a count of bytes.
 *
 * @example
 * size('1MiB') // 1048576
 */
export function size(value: string | number): number {
  if (typeof value === 'number') return value;
  const [, count = '0', unit = 'B'] = /^(\d+)([KMGT]?i?B)$/.exec(value) ?? [];
  return Number(count) * (SIZES[unit] ?? 1);
}

/**
 * Parses a rate limit; the window slides.
 *
 * @example
 * rateLimit('60/1m') // { count: 60, window: 60000 }
 */
export function rateLimit(text: string): RateLimit {
  const [count = '0', window = '0ms'] = text.split('/');
  return { count: Number(count), window: duration(window) };
}

/**
 * Milliseconds as the manifest writes them, in the largest unit that divides them.
 *
 * @example
 * durationText(900_000) // '15m'
 */
export const durationText = (milliseconds: number): string => textIn(SPANS, milliseconds);

/**
 * Bytes as the manifest writes them, in the largest unit that divides them.
 *
 * @example
 * sizeText(1_048_576) // '1MiB'
 */
export const sizeText = (bytes: number): string => textIn(SIZES, bytes);

/** `units` starts with the largest and ends with 1. */
function textIn(units: Readonly<Record<string, number>>, amount: number): string {
  const known = Object.entries(units);
  const [unit, factor] =
    known.find(([, each]) => amount >= each && amount % each === 0) ?? last(known);
  return `${amount / factor}${unit}`;
}
