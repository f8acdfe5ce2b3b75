import type { RateLimit } from '../model.ts';

const UNITS: Readonly<Record<string, number>> = {
  ms: 1,
  s: 1000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
};
const SIZES: Readonly<Record<string, number>> = {
  B: 1,
  KiB: 2 ** 10,
  MiB: 2 ** 20,
  GiB: 2 ** 30,
  TiB: 2 ** 40,
};

/**
 * Milliseconds.
 *
 * @example
 * duration('15m') // 900000
 */
export function duration(text: string): number {
  const [, count = '0', unit = 'ms'] = /^(\d+)(ms|s|m|h|d)$/.exec(text) ?? [];
  return Number(count) * (UNITS[unit] ?? 1);
}

/**
 * Bytes; a number is bytes already.
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
 * A sliding window.
 *
 * @example
 * rateLimit('60/1m') // { count: 60, window: 60000 }
 */
export function rateLimit(text: string): RateLimit {
  const [count = '0', window = '0ms'] = text.split('/');
  return { count: Number(count), window: duration(window) };
}
