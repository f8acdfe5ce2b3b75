import { failure } from '@twofold/runtime/errors';
import { type Call, type Reply, reply } from '@twofold/runtime/http';
import { isLastOwner, LAST_OWNER } from '@twofold/runtime/kernel';
import { object, orNull } from '@twofold/schema/shapes';
import { restoreAccount } from '../account/deletion.ts';
import { showUser, showUsers } from '../admin/show-user.ts';
import { searchUsers } from '../admin/user-search.ts';
import {
  actOn,
  type Change,
  disabling,
  enable,
  endEverything,
  findRole,
  findUser,
} from '../admin/users.ts';
import type { Emit } from '../events/events.ts';
import type { UserId } from '../ids.ts';
import { pageLink } from '../mails/links.ts';
import type { AuthParts } from '../parts.ts';
import { endPasskeys } from '../passkeys/passkey-store.ts';
import { startReset as mailReset } from '../passwords/recovery.ts';
import { callerOf } from '../requests/caller.ts';
import { forgetDevices } from '../second-factor/devices.ts';
import { removeTotp } from '../second-factor/remove-totp.ts';
import { identifierOf } from '../sign-in/identifier.ts';
import { checkText, emailKey } from '../sign-in/identity-rules.ts';
import {
  createUser as insertUser,
  isUniqueViolation,
  readNames,
  userExists,
} from '../sign-in/register.ts';
import type { Trx } from '../tables.ts';
import { DAY, HOUR } from '../time.ts';
import { assertHolds, assertHoldsAsMuch, rightsOf } from '../users/authority.ts';
import { serialiseRights } from '../users/permissions.ts';
import { giveRole, type RightsChange } from '../users/roles.ts';
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
  async handle({ query }, parts) {
    const { db } = parts.kernel.store;
    const { ids, next, total } = await searchUsers(parts, query);
    const accounts = await parts.directory.findMany(db, ids);
    const users = await showUsers(parts, accounts);
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
  async handle({ context, body }, parts) {
    parts.mailer.assertAvailable();
    const user = { ...readNames(parts, body), registering: { context, body } };
    const caller = callerOf(context);
    const work = parts.events.transact(caller, async (trx, emit) => {
      await serialiseRights(trx, parts.kernel.store.dialect);
      const role = await givenRole(parts, trx, body.role_id);
      if (role) assertHolds(context, await rightsOf(parts, trx, role));
      const id = await insertUser(parts, trx, emit, user);
      if (role) await give(parts, { trx, emit, caller }, id, role.id);
      await mailPasswordLink(parts, trx, id, user.patch.email);
      return id;
    });
    const id = await work.catch((error: unknown) => {
      throw isUniqueViolation(error) ? userExists() : error;
    });
    return reply(201, await showUser(parts, await findUser(parts, String(id))));
  },
});

export const adminUser = adminFlow('GET /api/auth/admin/users/:id', {
  needs: 'admin',
  summary: 'A user and the state of the account',
  answers: { 200: ['The user', USER] },
  handle: async ({ params }, parts) =>
    reply(200, await showUser(parts, await findUser(parts, params.id))),
});

export const unlockUser = adminFlow('POST /api/auth/admin/users/:id/unlock', {
  needs: 'admin',
  audit: { target: 'user:{id}', atomic: true },
  summary: 'Unlock an account',
  answers: DONE,
  handle: (call, parts) =>
    changed(parts, call, (account, trx, emit) => unlock(parts, account, trx, emit)),
});

export const disableUser = adminFlow('POST /api/auth/admin/users/:id/disable', {
  needs: 'admin',
  audit: { target: 'user:{id}', values: ['reason', 'until'], atomic: true },
  summary: 'Disable an account, perhaps until a time; its sessions, keys and tokens end',
  optional: true,
  body: object({ reason: SHORT, until: { type: 'string', format: 'date-time', maxLength: 64 } }),
  answers: DONE,
  async handle(call, parts) {
    const now = parts.kernel.now();
    const disabled_until = readUntil(call.body.until, now);
    const disabled_reason = checkText('reason', call.body.reason) || null;
    await actOn(parts, call, disabling(parts, { disabled_until, disabled_reason }));
    return CHANGED;
  },
});

export const enableUser = adminFlow('POST /api/auth/admin/users/:id/enable', {
  needs: 'admin',
  audit: { target: 'user:{id}', atomic: true },
  summary: 'Enable an account again',
  answers: DONE,
  handle: (call, parts) =>
    changed(parts, call, (account, trx, emit, caller) => enable(parts, account, trx, emit, caller)),
});

export const startReset = adminFlow('POST /api/auth/admin/users/:id/reset-password', {
  needs: 'admin',
  audit: { target: 'user:{id}' },
  summary: 'Send the mail that resets a password',
  answers: DONE,
  async handle({ context, params }, parts) {
    const { db } = parts.kernel.store;
    const account = await findUser(parts, params.id);
    await assertHoldsAsMuch(parts, db, context, account);
    parts.mailer.assertAvailable();
    await mailReset(parts, callerOf(context), account);
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
    handle(call, parts) {
      const { sessions, directory, kernel } = parts;
      return changed(parts, call, async (account, trx, emit) => {
        const now = kernel.now();
        const revoked = await sessions.endAll(trx, account.id, 'password change required');
        await directory.update(trx, account.id, {
          tokens_valid_after: now,
          password_change_required_at: now,
        });
        emit('auth.logout_all', account.id, { revoked, reason: 'password change required' });
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
  async handle(call, parts) {
    await actOn(parts, call, async (account, trx, emit) => {
      await endPasskeys(trx, emit, account, { reason: 'removed by an administrator' });
      await removeTotp(parts, { trx, emit }, account);
      await forgetDevices(trx, account.id);
      const revoked = await parts.sessions.endAll(trx, account.id, 'second factor removed');
      await parts.directory.update(trx, account.id, { tokens_valid_after: parts.kernel.now() });
      emit('auth.logout_all', account.id, { revoked, reason: 'second factor removed' });
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
  handle: (call, parts) =>
    changed(parts, call, async (account, trx, emit) => {
      if (!(await restoreAccount(parts, trx, emit, account)))
        throw failure.conflict('Account is not deleted');
    }),
});

export const deleteUser = adminFlow('DELETE /api/auth/admin/users/:id', {
  needs: 'admin',
  audit: { target: 'user:{id}', atomic: true },
  summary: 'Delete an account',
  answers: { 204: ['Deleted'] },
  async handle(call, parts) {
    const work = actOn(parts, call, async (account, trx, emit) => {
      await endEverything(parts, account, trx, 'user deleted');
      await parts.directory.remove(trx, account.id);
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
  async handle(call, parts) {
    if (!parts.model.roles) throw failure.notFound();
    const roleId = call.body.role_id;
    await actOn(parts, call, async (account, trx, emit, caller) => {
      const role = roleId === null ? null : await findRole(trx, roleId);
      assertHolds(call.context, await rightsOf(parts, trx, role));
      await giveRole(parts, { trx, emit, caller }, account, role?.id ?? null);
    });
    return reply(200, await showUser(parts, await findUser(parts, call.params.id)));
  },
});

async function givenRole({ model }: AuthParts, trx: Trx, id: number | undefined) {
  if (id === undefined) return null;
  if (!model.roles) throw failure.notFound('Role not found');
  return findRole(trx, id);
}

async function give(
  parts: AuthParts,
  change: RightsChange,
  userId: UserId,
  roleId: number,
): Promise<void> {
  const account = await parts.directory.find(change.trx, userId);
  if (account) await giveRole(parts, change, account, roleId);
}

async function mailPasswordLink(
  parts: AuthParts,
  trx: Trx,
  userId: UserId,
  email: string,
): Promise<void> {
  const token = await parts.oneTime.issue(trx, 'reset', userId, {
    data: { email: emailKey(email) },
    life: DAY,
  });
  const account = await parts.directory.find(trx, userId);
  parts.mails.send(
    'account-created',
    { to: email, account },
    { link: pageLink(parts, 'reset-password', token), hours: DAY / HOUR },
  );
}

const CHANGED = reply(200, { message: 'Done' });

/** Changes one account in one transaction, and says no more than that it is done. */
async function changed(parts: AuthParts, call: Call, change: Change): Promise<Reply> {
  await actOn(parts, call, change);
  return CHANGED;
}

async function unlock(parts: AuthParts, account: Account, trx: Trx, emit: Emit): Promise<void> {
  await parts.lockout.clear(trx, identifierOf(parts, account.email));
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
