import { signal } from '@preact/signals';
import { useEffect } from 'preact/hooks';

/**
 * All texts are English, so dates and numbers are too. In this form the day comes before the month.
 */
const LANGUAGE = 'en-GB';

const absolute = new Intl.DateTimeFormat(LANGUAGE, { dateStyle: 'medium', timeStyle: 'medium' });
const dateOnly = new Intl.DateTimeFormat(LANGUAGE, { dateStyle: 'medium' });
const relative = new Intl.RelativeTimeFormat(LANGUAGE, { numeric: 'auto' });
const number = new Intl.NumberFormat(LANGUAGE);
const tenths = new Intl.NumberFormat(LANGUAGE, {
  minimumFractionDigits: 1,
  maximumFractionDigits: 1,
});
const timeOfDay = new Intl.DateTimeFormat(LANGUAGE, {
  ...{ hour: '2-digit', minute: '2-digit', second: '2-digit', fractionalSecondDigits: 3 },
});

/** Seconds in each unit, the largest first. */
const UNITS = [
  ['year', 31_536_000],
  ['month', 2_592_000],
  ['day', 86_400],
  ['hour', 3600],
  ['minute', 60],
] as const;

/**
 * The present time in milliseconds, for relative times. It is updated while a relative time is
 * visible.
 */
const now = signal(Date.now());
const EVERY = 20_000;
let shown = 0;
let timer: ReturnType<typeof setInterval> | undefined;

function useNow(): number {
  useEffect(() => {
    now.value = Date.now();
    if (shown++ === 0) timer = setInterval(() => (now.value = Date.now()), EVERY);
    return () => {
      if (--shown === 0) clearInterval(timer);
    };
  }, []);
  return now.value;
}

/** What the API calls a time: ISO 8601, milliseconds since 1970, or a date. */
export type Moment = string | number | Date;

/**
 * A relative time such as `3 minutes ago`, with the full time in its title. `absolute` shows the
 * full time. Null is shown as a dash.
 *
 * @example <Time at={user.created_at} />
 */
export function Time({
  at,
  absolute: whole = false,
}: {
  at: Moment | null | undefined;
  absolute?: boolean;
}) {
  const from = useNow();
  const date = at == null ? null : new Date(at);
  if (date === null || Number.isNaN(date.getTime())) return <span class="quiet">–</span>;
  const full = absolute.format(date);
  return (
    <time dateTime={date.toISOString()} title={full}>
      {whole ? full : ago(date, from)}
    </time>
  );
}

/** @example ago(new Date('2026-11-23T07:40:00Z'), Date.now()) // '3 minutes ago' */
function ago(date: Date, from: number): string {
  const seconds = Math.round((date.getTime() - from) / 1000);
  const unit = UNITS.find(([, size]) => Math.abs(seconds) >= size);
  if (unit) return relative.format(Math.trunc(seconds / unit[1]), unit[0]);
  return relative.format(Math.abs(seconds) < 10 ? 0 : seconds, 'second');
}

/** @example formatDate(1_790_000_000_000) // '21 Sept 2026' */
export const formatDate = (at: Moment): string => dateOnly.format(new Date(at));

/** @example formatTime(1_790_000_000_000) // '21 Sept 2026, 14:13:20' */
export const formatTime = (at: Moment): string => absolute.format(new Date(at));

/** @example formatNumber(1234567) // '1,234,567' */
export const formatNumber = (value: number): string => number.format(value);

/** A number with one decimal, also when that is zero. @example formatTenths(2) // '2.0' */
export const formatTenths = (value: number): string => tenths.format(value);

/** The local time of day, with milliseconds. @example formatTimeOfDay(at) // '14:13:20.123' */
export const formatTimeOfDay = (at: Moment): string => timeOfDay.format(new Date(at));

const SIZES = ['B', 'kB', 'MB', 'GB', 'TB', 'PB'] as const;

/** @example formatBytes(1_500_000) // '1.5 MB' */
export function formatBytes(bytes: number): string {
  let size = bytes;
  let at = 0;
  while (Math.abs(size) >= 1000 && at < SIZES.length - 1) {
    size /= 1000;
    at += 1;
  }
  const shown = size >= 100 || at === 0 ? Math.round(size) : Math.round(size * 10) / 10;
  return `${formatNumber(shown)} ${SIZES[at]}`;
}

/** A duration in its two largest units. @example formatDuration(93_784) // '1 d 2 h'. */
export function formatDuration(seconds: number): string {
  if (seconds < 1) return `${Math.round(seconds * 1000)} ms`;
  const parts = [
    [Math.floor(seconds / 86_400), 'd'],
    [Math.floor(seconds / 3600) % 24, 'h'],
    [Math.floor(seconds / 60) % 60, 'min'],
    [Math.floor(seconds % 60), 's'],
  ] as const;
  const first = parts.findIndex(([count]) => count > 0);
  return parts
    .slice(first, first + 2)
    .filter(([count]) => count > 0)
    .map(([count, unit]) => `${formatNumber(count)} ${unit}`)
    .join(' ');
}
