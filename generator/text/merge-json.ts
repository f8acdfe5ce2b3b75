type JsonValue =
  | string
  | number
  | boolean
  | null
  | readonly JsonValue[]
  | { readonly [key: string]: JsonValue };

/**
 * Merges two changes of one JSON object, key by key: a change of one side is taken, and equal
 * changes are taken once. Null when one of the texts is not a JSON object, or both sides changed
 * the same value in different ways.
 */
export function mergeJson(base: string, mine: string, theirs: string): string | null {
  const [origin, ours, others] = [parseObject(base), parseObject(mine), parseObject(theirs)];
  if (!origin || !ours || !others) return null;
  const merged = mergeValue(origin, ours, others);
  if (merged === CONFLICT) return null;
  const text = `${JSON.stringify(merged, null, indentOf(mine))}\n`;
  return mine.includes('\r\n') ? text.replaceAll('\n', '\r\n') : text;
}

const CONFLICT = Symbol('conflict');

function mergeValue(
  base: JsonValue | undefined,
  mine: JsonValue | undefined,
  theirs: JsonValue | undefined,
): JsonValue | undefined | typeof CONFLICT {
  if (equal(base, theirs) || equal(mine, theirs)) return mine;
  if (equal(base, mine)) return theirs;
  if (!isObject(mine) || !isObject(theirs)) return CONFLICT;
  const origin = isObject(base) ? base : {};
  const merged: Record<string, JsonValue> = {};
  for (const key of new Set([...Object.keys(mine), ...Object.keys(theirs)])) {
    const value = mergeValue(origin[key], mine[key], theirs[key]);
    if (value === CONFLICT) return CONFLICT;
    if (value !== undefined) merged[key] = value;
  }
  return merged;
}

function parseObject(text: string): { readonly [key: string]: JsonValue } | null {
  try {
    const value = JSON.parse(text.replace(/^\uFEFF/, '')) as JsonValue;
    return isObject(value) ? value : null;
  } catch {
    return null;
  }
}

function isObject(value: JsonValue | undefined): value is { readonly [key: string]: JsonValue } {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function equal(a: JsonValue | undefined, b: JsonValue | undefined): boolean {
  return (
    a === b ||
    (a !== undefined && b !== undefined && JSON.stringify(sorted(a)) === JSON.stringify(sorted(b)))
  );
}

/** Sorts keys, because their order does not count in a comparison. */
function sorted(value: JsonValue): JsonValue {
  if (Array.isArray(value)) return value.map(sorted);
  if (!isObject(value)) return value;
  return Object.fromEntries(
    Object.keys(value)
      .sort()
      .map((key) => [key, sorted(value[key]!)]),
  );
}

function indentOf(text: string): string {
  return /\n([ \t]+)\S/.exec(text)?.[1] ?? '  ';
}
