import { type RawBuilder, sql } from 'kysely';
import { folded } from '@twofold/runtime/kernel';
import { USER_SORTS } from '../users/user-indexes.ts';
import type { UserId } from '../base/ids.ts';
import type { AuthState } from '../state.ts';

/** An order of the list. Users without the value come last, in either direction. */
export interface UserOrder {
  readonly sort: (typeof USER_SORTS)[number];
  readonly direction: 'asc' | 'desc';
}

/** A row of a sorted list: its value, null for a user who has none, and its id. */
export type SortedRow = readonly [value: string | number | null, id: UserId];

/** Which rows of a sorted list are read. */
export interface SortedPart {
  readonly conditions: RawBuilder<unknown>;
  /** The row before the part; null for the start of the list. */
  readonly after: SortedRow | null;
  readonly count: number;
}

/**
 * Reads one part of a sorted list: first the users with a value, by the index of that value, then
 * the others by their ids.
 */
export async function sortedUsers(
  auth: AuthState,
  order: UserOrder,
  part: SortedPart,
): Promise<SortedRow[]> {
  const { after, count } = part;
  const found = after && after[0] === null ? [] : await withValue(auth, order, part);
  if (found.length === count) return found;
  const last = after && after[0] === null ? after : null;
  const rest = { ...part, after: last, count: count - found.length };
  return [...found, ...(await withoutValue(auth, order, rest))];
}

async function withValue(
  auth: AuthState,
  { sort, direction }: UserOrder,
  { conditions, after, count }: SortedPart,
): Promise<SortedRow[]> {
  const { dialect, db } = auth.store;
  const isSide = !auth.model.user.columns[sort];
  const users = sql.raw(auth.directory.rows);
  // Only an inner join lets SQLite begin with the table that has the index.
  const tables = isSide
    ? sql`auth_users a join ${users} u on u.id = a.user_id`
    : sql`${users} u left join auth_users a on a.user_id = u.id`;
  const id = sql.ref(isSide ? 'a.user_id' : 'u.id');
  const value = valueOf(auth, sort);
  // A time of PostgreSQL is read as text, which keeps its microseconds.
  const shown = dialect === 'postgres' ? sql`${value}::text` : value;
  const beyond = sql.raw(direction === 'asc' ? '>' : '<');
  const rest = after ? sql`and (${value}, ${id}) ${beyond} (${after[0]}, ${after[1]})` : sql``;
  const to = sql.raw(direction);
  const { rows } = await sql<{ id: UserId; value: string | number }>`
    select ${id} as id, ${shown} as value from ${tables}
    where ${value} is not null and ${conditions} ${rest}
    order by ${value} ${to}, ${id} ${to} limit ${sql.lit(count)}`.execute(db);
  return rows.map((row) => [row.value, row.id]);
}

async function withoutValue(
  auth: AuthState,
  { sort, direction }: UserOrder,
  { conditions, after, count }: SortedPart,
): Promise<SortedRow[]> {
  const beyond = sql.raw(direction === 'asc' ? '>' : '<');
  const rest = after ? sql`and u.id ${beyond} ${after[1]}` : sql``;
  const { rows } = await sql<{ id: UserId }>`
    select u.id from ${sql.raw(auth.directory.rows)} u
    left join auth_users a on a.user_id = u.id
    where ${valueOf(auth, sort)} is null and ${conditions} ${rest}
    order by u.id ${sql.raw(direction)} limit ${sql.lit(count)}`.execute(auth.db);
  return rows.map(({ id }) => [null, id]);
}

function valueOf(auth: AuthState, sort: UserOrder['sort']): RawBuilder<unknown> {
  const column = auth.directory.columnOf(sort);
  return sort === 'email' ? folded(auth.store.dialect, 'letters', column) : sql.ref(column);
}
