import { failure } from '@twofold/runtime/errors';
import { type Call, type Reply, reply } from '@twofold/runtime/http';
import { object } from '@twofold/schema/shapes';
import { digest, randomToken, ulid } from '../base/ids.ts';
import { pageLink } from '../mails/links.ts';
import { mailName } from '../mails/html.ts';
import { assertMayMailStrangers, sendStrangerMail } from '../mails/stranger-mail.ts';
import {
  findInvitation,
  type Invited,
  join,
  type OnAnswer,
  useInvitation,
} from '../organizations/invitations.ts';
import {
  assertManages,
  checkRole,
  mayGive,
  organizationsOf,
  ownMembership,
  roleOf,
} from '../organizations/membership.ts';
import type { AuthState } from '../state.ts';
import { asUser, callerOf } from '../base/caller.ts';
import { checkEmail, emailKey } from '../base/identity-rules.ts';
import { signedInAccount } from '../requests/proof.ts';
import type { AnyDb, RowOf } from '../base/tables.ts';
import { DAY, rfc3339 } from '../base/time.ts';
import { storedIn, tableIn } from '../users/adopted-table.ts';
import { refuseImpersonation } from '../requests/authority.ts';
import { serialiseRights } from '../users/permissions.ts';
import type { Account } from '../users/user-directory.ts';
import { MANAGED, organizationFlow, SIGNED_IN } from './flow.ts';
import { ADDRESS, ID, listOf, SHORT, TIME, TOKEN } from './shapes.ts';

const INVITATION = object({ id: SHORT, email: SHORT, role: SHORT, expires_at: TIME }, [
  'id',
  'email',
  'role',
  'expires_at',
]);
const JOINED = object({ organization_id: ID, role: SHORT }, ['organization_id', 'role']);
const NOT_JOINED = {
  400: 'Invalid or expired token',
  ...SIGNED_IN,
  403: 'Another address, or one that is not verified',
} as const;

export const invitations = organizationFlow('GET /api/auth/organizations/:id/invitations', {
  needs: 'session',
  summary: 'The invitations of an organization that are still good',
  answers: { 200: ['The invitations', listOf('invitations', INVITATION)] },
  refuses: MANAGED,
  async handle({ context, params }, auth) {
    const own = await ownMembership(auth, context, params.id);
    assertManages(auth, own);
    const rows = await auth.db
      .selectFrom('auth_invitations')
      .selectAll()
      .where('organization_id', '=', own.organization)
      .where('expires_at', '>', auth.now())
      .orderBy('id')
      .execute();
    return reply(200, { invitations: rows.map(shown), total: rows.length });
  },
});

export const invite = organizationFlow('POST /api/auth/organizations/:id/invitations', {
  needs: 'session',
  summary: 'Invite an address by mail; a second invitation replaces the first',
  body: object({ email: ADDRESS, role: SHORT }, ['email', 'role']),
  answers: { 201: ['The invitation', INVITATION] },
  refuses: {
    400: 'There is no such role, or no such address',
    ...MANAGED,
    409: 'Already a member',
    503: 'No way to send mail',
  },
  async handle({ koa, context, params, body }, auth) {
    // A membership would outlive the session of the administrator who acts as this user.
    refuseImpersonation(context);
    const organizations = organizationsOf(auth);
    const own = await ownMembership(auth, context, params.id);
    assertManages(auth, own);
    const role = checkRole(organizations, body.role);
    if (!mayGive(organizations, own.role, role)) throw failure.forbidden();
    const email = checkEmail(body.email);
    const { account, organization } = own;
    const known = await auth.directory.findByEmail(auth.db, email);
    if (known && (await roleOf(auth.db, organization, known.id)) !== null)
      throw failure.conflict('Already a member');
    await assertMayMailStrangers(auth, koa, account, [
      { policy: 'invite-user', subject: String(account.id) },
      { policy: 'invite-organization', subject: String(organization) },
    ]);
    const token = randomToken(32);
    const row = {
      id: `inv_${ulid(auth.now())}`,
      organization_id: organization,
      email: emailKey(email),
      role,
      hash: digest(token),
      invited_by: account.id,
      created_at: auth.now(),
      expires_at: auth.now() + organizations.invitations,
    };
    const caller = asUser(callerOf(context), account.id);
    await auth.events.transact(caller, async ({ trx, emit }) => {
      // Invitations to one address at the same time replace each other one after the other.
      await serialiseRights(trx, auth.store.dialect);
      await trx
        .deleteFrom('auth_invitations')
        .where('organization_id', '=', organization)
        .where('email', '=', row.email)
        .execute();
      await trx.insertInto('auth_invitations').values(row).execute();
      emit('invitation.created', known?.id ?? null, invitationData(row.id, organization, role));
    });
    await sendStrangerMail(
      auth,
      'invitation',
      { to: email, account: known, caller },
      {
        link: pageLink(auth, 'invitation', token),
        organization: await nameOf(auth, organization),
        role,
        inviter: mailName(`${account.first_name} ${account.last_name}`),
        days: Math.ceil(organizations.invitations / DAY),
      },
    );
    return reply(201, shown(row));
  },
});

export const revokeInvitation = organizationFlow(
  'DELETE /api/auth/organizations/:id/invitations/:invitation_id',
  {
    needs: 'session',
    summary: 'Take an invitation back',
    answers: { 204: ['Taken back'] },
    refuses: MANAGED,
    async handle({ context, params }, auth) {
      const own = await ownMembership(auth, context, params.id);
      assertManages(auth, own);
      await auth.events.transact(
        asUser(callerOf(context), own.account.id),
        async ({ trx, emit }) => {
          const row = await trx
            .deleteFrom('auth_invitations')
            .where('organization_id', '=', own.organization)
            .where('id', '=', params.invitation_id)
            .returning(['id', 'role'])
            .executeTakeFirst();
          if (!row) throw failure.notFound('Invitation not found');
          emit('invitation.revoked', null, invitationData(row.id, own.organization, row.role));
        },
      );
      return reply(204);
    },
  },
);

export const acceptInvitation = organizationFlow('POST /api/auth/invitations/accept', {
  needs: 'session',
  summary: 'Join the organization of an invitation',
  body: object({ token: TOKEN }, ['token']),
  answers: { 200: ['The organization and the role', JOINED] },
  refuses: NOT_JOINED,
  handle: (call, auth) => answer(auth, call, join),
});

export const declineInvitation = organizationFlow('POST /api/auth/invitations/decline', {
  needs: 'session',
  summary: 'Decline an invitation',
  body: object({ token: TOKEN }, ['token']),
  answers: { 200: ['The organization and the role', JOINED] },
  refuses: NOT_JOINED,
  handle: (call, auth) => answer(auth, call, async () => {}),
});

const shown = ({ id, email, role, expires_at }: RowOf<'auth_invitations'>) => ({
  id,
  email,
  role,
  expires_at: rfc3339(expires_at),
});

const invitationData = (id: string, organization_id: number | string, role: string) => ({
  invitation_id: id,
  organization_id,
  role,
});

/** The name of an organization as mails show it. */
async function nameOf(auth: AuthState, organization: number | string): Promise<string> {
  const { name, entity, ...place } = organizationsOf(auth);
  if (name === null) return `a ${entity}`;
  const row = await (auth.db as AnyDb)
    .selectFrom(tableIn(auth.store.dialect, place))
    .select(`${storedIn(place, name)} as name`)
    .where(storedIn(place, 'id'), '=', organization)
    .executeTakeFirst();
  return mailName(String(row?.['name'] ?? '')) || `a ${entity}`;
}

/** `accept` and `decline`: both use the invitation up. */
async function answer(auth: AuthState, { context, body }: Call, then: OnAnswer): Promise<Reply> {
  const { account } = await signedInAccount(auth, context);
  const caller = asUser(callerOf(context), account.id);
  const invited = await auth.events.transact(caller, async (change) => {
    const found = await findInvitation(auth, change.trx, body.token);
    assertAddressed(account, found);
    const used = await useInvitation(auth, change.trx, body.token);
    await then(auth, change, { userId: account.id, invited: used });
    return used;
  });
  return reply(200, { organization_id: invited.organization, role: invited.role });
}

function assertAddressed(account: Account, { email }: Invited): void {
  if (emailKey(account.email) !== email || !account.emailVerified) throw failure.forbidden();
}
