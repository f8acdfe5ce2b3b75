import { createHash, randomBytes } from 'node:crypto';
import { createBoundedCache } from './bounded-cache.ts';

/** Names for the statements that PostgreSQL is to parse and plan once for each connection. */
export interface StatementNames {
  /** Notes that the connection is asked for the text. Undefined where it is not worth a name: the first time, or when it is very long. */
  nameOn(connection: object, text: string): string | undefined;
  /** The text needs a new name: its plan is of no use any more. */
  rename(text: string): void;
  /** Whether the connection was given so many names that it has to be replaced: neither side ever forgets one. */
  isWorn(connection: object): boolean;
}

const TEXTS = { entries: 1000, bytes: 8_000_000 };
const LONGEST = 30_000;
const NAMES = 1000;

/**
 * Most of what a hostile client can think of is asked once. So a text gets its name when it comes for the second time.
 *
 * @example names.nameOn(client, 'select 1') // undefined, and the next time 'e0e3d6…'
 */
export function createStatementNames(names = NAMES): StatementNames {
  const known = createBoundedCache<string>(TEXTS);
  const given = new WeakMap<object, Set<string>>();
  const note = (connection: object, name: string) => {
    const found = given.get(connection);
    if (found) found.add(name);
    else given.set(connection, new Set([name]));
    return name;
  };
  const keep = (text: string, name: string) =>
    void (text.length <= LONGEST && known.set(text, name, 2 * text.length + 200));
  return {
    nameOn: (connection, text) => {
      const name = known.get(text);
      if (name === undefined) keep(text, createHash('sha1').update(text).digest('hex'));
      return name === undefined ? undefined : note(connection, name);
    },
    rename: (text) => keep(text, randomBytes(20).toString('hex')),
    isWorn: (connection) => (given.get(connection)?.size ?? 0) >= names,
  };
}
