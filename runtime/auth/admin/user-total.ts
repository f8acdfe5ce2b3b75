import { type RawBuilder, sql } from 'kysely';
import type { AuthParts } from '../parts.ts';
import { conditions, type UserFilter } from './user-filter.ts';
import { foundBy, type Search } from './user-keys.ts';

/** The number of users that a filter and a search find, by one statement that reads indexes. */
export async function countUsers(
  parts: AuthParts,
  filter: UserFilter,
  search: Search | null,
): Promise<number> {
  const sums = search
    ? search.keys.map((_, index) => countOfKey(parts, filter, search, index))
    : [countOfFilter(parts, filter)];
  const statement = sql<{ total: number | string }>`select ${sql.join(sums, sql` + `)} as total`;
  const { rows } = await statement.execute(parts.kernel.store.db);
  return Number(rows[0]?.total ?? 0);
}

function countOfKey(
  parts: AuthParts,
  filter: UserFilter,
  search: Search,
  index: number,
): RawBuilder<unknown> {
  const { tables, condition } = foundBy(parts, search, index);
  return sql`(select count(*) from ${tables}
    where ${condition} and ${conditions(parts, filter, 'test')})`;
}

function countOfFilter(parts: AuthParts, filter: UserFilter): RawBuilder<unknown> {
  const isOfSide = filter.state === 'active' || filter.state === 'unverified';
  const side = isOfSide ? sql`left join auth_users a on a.user_id = u.id` : sql``;
  return sql`(select count(*) from ${sql.raw(parts.directory.rows)} u ${side}
    where ${conditions(parts, filter, 'list')})`;
}
