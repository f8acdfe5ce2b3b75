import type { Db, Trx } from '../tables.ts';
import { failure } from '@twofold/runtime/errors';
import { type Call, type Handler, reply } from '@twofold/runtime/http';
import { LAST_OWNER, isLastOwner } from '@twofold/runtime/kernel';
import { restoreAccount } from '../account/deletion.ts';
import { assertHolds, assertHoldsAsMuch, rightsOf } from '../users/authority.ts';
import { type Caller, callerOf } from '../requests/caller.ts';
import type { Emit } from '../events/events.ts';
import { parseOwnUserId } from '../ids.ts';
import { checkText } from '../sign-in/identity-rules.ts';
import { identifierOf } from '../sign-in/identifier.ts';
import { assertNotLastFirst } from '../organizations/membership.ts';
import { assertOwnerLeft } from '../users/owners.ts';
import type { AuthParts } from '../parts.ts';
import { assertProofFor } from '../requests/proof.ts';
import { endPasskeys } from '../passkeys/passkey-store.ts';
import { startReset } from '../passwords/recovery.ts';
import { serialiseRights } from '../users/permissions.ts';
import { giveRole, recordChange } from '../users/roles.ts';
import { rfc3339 } from '../time.ts';
import type { Account } from '../users/user-directory.ts';
import { isForeignKeyViolation } from '../users/user-table.ts';
import { forgetDevices } from '../second-factor/devices.ts';
import { removeTotp } from '../second-factor/remove-totp.ts';
import { showUser } from './show-user.ts';

const DONE = reply(200, { message: 'Done' });

/** Management of accounts. An administrator cannot set another user's password (ASVS 6.4.6). */
export function userHandlers(parts: AuthParts) {
  return {
    adminUser: read(parts),
    unlockUser: changeHandler(parts, (account, trx, emit) => unlock(parts, account, trx, emit)),
    disableUser: disable(parts),
    enableUser: changeHandler(parts, (account, trx, emit, caller) =>
      enable(parts, account, trx, emit, caller),
    ),
    restoreUser: changeHandler(parts, async (account, trx, emit) => {
      if (!(await restoreAccount(parts, trx, emit, account)))
        throw failure.conflict('Account is not deleted');
    }),
    requirePasswordChange: requirePasswordChange(parts),
    removeSecondFactor: removeSecondFactor(parts),
    startReset: sendReset(parts),
    deleteUser: remove(parts),
    endUserSessions: endSessions(parts),
    assignRole: assignRole(parts),
  };
}

function read(parts: AuthParts): Handler {
  return async ({ params }) =>
    reply(200, await showUser(parts, await findUser(parts, params['id'])));
}

export type Change = (account: Account, trx: Trx, emit: Emit, caller: Caller) => Promise<void>;

/** A handler that changes one account in one transaction. */
function changeHandler(parts: AuthParts, change: Change): Handler {
  return async (call) => {
    await actOn(parts, call, change);
    return DONE;
  };
}

/**
 * Runs one change of an account. The caller must hold every permission of that account, and no
 * permissions can change meanwhile. Their own account they change only with a proof.
 *
 * @throws AppError 403, 404
 */
export async function actOn(
  parts: AuthParts,
  { context, params }: Pick<Call, 'context' | 'params'>,
  change: Change,
): Promise<void> {
  const caller = callerOf(context);
  await parts.events.transact(caller, async (trx, emit) => {
    await serialiseRights(trx, parts.kernel.store.dialect);
    const account = await findUser(parts, params['id'], trx);
    await assertHoldsAsMuch(parts, trx, context, account);
    await assertProofFor(parts, trx, context, account.id);
    await change(account, trx, emit, caller);
  });
}

async function unlock(parts: AuthParts, account: Account, trx: Trx, emit: Emit): Promise<void> {
  await parts.lockout.clear(trx, identifierOf(parts, account.email));
  emit('auth.unlocked', account.id, { by: 'admin' });
}

function disable(parts: AuthParts): Handler {
  return async (call) => {
    const now = parts.kernel.now();
    const disabled_until = readUntil(call.body.until, now);
    const disabled_reason = checkText('reason', call.body.reason) || null;
    await actOn(parts, call, disabling(parts, { disabled_until, disabled_reason }));
    return DONE;
  };
}

/** The change that disables an account, for a time or for good. */
export function disabling(
  parts: AuthParts,
  { disabled_until = null, disabled_reason = null }: Partial<Disabling> = {},
): Change {
  const data = {
    ...(disabled_reason && { reason: disabled_reason }),
    ...(disabled_until && { until: rfc3339(disabled_until) }),
  };
  return async (account, trx, emit, caller) => {
    const now = parts.kernel.now();
    const disabled_at = account.disabledAt ?? now;
    const patch = { disabled_at, disabled_until, disabled_reason };
    await parts.directory.update(trx, account.id, patch);
    await assertOwnerLeft(parts, trx, account);
    await assertNotLastFirst(parts, trx, account.id);
    await endEverything(parts, account, trx, 'user disabled');
    await recordChange(trx, now, caller, {
      action: 'user.disabled',
      target: { kind: 'user', id: account.id },
      before: { disabled: account.disabledAt !== null },
      after: { disabled: true, ...data },
    });
    emit('user.disabled', account.id, data);
  };
}

interface Disabling {
  readonly disabled_until: number | null;
  readonly disabled_reason: string | null;
}

/** @throws AppError 400 unless it is a time to come. */
function readUntil(text: string | undefined, now: number): number | null {
  if (text === undefined) return null;
  const until = Date.parse(text);
  if (!(until > now) || !/^\d{4}-\d\d-\d\dT/.test(text))
    throw failure.invalid('until must be a time to come, such as 2027-01-31T00:00:00Z');
  return until;
}

export async function enable(
  { directory, kernel }: AuthParts,
  account: Account,
  trx: Trx,
  emit: Emit,
  caller: Caller,
): Promise<void> {
  const patch = { disabled_at: null, disabled_until: null, disabled_reason: null };
  await directory.update(trx, account.id, patch);
  await recordChange(trx, kernel.now(), caller, {
    action: 'user.enabled',
    target: { kind: 'user', id: account.id },
    before: { disabled: account.disabledAt !== null },
    after: { disabled: false },
  });
  emit('user.enabled', account.id, {});
}

/** Ends sessions, keys and one-time tokens of an account that is disabled or deleted. */
export async function endEverything(
  { sessions, oneTime, kernel }: AuthParts,
  account: Account,
  trx: Trx,
  reason: string,
): Promise<void> {
  await sessions.endAll(trx, account.id, reason);
  await oneTime.endAll(trx, account.id);
  await trx
    .updateTable('auth_api_keys')
    .set({ revoked_at: kernel.now() })
    .where('owner_user_id', '=', account.id)
    .where('revoked_at', 'is', null)
    .execute();
}

function sendReset(parts: AuthParts): Handler {
  return async ({ context, params }) => {
    const { db } = parts.kernel.store;
    const account = await findUser(parts, params['id']);
    await assertHoldsAsMuch(parts, db, context, account);
    parts.mailer.assertAvailable();
    await startReset(parts, callerOf(context), account);
    return DONE;
  };
}

function remove(parts: AuthParts): Handler {
  return async (call) => {
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
  };
}

function endSessions(parts: AuthParts): Handler {
  const { sessions, directory, kernel } = parts;
  return async (call) => {
    await actOn(parts, call, async (account, trx, emit) => {
      const revoked = await sessions.endAll(trx, account.id, 'ended by an administrator');
      await directory.update(trx, account.id, { tokens_valid_after: kernel.now() });
      emit('auth.logout_all', account.id, { revoked });
    });
    return reply(204);
  };
}

function requirePasswordChange(parts: AuthParts): Handler {
  const { sessions, directory, kernel } = parts;
  return changeHandler(parts, async (account, trx, emit) => {
    const now = kernel.now();
    const revoked = await sessions.endAll(trx, account.id, 'password change required');
    await directory.update(trx, account.id, {
      tokens_valid_after: now,
      password_change_required_at: now,
    });
    emit('auth.logout_all', account.id, { revoked, reason: 'password change required' });
  });
}

/** For a user who lost the device. They sign in with the password or a reset afterwards. */
function removeSecondFactor(parts: AuthParts): Handler {
  return async (call) => {
    await actOn(parts, call, async (account, trx, emit) => {
      await endPasskeys(trx, emit, account, { reason: 'removed by an administrator' });
      await removeTotp(parts, { trx, emit }, account);
      await forgetDevices(trx, account.id);
      const revoked = await parts.sessions.endAll(trx, account.id, 'second factor removed');
      await parts.directory.update(trx, account.id, { tokens_valid_after: parts.kernel.now() });
      emit('auth.logout_all', account.id, { revoked, reason: 'second factor removed' });
    });
    return reply(204);
  };
}

function assignRole(parts: AuthParts): Handler {
  return async (call) => {
    if (!parts.model.roles) throw failure.notFound();
    const roleId = call.body.role_id as number | null;
    await actOn(parts, call, async (account, trx, emit, caller) => {
      const role = roleId === null ? null : await findRole(trx, roleId);
      assertHolds(call.context, await rightsOf(parts, trx, role));
      await giveRole(parts, { trx, emit, caller }, account, role?.id ?? null);
    });
    return reply(200, await showUser(parts, await findUser(parts, call.params['id'])));
  };
}

export async function findRole(
  trx: Trx,
  id: number,
): Promise<{ readonly id: number; readonly name: string }> {
  const role = await trx
    .selectFrom('auth_roles')
    .select(['id', 'name'])
    .where('id', '=', id)
    .executeTakeFirst();
  if (!role) throw failure.notFound('Role not found');
  return role;
}

export async function findUser(
  { directory, kernel }: AuthParts,
  id = '',
  db: Db = kernel.store.db,
): Promise<Account> {
  const userId = parseOwnUserId(kernel.project.ids, id);
  const account = userId === null ? null : await directory.find(db, userId);
  if (!account) throw failure.notFound('User not found');
  return account;
}
