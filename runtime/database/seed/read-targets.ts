import type { Checking, KnownRows } from './checking.ts';
import type { SeedRow, Target } from './seed-row.ts';

/** Rows of this file and of earlier seeds (`earlier`: ids by type and key). */
export function knownRows(
  rows: readonly SeedRow[],
  earlier: ReadonlyMap<string, ReadonlyMap<string, string>>,
): KnownRows {
  const places = new Map<string, Map<string, number>>();
  rows.forEach(({ type, key }, index) => {
    if (key === null) return;
    const keys = places.get(type) ?? new Map<string, number>();
    places.set(type, keys.set(key, index));
  });
  return {
    row: (type, key) => places.get(type)?.get(key),
    id: (type, key) => earlier.get(type)?.get(key),
    keys: (type) =>
      [
        ...new Set([...(places.get(type)?.keys() ?? []), ...(earlier.get(type)?.keys() ?? [])]),
      ].filter((key) => !key.startsWith('#')),
  };
}

const INTEGER = /^\d{1,18}$/;
const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

/**
 * Reads the target of a relation. A text is looked up as a key of this file, then as a key of
 * earlier files, then as an id.
 */
export function readTargets(
  type: string,
  values: readonly unknown[],
  { model, known }: Checking,
): { readonly targets: readonly Target[] } | { readonly problem: string; readonly fix?: string } {
  const targets: Target[] = [];
  for (const value of values) {
    if (typeof value !== 'string' && typeof value !== 'number')
      return {
        problem: `a row is named by its key or its id, not by ${value === null ? 'null' : Array.isArray(value) ? 'a list' : `a ${typeof value}`}`,
      };
    const text = String(value);
    const row = known.row(type, text);
    const id =
      known.id(type, text) ??
      (isId(text.replace(new RegExp(`^${type}:`), ''), model.ids) ? text : undefined);
    if (row !== undefined) targets.push({ row });
    else if (id !== undefined) targets.push({ id });
    else return unknownKey(type, text, known.keys(type));
  }
  return { targets };
}

const isId = (text: string, ids: 'integer' | 'uuid') =>
  (ids === 'uuid' ? UUID : INTEGER).test(text);

function unknownKey(
  type: string,
  text: string,
  keys: readonly string[],
): { readonly problem: string; readonly fix?: string } {
  const shown = keys.slice(0, 5).join(', ');
  return {
    problem: `there is no ${type} ${JSON.stringify(text)}`,
    ...(keys.length > 0 && { fix: `keys of ${type}: ${shown}${keys.length > 5 ? ', …' : ''}` }),
  };
}
