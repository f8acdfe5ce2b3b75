import { failure } from '@twofold/runtime/errors';
import { type Call, type Reply, reply } from '@twofold/runtime/http';
import { isLastOwner, LAST_OWNER } from '@twofold/runtime/kernel';
import { object, orNull } from '@twofold/schema/shapes';
import { endSessions } from '../sign-in/ended-access.ts';
import type { Change } from '../events/events.ts';
import { restoreAccount } from '../account/purge.ts';
import { showUser, showUsers } from '../admin/show-user.ts';
import { searchUsers } from '../admin/user-search.ts';
import {
  type AccountChange,
  actOn,
  disabling,
  enable,
  endEverything,
  findRole,
  findUser,
} from '../admin/users.ts';
import type { UserId } from '../base/ids.ts';
import { pageLink } from '../mails/links.ts';
import type { AuthState } from '../state.ts';
import { endPasskeys } from '../passkeys/passkey-store.ts';
import { startReset as mailReset } from '../sign-in/mailed-links.ts';
import { callerOf } from '../base/caller.ts';
import { forgetDevices } from '../second-factor/devices.ts';
import { removeTotp } from '../second-factor/totp.ts';
import { identifierOf } from '../limits/identifier.ts';
import { checkText, emailKey } from '../base/identity-rules.ts';
import {
  createUser as insertUser,
  isUniqueViolation,
  readNames,
  userExists,
} from '../sign-in/register.ts';
import type { Trx } from '../base/tables.ts';
import { DAY, HOUR } from '../base/time.ts';
import { assertHolds, assertHoldsAsMuch, rightsOf } from '../requests/authority.ts';
import { serialiseRights } from '../users/permissions.ts';
import { giveRole } from '../users/roles.ts';
import type { Account } from '../users/user-directory.ts';
import { isForeignKeyViolation } from '../users/user-table.ts';
import { adminFlow, DONE } from './flow.ts';
import { ADDRESS, page, SHORT, USER, WHOLE } from './shapes.ts';

export const users = adminFlow('GET /api/auth/admin/users', {
  needs: 'admin',
  summary:
    'Users, by the start of an e-mail address, username or name, by role, state and organization',
  query: {
    q: SHORT,
    role: SHORT,
    state: { type: 'string', enum: ['active', 'disabled', 'locked', 'unverified', 'deleted'] },
    organization: SHORT,
    sort: { type: 'string', enum: ['created_at', 'email', 'last_login'] },
    order: { type: 'string', enum: ['asc', 'desc'] },
    limit: { type: 'integer', minimum: 1, maximum: 200, default: 50 },
    cursor: { type: 'string', maxLength: 2048 },
  },
  answers: { 200: ['The users', page('users', { total: WHOLE })] },
  async handle({ query }, auth) {
    const { db } = auth;
    const { ids, next, total } = await searchUsers(auth, query);
    const accounts = await auth.directory.findMany(db, ids);
    const users = await showUsers(auth, accounts);
    // The lock of an earlier address of the user is not theirs any more.
    const shown =
      query.state === 'locked' ? users.filter((user) => user.locked_until !== null) : users;
    return reply(200, { users: shown, next_cursor: next, total });
  },
});

export const createUser = adminFlow('POST /api/auth/admin/users', {
  needs: 'admin',
  audit: { target: 'user:{id}', values: ['role_id'], atomic: true },
  summary: 'Make an account; the mail has the link that sets its password, good for 24 hours',
  body: object(
    {
      email: ADDRESS,
      first_name: SHORT,
      last_name: SHORT,
      name: SHORT,
      username: SHORT,
      phone: SHORT,
      role_id: WHOLE,
    },
    ['email'],
  ),
  answers: { 201: ['The user', USER] },
  refuses: {
    400: 'A field is not acceptable',
    404: 'Role not found',
    409: 'User already exists',
    503: 'Mail is not set up',
  },
  async handle({ context, body }, auth) {
    auth.mails.assertAvailable();
    const user = { ...readNames(auth, body), registering: { context, body } };
    const caller = callerOf(context);
    const work = auth.events.transact(caller, async (change) => {
      const { trx } = change;
      await serialiseRights(trx, auth.store.dialect);
      const role = await givenRole(auth, trx, body.role_id);
      if (role) assertHolds(context, await rightsOf(auth, trx, role));
      const id = await insertUser(auth, change, user);
      if (role) await give(auth, change, id, role.id);
      await mailPasswordLink(auth, trx, id, user.patch.email);
      return id;
    });
    const id = await work.catch((error: unknown) => {
      throw isUniqueViolation(error) ? userExists() : error;
    });
    return reply(201, await showUser(auth, await findUser(auth, String(id))));
  },
});

export const adminUser = adminFlow('GET /api/auth/admin/users/:id', {
  needs: 'admin',
  summary: 'A user and the state of the account',
  answers: { 200: ['The user', USER] },
  handle: async ({ params }, auth) =>
    reply(200, await showUser(auth, await findUser(auth, params.id))),
});

export const unlockUser = adminFlow('POST /api/auth/admin/users/:id/unlock', {
  needs: 'admin',
  audit: { target: 'user:{id}', atomic: true },
  summary: 'Unlock an account',
  answers: DONE,
  handle: (call, auth) => changed(auth, call, (account, change) => unlock(auth, account, change)),
});

export const disableUser = adminFlow('POST /api/auth/admin/users/:id/disable', {
  needs: 'admin',
  audit: { target: 'user:{id}', values: ['reason', 'until'], atomic: true },
  summary: 'Disable an account, perhaps until a time; its sessions, keys and tokens end',
  optional: true,
  body: object({ reason: SHORT, until: { type: 'string', format: 'date-time', maxLength: 64 } }),
  answers: DONE,
  async handle(call, auth) {
    const now = auth.now();
    const disabled_until = readUntil(call.body.until, now);
    const disabled_reason = checkText('reason', call.body.reason) || null;
    await actOn(auth, call, disabling(auth, { disabled_until, disabled_reason }));
    return CHANGED;
  },
});

export const enableUser = adminFlow('POST /api/auth/admin/users/:id/enable', {
  needs: 'admin',
  audit: { target: 'user:{id}', atomic: true },
  summary: 'Enable an account again',
  answers: DONE,
  handle: (call, auth) => changed(auth, call, (account, change) => enable(auth, account, change)),
});

export const startReset = adminFlow('POST /api/auth/admin/users/:id/reset-password', {
  needs: 'admin',
  audit: { target: 'user:{id}' },
  summary: 'Send the mail that resets a password',
  answers: DONE,
  async handle({ context, params }, auth) {
    const { db } = auth;
    const account = await findUser(auth, params.id);
    await assertHoldsAsMuch(auth, db, context, account);
    auth.mails.assertAvailable();
    await mailReset(auth, callerOf(context), account);
    return CHANGED;
  },
});

export const requirePasswordChange = adminFlow(
  'POST /api/auth/admin/users/:id/require-password-change',
  {
    needs: 'admin',
    audit: { target: 'user:{id}', atomic: true },
    summary: 'End the sessions of a user and ask for a new password at the next sign-in',
    answers: DONE,
    handle(call, auth) {
      return changed(auth, call, async (account, change) => {
        await endSessions(auth, change, account.id, 'password change required', true);
        const required = { password_change_required_at: auth.now() };
        await auth.directory.update(change.trx, account.id, required);
      });
    },
  },
);

/** For a user who lost the device. They sign in with the password or a reset afterwards. */
export const removeSecondFactor = adminFlow('DELETE /api/auth/admin/users/:id/second-factor', {
  needs: 'admin',
  audit: { target: 'user:{id}', atomic: true },
  summary: 'Remove TOTP, recovery codes, passkeys and remembered devices; sessions end',
  answers: { 204: ['Removed'] },
  async handle(call, auth) {
    await actOn(auth, call, async (account, change) => {
      await endPasskeys(change, account, { reason: 'removed by an administrator' });
      await removeTotp(auth, change, account);
      await forgetDevices(change.trx, account.id);
      await endSessions(auth, change, account.id, 'second factor removed', true);
    });
    return reply(204);
  },
});

export const restoreUser = adminFlow('POST /api/auth/admin/users/:id/restore', {
  needs: 'admin',
  audit: { target: 'user:{id}', atomic: true },
  summary: 'Restore an account that its owner has deleted, during the grace',
  answers: DONE,
  refuses: { 409: 'Account is not deleted' },
  handle: (call, auth) =>
    changed(auth, call, async (account, change) => {
      if (!(await restoreAccount(auth, change, account)))
        throw failure.conflict('Account is not deleted');
    }),
});

export const deleteUser = adminFlow('DELETE /api/auth/admin/users/:id', {
  needs: 'admin',
  audit: { target: 'user:{id}', atomic: true },
  summary: 'Delete an account',
  answers: { 204: ['Deleted'] },
  async handle(call, auth) {
    const work = actOn(auth, call, async (account, { trx, emit }) => {
      await endEverything(auth, account, trx, 'user deleted');
      await auth.directory.remove(trx, account.id);
      emit('user.deleted', account.id, {});
    });
    await work.catch((error: unknown) => {
      if (isLastOwner(error)) throw failure.conflict(LAST_OWNER);
      throw isForeignKeyViolation(error)
        ? failure.conflict('Other records refer to this user')
        : error;
    });
    return reply(204);
  },
});

export const assignRole = adminFlow('PUT /api/auth/admin/users/:id/role', {
  needs: 'admin',
  audit: { target: 'user:{id}', values: ['role_id'], atomic: true },
  summary: 'Give a user a role',
  body: object({ role_id: orNull('integer') }, ['role_id']),
  answers: { 200: ['The user', USER] },
  async handle(call, auth) {
    if (!auth.model.roles) throw failure.notFound();
    const roleId = call.body.role_id;
    await actOn(auth, call, async (account, change) => {
      const role = roleId === null ? null : await findRole(change.trx, roleId);
      assertHolds(call.context, await rightsOf(auth, change.trx, role));
      await giveRole(auth, change, account, role?.id ?? null);
    });
    return reply(200, await showUser(auth, await findUser(auth, call.params.id)));
  },
});

async function givenRole(auth: AuthState, trx: Trx, id: number | undefined) {
  if (id === undefined) return null;
  if (!auth.model.roles) throw failure.notFound('Role not found');
  return findRole(trx, id);
}

async function give(
  auth: AuthState,
  change: Change,
  userId: UserId,
  roleId: number,
): Promise<void> {
  const account = await auth.directory.find(change.trx, userId);
  if (account) await giveRole(auth, change, account, roleId);
}

async function mailPasswordLink(
  auth: AuthState,
  trx: Trx,
  userId: UserId,
  email: string,
): Promise<void> {
  const token = await auth.oneTime.issue(trx, 'reset', userId, {
    data: { email: emailKey(email) },
    life: DAY,
  });
  const account = await auth.directory.find(trx, userId);
  auth.mails.send(
    'account-created',
    { to: email, account },
    { link: pageLink(auth, 'reset-password', token), hours: DAY / HOUR },
  );
}

const CHANGED = reply(200, { message: 'Done' });

/** Changes one account in one transaction, and says no more than that it is done. */
async function changed(auth: AuthState, call: Call, change: AccountChange): Promise<Reply> {
  await actOn(auth, call, change);
  return CHANGED;
}

async function unlock(auth: AuthState, account: Account, { trx, emit }: Change): Promise<void> {
  await auth.lockout.clear(trx, identifierOf(auth, account.email));
  emit('auth.unlocked', account.id, { by: 'admin' });
}

/** @throws AppError 400 unless it is a time to come. */
function readUntil(text: string | undefined, now: number): number | null {
  if (text === undefined) return null;
  const until = Date.parse(text);
  if (!(until > now) || !/^\d{4}-\d\d-\d\dT/.test(text))
    throw failure.invalid('until must be a time to come, such as 2027-01-31T00:00:00Z');
  return until;
}
