import { sql } from 'kysely';
import type { Trx } from '../tables.ts';
import type { Organizations } from '@twofold/schema';
import { failure } from '@twofold/runtime/errors';
import { type Dialect, LAST_OWNER } from '@twofold/runtime/kernel';
import { rowsOf } from './memberships.ts';
import { textLiteral } from '../users/permissions.ts';

/** The rank of a role: 0 is the highest. A role that the manifest no longer has is the lowest. */
function rankOf({ roles }: Organizations, role: string): number {
  const rank = roles.indexOf(role);
  return rank === -1 ? roles.length : rank;
}

export const mayManage = ({ manage }: Organizations, role: string): boolean =>
  manage.includes(role);

/** Managers act on members of their own rank or lower, and give such roles. */
export const mayGive = (organizations: Organizations, own: string, role: string): boolean =>
  mayManage(organizations, own) && rankOf(organizations, role) >= rankOf(organizations, own);

/** @throws AppError 400 */
export function checkRole({ roles }: Organizations, role: unknown): string {
  if (typeof role === 'string' && roles.includes(role)) return role;
  throw failure.invalid(`role must be one of ${roles.join(', ')}`);
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
