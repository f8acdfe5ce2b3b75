import { failure } from '@twofold/runtime/errors';
import { type Dialect, LAST_OWNER, type Membership } from '@twofold/runtime/kernel';
import { sql } from 'kysely';
import { MEMBERS, type Organizations } from '@twofold/schema';
import type { Db, Trx } from '../base/tables.ts';
import type { UserId } from '../base/ids.ts';
import { textLiteral } from './permissions.ts';
import { rowsIn } from './adopted-table.ts';

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

/** SQL condition: the account of a user is neither disabled nor about to be deleted. */
const isOpen = (user: string): string =>
  `not exists (select 1 from auth_users a where a.user_id = ${user} and (a.disabled_at is not null or a.deletion_at is not null))`;

/**
 * Call this after a change of a member, in its transaction and after `serialiseRights`.
 *
 * @throws AppError 409 when no user who can sign in is left with the first role.
 */
export async function assertFirstLeft(
  trx: Trx,
  { roles }: Organizations,
  organization: number | string,
): Promise<void> {
  const left = await trx
    .selectFrom('auth_members')
    .select('user_id')
    .where('organization_id', '=', organization)
    .where('role', '=', roles[0]!)
    .where(sql<boolean>`${sql.raw(isOpen('auth_members.user_id'))}`)
    .limit(1)
    .executeTakeFirst();
  if (!left) throw failure.conflict(LAST_OWNER);
}

/**
 * Whether a user has the first role in some organization, and no other user who can sign in has it;
 * SQL for a trigger of the user table and for statements.
 *
 * @param user the SQL of the user's key.
 */
export const isLastFirst = (
  dialect: Dialect,
  organizations: Organizations,
  user: string,
): string => {
  const { roles, softDelete } = organizations;
  const live = softDelete
    ? ` join ${rowsOf(dialect, organizations)} g on g.id = m.organization_id and g."${softDelete}" is null`
    : '';
  const first = textLiteral(roles[0]!);
  return `exists (select 1 from auth_members m${live} where m.user_id = ${user} and m.role = ${first} and not exists (select 1 from auth_members o where o.organization_id = m.organization_id and o.role = ${first} and o.user_id <> m.user_id and ${isOpen('o.user_id')}))`;
};
