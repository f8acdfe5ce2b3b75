import type { TimeForm } from '@twofold/schema';

const TEXT = /^(?:\d{4}-\d\d-\d\d)(?:([ T])\d\d:\d\d(?::\d\d(?:\.(\d{1,9}))?)?\s?(Z|\+00:00)?)?$/i;

/** Seconds since 1970 have fewer digits, milliseconds do not have more. */
export const [MILLISECONDS, MICROSECONDS] = [1e11, 1e14];

/** Real numbers below this are days of the Julian calendar, as SQLite's `julianday` counts them. */
export const JULIAN = 5_000_000;

/**
 * The form of a time that another program stored; undefined when the value is no time.
 *
 * @example timeFormOf('2026-01-02 03:04:05') // { unit: 'text', separator: ' ', digits: 0, zone: '' }
 */
export function timeFormOf(value: unknown): TimeForm | undefined {
  if (typeof value === 'string') return textForm(value);
  if (typeof value !== 'number' && typeof value !== 'bigint') return undefined;
  const size = Math.abs(Number(value));
  if (size >= MICROSECONDS) return { unit: 'microseconds' };
  if (size >= MILLISECONDS) return { unit: 'milliseconds' };
  return { unit: size < JULIAN && !Number.isInteger(Number(value)) ? 'days' : 'seconds' };
}

function textForm(text: string): TimeForm | undefined {
  const found = TEXT.exec(text);
  if (!found) return undefined;
  const [, separator = '', fraction = '', zone = ''] = found;
  return { unit: 'text', separator, digits: fraction.length, zone };
}

const ISO = /^\d{4}-\d\d-\d\d(?:T\d\d:\d\d:\d\d\.\d{3}Z)?$/;

const DAY = 86_400_000;

/** The Julian day of 1970-01-01T00:00Z. */
const EPOCH = 2_440_587.5;

/**
 * A time or a day in the form of its column. Parts of a second that the form cannot hold are cut
 * off. A value that is no time of ours, such as one of a cursor, already has this form.
 */
export function inForm(value: unknown, form: TimeForm): unknown {
  if (typeof value !== 'string' || !ISO.test(value)) return value;
  const time = Date.parse(value);
  switch (form.unit) {
    case 'text':
      return inText(new Date(time).toISOString(), form);
    case 'seconds':
      return Math.floor(time / 1000);
    case 'milliseconds':
      return time;
    case 'microseconds':
      return time * 1000;
    case 'days':
      return time / DAY + EPOCH;
  }
}

function inText(iso: string, { separator, digits, zone }: Extract<TimeForm, { unit: 'text' }>) {
  const day = iso.slice(0, 10);
  const isDay = separator === '' && iso.endsWith('T00:00:00.000Z');
  if (isDay) return day;
  const fraction = digits > 0 ? `.${iso.slice(20, 23).padEnd(digits, '0').slice(0, digits)}` : '';
  return `${day}${separator || ' '}${iso.slice(11, 19)}${fraction}${zone}`;
}

/** A stored time in any form as ISO text in UTC. */
export function asIso(value: unknown, format: 'time' | 'day'): unknown {
  const form = timeFormOf(value);
  if (!form) return value;
  const iso = new Date(millisecondsOf(value, form)).toISOString();
  return format === 'day' ? iso.slice(0, 10) : iso;
}

function millisecondsOf(value: unknown, form: TimeForm): number {
  if (form.unit === 'text') {
    const [day, clock] = String(value).split(/[ T]/i);
    const full = (clock ?? '00:00').trim();
    return Date.parse(`${day}T${/(?:Z|[+-]\d\d:\d\d)$/i.test(full) ? full : `${full}Z`}`);
  }
  const number = Number(value);
  if (form.unit === 'days') return Math.round((number - EPOCH) * DAY);
  return number * { seconds: 1000, milliseconds: 1, microseconds: 0.001 }[form.unit];
}
