/**
 * The key of rows that only the database will know. It fits an `integer` of PostgreSQL, and no real
 * row is likely to have it.
 */
export const MADE_UP = {
  integer: 2_107_483_629,
  uuid: 'ffffffff-ffff-7fff-bfff-ffffffffffff',
} as const;

const KEYS: readonly string[] = Object.values(MADE_UP).map(String);

/** The text that is shown in place of the made-up id. */
const SHOWN = '<id>';

/** Characters of a parameter that are shown, so that a large one does not fill the answer. */
const LONGEST = 1000;
const MOST = 100;

/** A parameter as it is shown: text of at most 1,000 characters, a list of at most 100 values. */
export function shown(value: unknown): unknown {
  if (typeof value === 'string') return shownText(value);
  if (typeof value === 'bigint') return String(value);
  if (value === MADE_UP.integer) return SHOWN;
  if (!Array.isArray(value)) return value ?? null;
  const more = value.length - MOST;
  return [...value.slice(0, MOST).map(shown), ...(more > 0 ? [`… ${more} more`] : [])];
}

/** A text without made-up keys, and cut. */
export function shownText(text: string): string {
  const known = KEYS.reduce((changed, key) => changed.replaceAll(key, SHOWN), text);
  return known.length <= LONGEST
    ? known
    : `${known.slice(0, LONGEST)}… (${known.length} characters)`;
}
