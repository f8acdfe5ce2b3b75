import { InternalError } from '../errors.ts';

const MILLISECONDS = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const;
const BYTES = { B: 1, KiB: 1024, MiB: 1024 ** 2, GiB: 1024 ** 3, TiB: 1024 ** 4 } as const;

/** A span of time in milliseconds. @example duration('15m') // 900000 */
export function duration(text: `${number}${keyof typeof MILLISECONDS}`): number {
  return measure(text, MILLISECONDS);
}

/** Whether the text is a span of time: `10s`. */
export const isDuration = (text: string): text is `${number}${keyof typeof MILLISECONDS}` =>
  /^\d+(ms|s|m|h|d)$/.test(text);

/** An amount of memory in bytes. @example size('1MiB') // 1048576 */
export function size(text: `${number}${keyof typeof BYTES}`): number {
  return measure(text, BYTES);
}

function measure(text: string, units: Readonly<Record<string, number>>): number {
  const [, count, unit = ''] = /^(\d+)([A-Za-z]+)$/.exec(text) ?? [];
  const factor = units[unit];
  if (count === undefined || factor === undefined)
    throw new InternalError(
      `${JSON.stringify(text)} is not a whole number with one of the units ${Object.keys(units).join(', ')}`,
    );
  return Number(count) * factor;
}
