import { storedIn, tableIn } from '../users/adopted-table.ts';
import type { AnyDb, Db, RowOf, Trx } from '../tables.ts';
import { refuseImpersonation } from '../users/authority.ts';
import { failure } from '@twofold/runtime/errors';
import { type Handler, reply } from '@twofold/runtime/http';
import { asUser, callerOf } from '../requests/caller.ts';
import type { Emit } from '../events/events.ts';
import { checkEmail, emailKey } from '../sign-in/identity-rules.ts';
import { digest, randomToken, ulid, type UserId } from '../ids.ts';
import { pageLink } from '../mails/links.ts';
import { invalidToken } from '../secrets/one-time-tokens.ts';
import type { AuthParts } from '../parts.ts';
import { serialiseRights } from '../users/permissions.ts';
import { signedInAccount } from '../steps/reauthentication.ts';
import { mailName } from '../mails/names.ts';
import { assertMayMailStrangers, sendStrangerMail } from '../mails/stranger-mail.ts';
import { DAY, rfc3339 } from '../time.ts';
import type { Account } from '../users/user-directory.ts';
import { assertManages, organizationsOf, ownMembership, roleOf } from './membership.ts';
import { checkRole, mayGive } from './roles.ts';

/** Routes of invitations. */
export function invitationHandlers(parts: AuthParts) {
  return {
    invitations: list(parts),
    invite: invite(parts),
    revokeInvitation: revoke(parts),
    acceptInvitation: answer(parts, join),
    declineInvitation: answer(parts, async () => {}),
  };
}

/** The organization of an invitation. */
export interface Invited {
  readonly organization: number | string;
  readonly role: string;
  readonly email: string;
}

const shown = ({ id, email, role, expires_at }: RowOf<'auth_invitations'>) => ({
  id,
  email,
  role,
  expires_at: rfc3339(expires_at),
});

function list(parts: AuthParts): Handler {
  const { kernel } = parts;
  return async ({ context, params }) => {
    const own = await ownMembership(parts, context, params['id']);
    assertManages(parts, own);
    const rows = await kernel.store.db
      .selectFrom('auth_invitations')
      .selectAll()
      .where('organization_id', '=', own.organization)
      .where('expires_at', '>', kernel.now())
      .orderBy('id')
      .execute();
    return reply(200, { invitations: rows.map(shown), total: rows.length });
  };
}

function invite(parts: AuthParts): Handler {
  const { kernel, events, directory } = parts;
  return async ({ koa, context, params, body }) => {
    // A membership would outlive the session of the administrator who acts as this user.
    refuseImpersonation(context);
    const organizations = organizationsOf(parts);
    const own = await ownMembership(parts, context, params['id']);
    assertManages(parts, own);
    const role = checkRole(organizations, body.role);
    if (!mayGive(organizations, own.role, role)) throw failure.forbidden();
    const email = checkEmail(body.email);
    const { account, organization } = own;
    const known = await directory.findByEmail(kernel.store.db, email);
    if (known && (await roleOf(kernel.store.db, organization, known.id)) !== null)
      throw failure.conflict('Already a member');
    await assertMayMailStrangers(parts, koa, account, [
      { policy: 'invite-user', subject: String(account.id) },
      { policy: 'invite-organization', subject: String(organization) },
    ]);
    const token = randomToken(32);
    const row = {
      id: `inv_${ulid(kernel.now())}`,
      organization_id: organization,
      email: emailKey(email),
      role,
      hash: digest(token),
      invited_by: account.id,
      created_at: kernel.now(),
      expires_at: kernel.now() + organizations.invitations,
    };
    const caller = asUser(callerOf(context), account.id);
    await events.transact(caller, async (trx, emit) => {
      // Invitations to one address at the same time replace each other one after the other.
      await serialiseRights(trx, kernel.store.dialect);
      await trx
        .deleteFrom('auth_invitations')
        .where('organization_id', '=', organization)
        .where('email', '=', row.email)
        .execute();
      await trx.insertInto('auth_invitations').values(row).execute();
      emit('invitation.created', known?.id ?? null, invitationData(row.id, organization, role));
    });
    await sendStrangerMail(
      parts,
      'invitation',
      { to: email, account: known, caller },
      {
        link: pageLink(parts, 'invitation', token),
        organization: await nameOf(parts, organization),
        role,
        inviter: mailName(`${account.first_name} ${account.last_name}`),
        days: Math.ceil(organizations.invitations / DAY),
      },
    );
    return reply(201, shown(row));
  };
}

const invitationData = (id: string, organization_id: number | string, role: string) => ({
  invitation_id: id,
  organization_id,
  role,
});

/** The name of an organization as mails show it. */
async function nameOf(parts: AuthParts, organization: number | string): Promise<string> {
  const { name, entity, ...place } = organizationsOf(parts);
  if (name === null) return `a ${entity}`;
  const row = await (parts.kernel.store.db as AnyDb)
    .selectFrom(tableIn(parts.kernel.store.dialect, place))
    .select(`${storedIn(place, name)} as name`)
    .where(storedIn(place, 'id'), '=', organization)
    .executeTakeFirst();
  return mailName(String(row?.['name'] ?? '')) || `a ${entity}`;
}

function revoke(parts: AuthParts): Handler {
  return async ({ context, params }) => {
    const own = await ownMembership(parts, context, params['id']);
    assertManages(parts, own);
    await parts.events.transact(asUser(callerOf(context), own.account.id), async (trx, emit) => {
      const row = await trx
        .deleteFrom('auth_invitations')
        .where('organization_id', '=', own.organization)
        .where('id', '=', params['invitation_id'] ?? '')
        .returning(['id', 'role'])
        .executeTakeFirst();
      if (!row) throw failure.notFound('Invitation not found');
      emit('invitation.revoked', null, invitationData(row.id, own.organization, row.role));
    });
    return reply(204);
  };
}

type OnAnswer = (
  parts: AuthParts,
  trx: Trx,
  emit: Emit,
  joining: { readonly userId: UserId; readonly invited: Invited },
) => Promise<void>;

/** `accept` and `decline`: both use the invitation up. */
function answer(parts: AuthParts, then: OnAnswer): Handler {
  return async ({ context, body }) => {
    const { account } = await signedInAccount(parts, context);
    const caller = asUser(callerOf(context), account.id);
    const invited = await parts.events.transact(caller, async (trx, emit) => {
      const found = await findInvitation(parts, trx, body.token);
      assertAddressed(account, found);
      const used = await useInvitation(parts, trx, body.token);
      await then(parts, trx, emit, { userId: account.id, invited: used });
      return used;
    });
    return reply(200, { organization_id: invited.organization, role: invited.role });
  };
}

function assertAddressed(account: Account, { email }: Invited): void {
  if (emailKey(account.email) !== email || !account.emailVerified) throw failure.forbidden();
}

const unused = (parts: AuthParts, db: Db, token: string) =>
  db
    .selectFrom('auth_invitations')
    .selectAll()
    .where('hash', '=', digest(token))
    .where('expires_at', '>', parts.kernel.now());

/** Finds an invitation without using it up. @throws AppError 400 `Invalid or expired token` */
export async function findInvitation(parts: AuthParts, db: Db, token: string): Promise<Invited> {
  const row = await unused(parts, db, token).executeTakeFirst();
  if (!row) throw invalidToken();
  await assertSenderMay(parts, db, row);
  return { organization: row.organization_id, role: row.role, email: row.email };
}

/** An invitation is void when its sender may no longer give the role. */
async function assertSenderMay(
  parts: AuthParts,
  db: Db,
  row: RowOf<'auth_invitations'>,
): Promise<void> {
  const sender = await parts.directory.find(db, row.invited_by);
  const role = sender && (await roleOf(db, row.organization_id, sender.id));
  const open = sender?.disabledAt === null && sender.deletionAt === null;
  if (!role || !open || !mayGive(organizationsOf(parts), role, row.role)) throw invalidToken();
}

/** Uses an invitation up. Of two concurrent calls one fails. @throws AppError 400 */
export async function useInvitation(parts: AuthParts, trx: Trx, token: string): Promise<Invited> {
  await serialiseRights(trx, parts.kernel.store.dialect);
  const found = await findInvitation(parts, trx, token);
  const row = await trx
    .deleteFrom('auth_invitations')
    .where('hash', '=', digest(token))
    .returning('id')
    .executeTakeFirst();
  if (!row) throw invalidToken();
  return found;
}

/** Adds the invited user. A member keeps the role that they have. */
export const join: OnAnswer = async ({ kernel }, trx, emit, { userId, invited }) => {
  const { organization, role } = invited;
  const added = await trx
    .insertInto('auth_members')
    .values({ organization_id: organization, user_id: userId, role, created_at: kernel.now() })
    .onConflict((conflict) => conflict.columns(['organization_id', 'user_id']).doNothing())
    .returning('role')
    .executeTakeFirst();
  emit('invitation.accepted', userId, { organization_id: organization, role });
  if (added) emit('member.added', userId, { organization_id: organization, role });
};
