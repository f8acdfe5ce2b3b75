import type { Organizations } from '@twofold/schema';
import { failure } from '@twofold/runtime/errors';
import { sql } from 'kysely';
import { LAST_OWNER, type RequestContext } from '@twofold/runtime/kernel';
import { isLastFirst, membershipsOf } from '../users/memberships.ts';
import type { Db } from '../base/tables.ts';
import { parseUserId, type UserId } from '../base/ids.ts';
import type { AuthState } from '../state.ts';
import { signedInAccount } from '../requests/proof.ts';
import type { Account } from '../users/user-directory.ts';

/** The signed-in user as a member of the organization in the path. */
export interface OwnMembership {
  readonly account: Account;
  readonly organization: number | string;
  readonly role: string;
}

/** @throws AppError 404, without which the routes are not served. */
export function organizationsOf(auth: AuthState): Organizations {
  if (!auth.model.organizations) throw failure.notFound();
  return auth.model.organizations;
}

const unknownOrganization = () => failure.notFound('Organization not found');

/** @throws AppError 401; 404 for an organization of others, as for one that never was. */
export async function ownMembership(
  auth: AuthState,
  context: RequestContext,
  id: string | undefined,
  db: Db = auth.db,
): Promise<OwnMembership> {
  const { account } = await signedInAccount(auth, context);
  const organization = parseUserId(id ?? '');
  const { dialect } = auth.store;
  const all =
    organization === null
      ? []
      : await membershipsOf({ db, dialect }, organizationsOf(auth), account.id);
  const found = all.find((each) => each.id === organization);
  if (!found || organization === null) throw unknownOrganization();
  return { account, organization, role: found.role ?? '' };
}

/** @throws AppError 403 unless the caller's role manages the organization. */
export function assertManages(auth: AuthState, { role }: OwnMembership): void {
  if (!mayManage(organizationsOf(auth), role)) throw failure.forbidden();
}

/** The role of a member, or null. */
export async function roleOf(
  db: Db,
  organization: number | string,
  userId: UserId,
): Promise<string | null> {
  const row = await db
    .selectFrom('auth_members')
    .select('role')
    .where('organization_id', '=', organization)
    .where('user_id', '=', userId)
    .executeTakeFirst();
  return row?.['role'] ?? null;
}

/**
 * The account of a user who is the only one with the first role of an organization can be removed
 * only after that organization.
 *
 * @throws AppError 409
 */
export async function assertNotLastFirst(auth: AuthState, trx: Db, userId: UserId): Promise<void> {
  if (!auth.model.organizations) return;
  const { rows } =
    await sql`select 1 from auth_members k where k.user_id = ${userId} and ${sql.raw(isLastFirst(auth.store.dialect, auth.model.organizations, 'k.user_id'))} limit 1`.execute(
      trx,
    );
  if (rows.length > 0) throw failure.conflict(LAST_OWNER);
}

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
