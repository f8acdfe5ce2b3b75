import { createHash, randomBytes } from 'node:crypto';
import { createBoundedCache } from '../bounded-cache.ts';

/** Names for statements that PostgreSQL should parse and plan only once for each connection. */
export interface StatementNames {
  /**
   * Returns the name of a text on this connection. Undefined when it is not worth one: when the
   * text occurs for the first time, or is very long.
   */
  nameOn(connection: object, text: string): string | undefined;
  /** Gives the text a new name, because its plan is invalid. */
  rename(text: string): void;
  /**
   * Whether the connection has so many named statements that it must be replaced: neither side ever
   * drops one.
   */
  isWorn(connection: object): boolean;
}

const TEXTS = { entries: 1000, bytes: 8_000_000 };
const MAX_TEXT_LENGTH = 30_000;
const NAMES = 1000;

/**
 * Names a statement when its text occurs for the second time: most texts of a hostile client occur
 * only once.
 *
 * @param isPooled whether the statement may reach another connection than the one that knows the name.
 * @example names.nameOn(client, 'select 1') // undefined, and the next time 'e0e3d6…'
 */
export function createStatementNames(
  names = NAMES,
  isPooled: () => boolean = () => false,
): StatementNames {
  const known = createBoundedCache<string>(TEXTS);
  const given = new WeakMap<object, Set<string>>();
  const note = (connection: object, name: string) => {
    const found = given.get(connection);
    if (found) found.add(name);
    else given.set(connection, new Set([name]));
    return name;
  };
  const keep = (text: string, name: string) =>
    void (text.length <= MAX_TEXT_LENGTH && known.set(text, name, 2 * text.length + 200));
  return {
    nameOn: (connection, text) => {
      if (isPooled()) return undefined;
      const name = known.get(text);
      if (name === undefined) keep(text, createHash('sha1').update(text).digest('hex'));
      return name === undefined ? undefined : note(connection, name);
    },
    rename: (text) => keep(text, randomBytes(20).toString('hex')),
    isWorn: (connection) => (given.get(connection)?.size ?? 0) >= names,
  };
}
