/**
 * The day after which a deprecated part may be removed: the last date in the reason. Null without a
 * date, and if the last one is not a day of the calendar.
 *
 * @example
 * sunsetOf('Use fullName. Removal on 2027-03-01.') // '2027-03-01'
 */
export function sunsetOf(reason: string): string | null {
  const date = lastDateOf(reason);
  return date !== null && isDay(date) ? date : null;
}

/** The last text of the form `YYYY-MM-DD` in a reason, even if there is no such day. */
export function lastDateOf(reason: string): string | null {
  return reason.match(/(?<!\d)\d{4}-\d{2}-\d{2}(?!\d)/g)?.at(-1) ?? null;
}

function isDay(date: string): boolean {
  const time = Date.parse(`${date}T00:00:00Z`);
  return !Number.isNaN(time) && new Date(time).toISOString().startsWith(date);
}

/**
 * How an OpenAPI document says that something is deprecated. `x-sunset` is an extension that tools
 * for OpenAPI read, as there is no standard member for the day.
 *
 * @example
 * deprecation('Use fullName. Removal on 2027-03-01.') // { deprecated: true, 'x-sunset': '2027-03-01' }
 */
export function deprecation(reason: string | null | undefined): {
  readonly deprecated?: true;
  readonly 'x-sunset'?: string;
} {
  if (!reason) return {};
  const sunset = sunsetOf(reason);
  return { deprecated: true, ...(sunset !== null && { 'x-sunset': sunset }) };
}
