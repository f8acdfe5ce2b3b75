/** A query that a user saved in this browser. Variables and headers are not kept. */
export interface SavedQuery {
  readonly name: string;
  readonly text: string;
}

const MOST = 200;

/** Each caller has their own. */
const keyOf = (caller: string) => `console-queries:${caller}`;

/** The saved queries of a caller, by name. A value that something else wrote counts as none. */
export function savedQueries(caller: string): readonly SavedQuery[] {
  try {
    const known: unknown = JSON.parse(localStorage.getItem(keyOf(caller)) ?? '[]');
    return Array.isArray(known) ? known.filter(isSaved) : [];
  } catch {
    return [];
  }
}

const isSaved = (value: unknown): value is SavedQuery =>
  typeof (value as SavedQuery | null)?.name === 'string' &&
  typeof (value as SavedQuery).text === 'string';

/** Saves a query in place of one with the same name. @throws when the browser has no room */
export function saveQuery(caller: string, query: SavedQuery): readonly SavedQuery[] {
  const others = savedQueries(caller).filter(({ name }) => name !== query.name);
  return write(caller, [...others, query].slice(-MOST));
}

export const removeQuery = (caller: string, name: string): readonly SavedQuery[] =>
  write(
    caller,
    savedQueries(caller).filter((each) => each.name !== name),
  );

function write(caller: string, queries: readonly SavedQuery[]): readonly SavedQuery[] {
  const sorted = [...queries].sort((a, b) => a.name.localeCompare(b.name));
  localStorage.setItem(keyOf(caller), JSON.stringify(sorted));
  return sorted;
}
