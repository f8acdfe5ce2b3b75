import { type Dialect, dialectOf } from '@twofold/runtime/kernel';
import type { AuthUser } from '@twofold/schema';
import { type RawBuilder, sql } from 'kysely';
import type { Db } from '../base/tables.ts';

/** A text by whose start users are found: an address, a username or a name. */
export interface SearchKey {
  readonly name: string;
  /** The table that has its columns: the user table or `auth_users`. */
  readonly table: string;
  readonly columns: readonly string[];
  /** Whether an index for another purpose serves the search as well. */
  readonly indexed: boolean;
}

/** The keys of a search, in the order in which their users are listed. */
export function searchKeys({ table, columns }: AuthUser): SearchKey[] {
  const key = (name: 'email' | 'username' | 'name' | 'first_name' | 'last_name'): SearchKey => ({
    name,
    table: columns[name] ? table : 'auth_users',
    columns: [columns[name] ?? name],
    indexed: name === 'email' || (name === 'username' && columns[name] !== undefined),
  });
  const [first, last] = [key('first_name'), key('last_name')];
  // `Ada L` finds `Ada Lovelace`, if one table has both names.
  const full = { ...first, columns: [...first.columns, ...last.columns] };
  return [
    key('email'),
    key('username'),
    ...(columns.name ? [key('name')] : []),
    first.table === last.table ? full : first,
    last,
  ];
}

/**
 * The SQL of a key for comparisons. Only ASCII letters are folded, as in the unique indexes of
 * addresses, so that these indexes serve the search too.
 */
export function searchText(
  dialect: Dialect,
  { columns }: SearchKey,
  alias?: string,
): RawBuilder<string> {
  const of = (column: string) => sql.ref<string>(alias ? `${alias}.${column}` : column);
  const text =
    columns.length === 1
      ? of(columns[0]!)
      : sql<string>`(${sql.join(
          columns.map((column) => sql`coalesce(${of(column)}, '')`),
          sql` || ' ' || `,
        )})`;
  return dialect === 'postgres'
    ? sql`nullif(lower(${text} collate "C"), '')`
    : sql`nullif(lower(${text}), '')`;
}

/** Creates the indexes that the search needs on one table and that are not there. */
export async function createSearchIndexes(
  db: Db,
  table: string,
  keys: readonly SearchKey[],
): Promise<void> {
  for (const key of keys.filter((each) => each.table === table && !each.indexed))
    await db.schema
      .createIndex(`auth_${table.split('.').at(-1)}_${key.name}_search`)
      .ifNotExists()
      .on(table)
      .expression(searchText(dialectOf(db), key))
      .execute();
}

/** Values by which the list of users can be sorted. */
export const USER_SORTS = ['created_at', 'email', 'last_login'] as const;

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
