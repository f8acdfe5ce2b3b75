import { type RawBuilder, sql } from 'kysely';
import type { Dialect } from '@twofold/runtime/kernel';
import type { AuthState } from '../state.ts';
import { type SearchKey, searchKeys, searchText } from '../users/user-indexes.ts';

/** The text of a search, and the ranges of keys that begin with it. */
export interface Search {
  readonly keys: readonly SearchKey[];
  readonly ranges: readonly (readonly [from: string, to: string])[];
}

/** The search for users of which a key begins with `q`; null for the empty text. */
export function searchFor(auth: AuthState, q = ''): Search | null {
  const text = q.trim().replaceAll('\0', '');
  if (text === '') return null;
  const { table } = auth.directory;
  return { keys: searchKeys({ ...auth.model.user, table }), ranges: rangesOf(text) };
}

/**
 * The ranges of texts that begin with `q`. SQLite folds only ASCII letters, so that other letters
 * are searched as typed, in lower case, capitalised and in upper case.
 */
function rangesOf(q: string): (readonly [string, string])[] {
  const lower = q.toLowerCase();
  const [first = ''] = lower;
  const variants = [q, lower, first.toUpperCase() + lower.slice(first.length), q.toUpperCase()];
  const starts = new Set(
    variants.map((text) => text.replaceAll(/[A-Z]/g, (letter) => letter.toLowerCase())),
  );
  return [...starts].map((start) => [start, `${start}\u{10ffff}`] as const);
}

/** The SQL of a key in the tables `u` and `a`, as it is compared. */
export const textOf = (auth: AuthState, key: SearchKey): RawBuilder<string> =>
  searchText(auth.store.dialect, key, key.table === 'auth_users' ? 'a' : 'u');

/** SQL condition: the key begins with the text. */
export function matches(auth: AuthState, search: Search, key: SearchKey): RawBuilder<unknown> {
  const text = textOf(auth, key);
  const each = search.ranges.map(([low, high]) => sql`(${text} >= ${low} and ${text} < ${high})`);
  return sql`coalesce(${sql.join(each, sql` or `)}, ${falseOf(auth.store.dialect)})`;
}

const falseOf = (dialect: Dialect) => (dialect === 'postgres' ? sql`false` : sql`0`);

/** The ids of all users who match, by the indexes of the keys. */
export function searchedIds(auth: AuthState, { keys, ranges }: Search): RawBuilder<unknown> {
  const each = keys.flatMap((key) => {
    const text = searchText(auth.store.dialect, key);
    const isSide = key.table === 'auth_users';
    const id = sql.ref(isSide ? 'user_id' : 'id');
    const table = sql.raw(isSide ? key.table : auth.directory.rows);
    return ranges.map(
      ([low, high]) =>
        sql`select ${id} from ${table} u where ${text} >= ${low} and ${text} < ${high}`,
    );
  });
  return sql.join(each, sql` union `);
}

/**
 * SQL for the users whom one key finds and no key before it: the tables `u` and `a`, and a
 * condition that the index of the key serves.
 */
export function foundBy(
  auth: AuthState,
  search: Search,
  index: number,
): { readonly tables: RawBuilder<unknown>; readonly condition: RawBuilder<unknown> } {
  const key = search.keys[index]!;
  const users = sql.raw(auth.directory.rows);
  const text = textOf(auth, key);
  const ranges = search.ranges.map(([low, high]) => sql`(${text} >= ${low} and ${text} < ${high})`);
  const earlier = search.keys
    .slice(0, index)
    .map((each) => sql`and not ${matches(auth, search, each)}`);
  return {
    tables:
      key.table === 'auth_users'
        ? sql`auth_users a join ${users} u on u.id = a.user_id`
        : sql`${users} u left join auth_users a on a.user_id = u.id`,
    condition: sql`(${sql.join(ranges, sql` or `)}) ${sql.join(earlier, sql` `)}`,
  };
}
