import { parseDuration } from '@twofold/schema';
import { InternalError } from '../errors.ts';

const BYTES = { B: 1, KiB: 1024, MiB: 1024 ** 2, GiB: 1024 ** 3, TiB: 1024 ** 4 } as const;

type Duration = `${number}${'ms' | 's' | 'm' | 'h' | 'd'}`;

/** A span of time in milliseconds. @example duration('15m') // 900000 */
export function duration(text: Duration): number {
  return parseDuration(text) ?? unreadable(text, ['ms', 's', 'm', 'h', 'd']);
}

/** Whether the text is a span of time: `10s`. */
export const isDuration = (text: string): text is Duration => parseDuration(text) !== null;

/** An amount of memory in bytes. @example size('1MiB') // 1048576 */
export function size(text: `${number}${keyof typeof BYTES}`): number {
  const [, count, unit = ''] = /^(\d+)([A-Za-z]+)$/.exec(text) ?? [];
  const factor = (BYTES as Readonly<Record<string, number>>)[unit];
  if (count === undefined || factor === undefined) return unreadable(text, Object.keys(BYTES));
  return Number(count) * factor;
}

function unreadable(text: string, units: readonly string[]): never {
  throw new InternalError(
    `${JSON.stringify(text)} is not a whole number with one of the units ${units.join(', ')}`,
  );
}
