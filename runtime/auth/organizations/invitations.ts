import type { Change } from '../events/events.ts';
import { digest, type UserId } from '../base/ids.ts';
import type { AuthState } from '../state.ts';
import { invalidToken } from '../secrets/one-time-tokens.ts';
import type { Db, RowOf, Trx } from '../base/tables.ts';
import { serialiseRights } from '../users/permissions.ts';
import { mayGive, organizationsOf, roleOf } from './membership.ts';

/** The organization of an invitation. */
export interface Invited {
  readonly organization: number | string;
  readonly role: string;
  readonly email: string;
}

export type OnAnswer = (
  auth: AuthState,
  change: Change,
  joining: { readonly userId: UserId; readonly invited: Invited },
) => Promise<void>;

const unused = (auth: AuthState, db: Db, token: string) =>
  db
    .selectFrom('auth_invitations')
    .selectAll()
    .where('hash', '=', digest(token))
    .where('expires_at', '>', auth.now());

/** Finds an invitation without using it up. @throws AppError 400 `Invalid or expired token` */
export async function findInvitation(auth: AuthState, db: Db, token: string): Promise<Invited> {
  const row = await unused(auth, db, token).executeTakeFirst();
  if (!row) throw invalidToken();
  await assertSenderMay(auth, db, row);
  return { organization: row.organization_id, role: row.role, email: row.email };
}

/** An invitation is void when its sender may no longer give the role. */
async function assertSenderMay(
  auth: AuthState,
  db: Db,
  row: RowOf<'auth_invitations'>,
): Promise<void> {
  const sender = await auth.directory.find(db, row.invited_by);
  const role = sender && (await roleOf(db, row.organization_id, sender.id));
  const open = sender?.disabledAt === null && sender.deletionAt === null;
  if (!role || !open || !mayGive(organizationsOf(auth), role, row.role)) throw invalidToken();
}

/** Uses an invitation up. Of two concurrent calls one fails. @throws AppError 400 */
export async function useInvitation(auth: AuthState, trx: Trx, token: string): Promise<Invited> {
  await serialiseRights(trx, auth.store.dialect);
  const found = await findInvitation(auth, trx, token);
  const row = await trx
    .deleteFrom('auth_invitations')
    .where('hash', '=', digest(token))
    .returning('id')
    .executeTakeFirst();
  if (!row) throw invalidToken();
  return found;
}

/** Adds the invited user. A member keeps the role that they have. */
export const join: OnAnswer = async (auth, { trx, emit }, { userId, invited }) => {
  const { organization, role } = invited;
  const added = await trx
    .insertInto('auth_members')
    .values({ organization_id: organization, user_id: userId, role, created_at: auth.now() })
    .onConflict((conflict) => conflict.columns(['organization_id', 'user_id']).doNothing())
    .returning('role')
    .executeTakeFirst();
  emit('invitation.accepted', userId, { organization_id: organization, role });
  if (added) emit('member.added', userId, { organization_id: organization, role });
};
