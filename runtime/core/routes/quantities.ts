import { duration, size } from '../model/units.ts';

/** `5MiB` or a number of bytes. @throws InternalError that names the units */
export const bytesOfSize = (given: string | number): number =>
  typeof given === 'number' ? given : size(given as '1B');

/** A rate limit of a route, in milliseconds, and the subject that it counts. */
export interface Rate {
  readonly count: number;
  readonly window: number;
  readonly by: 'ip' | 'user';
}

const RATE = /^([1-9]\d*)\/(\d+(?:ms|s|m|h|d))(\/user)?$/;

/** @example parseRate('20/1m/user') // { count: 20, window: 60000, by: 'user' } */
export function parseRate(text: string): Rate | undefined {
  const [, count, window, user] = RATE.exec(text) ?? [];
  if (count === undefined || window === undefined) return undefined;
  return { count: Number(count), window: duration(window as '1m'), by: user ? 'user' : 'ip' };
}
