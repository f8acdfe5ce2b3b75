import { sql } from 'kysely';
import type { Db } from '../tables.ts';
import type { Organizations } from '@twofold/schema';
import { failure } from '@twofold/runtime/errors';
import { LAST_OWNER, type RequestContext } from '@twofold/runtime/kernel';
import { parseUserId, type UserId } from '../ids.ts';
import type { AuthParts } from '../parts.ts';
import { signedInAccount } from '../steps/reauthentication.ts';
import type { Account } from '../users/user-directory.ts';
import { membershipsOf } from './memberships.ts';
import { isLastFirst, mayManage } from './roles.ts';

/** The signed-in user as a member of the organization in the path. */
export interface OwnMembership {
  readonly account: Account;
  readonly organization: number | string;
  readonly role: string;
}

/** @throws AppError 404, without which the routes are not served. */
export function organizationsOf({ model }: AuthParts): Organizations {
  if (!model.organizations) throw failure.notFound();
  return model.organizations;
}

const unknownOrganization = () => failure.notFound('Organization not found');

/** @throws AppError 401; 404 for an organization of others, as for one that never was. */
export async function ownMembership(
  parts: AuthParts,
  context: RequestContext,
  id: string | undefined,
  db: Db = parts.kernel.store.db,
): Promise<OwnMembership> {
  const { account } = await signedInAccount(parts, context);
  const organization = parseUserId(id ?? '');
  const { dialect } = parts.kernel.store;
  const all =
    organization === null
      ? []
      : await membershipsOf({ db, dialect }, organizationsOf(parts), account.id);
  const found = all.find((each) => each.id === organization);
  if (!found || organization === null) throw unknownOrganization();
  return { account, organization, role: found.role ?? '' };
}

/** @throws AppError 403 unless the caller's role manages the organization. */
export function assertManages(parts: AuthParts, { role }: OwnMembership): void {
  if (!mayManage(organizationsOf(parts), role)) throw failure.forbidden();
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
export async function assertNotLastFirst(
  { model, kernel }: AuthParts,
  trx: Db,
  userId: UserId,
): Promise<void> {
  if (!model.organizations) return;
  const { rows } =
    await sql`select 1 from auth_members k where k.user_id = ${userId} and ${sql.raw(isLastFirst(kernel.store.dialect, model.organizations, 'k.user_id'))} limit 1`.execute(
      trx,
    );
  if (rows.length > 0) throw failure.conflict(LAST_OWNER);
}
