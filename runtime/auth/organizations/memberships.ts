import { sql } from 'kysely';
import type { Db } from '../tables.ts';
import type { Organizations } from '@twofold/schema';
import type { Dialect, Membership } from '@twofold/runtime/kernel';
import { MEMBERS } from '@twofold/schema';
import type { UserId } from '../ids.ts';
import { rowsIn } from '../users/adopted-table.ts';

/** Organization and role. */
export type MembershipRow = readonly [number | string, string];

export const toMemberships = (rows: readonly MembershipRow[]): Membership[] =>
  rows.map(([id, role]) => ({ id, role }));

/**
 * SQL for the organizations of a user as a JSON array of `MembershipRow`.
 *
 * @param user the SQL of the user's key.
 */
export function membershipList(
  dialect: Dialect,
  organizations: Organizations,
  user: string,
): string {
  const [array, all] =
    dialect === 'postgres'
      ? ['json_build_array', 'json_agg(x.row)']
      : ['json_array', 'json_group_array(json(x.row))'];
  const rows = `select ${array}(m.organization_id, m.role) as row from ${MEMBERS.table} m${live(dialect, organizations)} where m.user_id = ${user} order by m.organization_id`;
  const list = `(select ${all} from (${rows}) x)`;
  return dialect === 'postgres' ? `coalesce(${list}, '[]'::json)` : `json(${list})`;
}

/** A removed organization has no members. */
const live = (dialect: Dialect, organizations: Organizations): string =>
  organizations.softDelete
    ? ` join ${rowsOf(dialect, organizations)} o on o.id = m.organization_id and o."${organizations.softDelete}" is null`
    : '';

/** SQL for the rows of the organizations, with the columns that joins need. */
export const rowsOf = (dialect: Dialect, organizations: Organizations): string =>
  rowsIn(dialect, organizations, ['id', ...[organizations.softDelete ?? []].flat()]);

/** The organizations of a user. */
export async function membershipsOf(
  { db, dialect }: { readonly db: Db; readonly dialect: Dialect },
  organizations: Organizations,
  userId: UserId,
): Promise<Membership[]> {
  const { softDelete } = organizations;
  const place = sql<Record<string, any>>`${sql.raw(rowsOf(dialect, organizations))}`.as('o');
  const rows = db
    .selectFrom(`${MEMBERS.table} as m`)
    .innerJoin(place, 'o.id', 'm.organization_id')
    .select(['m.organization_id as id', 'm.role'])
    .where('m.user_id', '=', userId)
    .orderBy('m.organization_id');
  const found = await (softDelete ? rows.where(`o.${softDelete}`, 'is', null) : rows).execute();
  return found.map(({ id, role }) => ({ id, role }));
}
