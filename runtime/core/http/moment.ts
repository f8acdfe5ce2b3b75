import { parseDuration } from '@twofold/schema';
import { failure } from '../errors.ts';

/**
 * Milliseconds since 1970 of a query parameter: an RFC 3339 time, Unix seconds, or a duration
 * before now.
 *
 * @param name The parameter, for the error.
 * @throws AppError 400 for any other text.
 * @example
 * momentOf('since', '10m') // Date.now() - 600_000
 */
export function momentOf(name: string, text: string): number {
  const ago = /^\d{1,6}[smhd]$/.test(text) ? parseDuration(text) : null;
  if (ago !== null) return Date.now() - ago;
  const time = /^\d{1,12}(\.\d+)?$/.test(text) ? Number(text) * 1000 : Date.parse(text);
  if (Number.isFinite(time)) return time;
  throw failure.badRequest(`${name} must be a time, Unix seconds or a duration such as 10m`);
}
