import { type RawBuilder, sql } from 'kysely';
import type { Db } from '../tables.ts';
import { folded } from '@twofold/runtime/kernel';
import type { AuthUser } from '@twofold/schema';
import type { UserId } from '../ids.ts';
import type { AuthParts } from '../parts.ts';

/** Values by which the list of users can be sorted. */
const USER_SORTS = ['created_at', 'email', 'last_login'] as const;

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
  parts: AuthParts,
  order: UserOrder,
  part: SortedPart,
): Promise<SortedRow[]> {
  const { after, count } = part;
  const found = after && after[0] === null ? [] : await withValue(parts, order, part);
  if (found.length === count) return found;
  const last = after && after[0] === null ? after : null;
  const rest = { ...part, after: last, count: count - found.length };
  return [...found, ...(await withoutValue(parts, order, rest))];
}

async function withValue(
  parts: AuthParts,
  { sort, direction }: UserOrder,
  { conditions, after, count }: SortedPart,
): Promise<SortedRow[]> {
  const { dialect, db } = parts.kernel.store;
  const isSide = !parts.model.user.columns[sort];
  const users = sql.raw(parts.directory.rows);
  // Only an inner join lets SQLite begin with the table that has the index.
  const tables = isSide
    ? sql`auth_users a join ${users} u on u.id = a.user_id`
    : sql`${users} u left join auth_users a on a.user_id = u.id`;
  const id = sql.ref(isSide ? 'a.user_id' : 'u.id');
  const value = valueOf(parts, sort);
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
  parts: AuthParts,
  { sort, direction }: UserOrder,
  { conditions, after, count }: SortedPart,
): Promise<SortedRow[]> {
  const beyond = sql.raw(direction === 'asc' ? '>' : '<');
  const rest = after ? sql`and u.id ${beyond} ${after[1]}` : sql``;
  const { rows } = await sql<{ id: UserId }>`
    select u.id from ${sql.raw(parts.directory.rows)} u
    left join auth_users a on a.user_id = u.id
    where ${valueOf(parts, sort)} is null and ${conditions} ${rest}
    order by u.id ${sql.raw(direction)} limit ${sql.lit(count)}`.execute(parts.kernel.store.db);
  return rows.map(({ id }) => [null, id]);
}

function valueOf({ directory, kernel }: AuthParts, sort: UserOrder['sort']): RawBuilder<unknown> {
  const column = directory.columnOf(sort);
  return sort === 'email' ? folded(kernel.store.dialect, 'letters', column) : sql.ref(column);
}

/**
 * Creates the indexes of the orders on one table: `auth_users`, or the user table for the values
 * that it has itself. Addresses have an index already, because they are unique.
 */
export async function createOrderIndexes(
  db: Db,
  table: string,
  { columns, table: own }: AuthUser,
): Promise<void> {
  for (const sort of USER_SORTS.filter((each) => each !== 'email')) {
    const column = columns[sort];
    if ((column === undefined ? 'auth_users' : own) !== table) continue;
    await db.schema
      .createIndex(`auth_${table.split('.').at(-1)}_${sort}_order`)
      .ifNotExists()
      .on(table)
      .columns(column === undefined ? [sort, 'user_id'] : [column, 'id'])
      .execute();
  }
}
