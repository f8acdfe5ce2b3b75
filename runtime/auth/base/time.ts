import { parseDuration } from '@twofold/schema';

export const SECOND = 1000;
export const MINUTE = 60 * SECOND;
export const HOUR = 60 * MINUTE;
export const DAY = 24 * HOUR;

/** `2026-11-20T09:30:00+00:00`: ISO 8601 with a numeric offset, as in `last_login`. */
export function numericOffset(milliseconds: number): string {
  return `${new Date(milliseconds).toISOString().slice(0, 19)}+00:00`;
}

/** RFC 3339 in UTC, or null. */
export function rfc3339(milliseconds: number | null): string | null {
  return milliseconds === null ? null : new Date(milliseconds).toISOString();
}

/** Whole seconds to wait, at least one: `Retry-After`. */
export function retryAfter(milliseconds: number): string {
  return String(Math.max(1, Math.ceil(milliseconds / SECOND)));
}

/** A hundred years, so that an end time always fits into a `Date`. */
const MAX_DURATION = 36_500 * DAY;

/**
 * Parses a duration of a request body into whole milliseconds: seconds as a number, or text such as
 * `"30d"`. Null when it is neither, or over a hundred years.
 */
export function durationOf(value: unknown): number | null {
  const duration =
    typeof value === 'number'
      ? Math.round(value * SECOND)
      : typeof value === 'string'
        ? parseDuration(value)
        : null;
  return duration !== null && duration > 0 && duration <= MAX_DURATION ? duration : null;
}
