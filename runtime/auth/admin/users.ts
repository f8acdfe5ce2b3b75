import type { Kysely, Transaction } from 'kysely';
import { failure } from '@twofold/runtime/errors';
import { type Call, type Handler, reply } from '@twofold/runtime/http';
import { LAST_OWNER, isLastOwner } from '@twofold/runtime/kernel';
import { assertHolds, assertHoldsAsMuch } from '../authority.ts';
import { type Caller, callerOf } from '../caller.ts';
import type { Emit } from '../events.ts';
import { parseUserId } from '../ids.ts';
import { lockedUntil } from '../lock-state.ts';
import { identifierOf } from '../login.ts';
import { assertOwnerLeft } from '../owners.ts';
import type { AuthParts } from '../parts.ts';
import { startReset } from '../recovery.ts';
import { permissionsOf, serialiseRights } from '../permissions.ts';
import { giveRole, recordChange } from '../roles.ts';
import { rfc3339 } from '../time.ts';
import type { Account } from '../user-directory.ts';
import { isForeignKeyViolation } from '../user-table.ts';

const DONE = reply(200, { message: 'Done' });

/** Management of accounts. An administrator cannot set another user's password (ASVS 6.4.6). */
export function userHandlers(parts: AuthParts) {
  return {
    adminUser: showUser(parts),
    unlockUser: changeHandler(parts, (account, trx, emit) => unlock(parts, account, trx, emit)),
    disableUser: changeHandler(parts, (account, trx, emit, caller) =>
      disable(parts, account, trx, emit, caller),
    ),
    enableUser: changeHandler(parts, (account, trx, emit, caller) =>
      enable(parts, account, trx, emit, caller),
    ),
    startReset: sendReset(parts),
    deleteUser: remove(parts),
    endUserSessions: endSessions(parts),
    assignRole: assignRole(parts),
  };
}

function showUser(parts: AuthParts): Handler {
  return async ({ params }) => reply(200, await show(parts, await find(parts, params['id'])));
}

type Change = (
  account: Account,
  trx: Transaction<any>,
  emit: Emit,
  caller: Caller,
) => Promise<void>;

/** A handler that changes one account in one transaction. */
function changeHandler(parts: AuthParts, change: Change): Handler {
  return async (call) => {
    await actOn(parts, call, change);
    return DONE;
  };
}

/**
 * Runs one change of an account. The caller must hold every permission of that account, and no
 * permissions can change meanwhile.
 *
 * @throws AppError 403, 404
 */
async function actOn(
  parts: AuthParts,
  { context, params }: Pick<Call, 'context' | 'params'>,
  change: Change,
): Promise<void> {
  const caller = callerOf(context);
  await parts.events.transact(caller, async (trx, emit) => {
    await serialiseRights(trx, parts.kernel.store.dialect);
    const account = await find(parts, params['id'], trx);
    await assertHoldsAsMuch(parts, trx, context, account);
    await change(account, trx, emit, caller);
  });
}

async function unlock(
  parts: AuthParts,
  account: Account,
  trx: Transaction<any>,
  emit: Emit,
): Promise<void> {
  await parts.lockout.clear(trx, identifierOf(parts, account.email));
  emit('auth.unlocked', account.id, { by: 'admin' });
}

async function disable(
  parts: AuthParts,
  account: Account,
  trx: Transaction<any>,
  emit: Emit,
  caller: Caller,
): Promise<void> {
  const now = parts.kernel.now();
  await parts.directory.update(trx, account.id, { disabled_at: account.disabledAt ?? now });
  await assertOwnerLeft(parts, trx, account);
  await endEverything(parts, account, trx, 'user disabled');
  await recordChange(trx, now, caller, {
    action: 'user.disabled',
    target: { kind: 'user', id: account.id },
    before: { disabled: account.disabledAt !== null },
    after: { disabled: true },
  });
  emit('user.disabled', account.id, {});
}

async function enable(
  { directory, kernel }: AuthParts,
  account: Account,
  trx: Transaction<any>,
  emit: Emit,
  caller: Caller,
): Promise<void> {
  await directory.update(trx, account.id, { disabled_at: null });
  await recordChange(trx, kernel.now(), caller, {
    action: 'user.enabled',
    target: { kind: 'user', id: account.id },
    before: { disabled: account.disabledAt !== null },
    after: { disabled: false },
  });
  emit('user.enabled', account.id, {});
}

/** Ends sessions, keys and one-time tokens of an account that is disabled or deleted. */
async function endEverything(
  { sessions, oneTime, kernel }: AuthParts,
  account: Account,
  trx: Transaction<any>,
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
    const account = await find(parts, params['id']);
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

function assignRole(parts: AuthParts): Handler {
  return async (call) => {
    if (!parts.model.roles) throw failure.notFound();
    const roleId = call.body.role_id as number | null;
    await actOn(parts, call, async (account, trx, emit, caller) => {
      const role = roleId === null ? null : await findRole(trx, roleId);
      assertHolds(call.context, await permissionsOf(trx, parts.model.roles, role));
      await giveRole(parts, { trx, emit, caller }, account, role?.id ?? null);
    });
    return reply(200, await show(parts, await find(parts, call.params['id'])));
  };
}

async function findRole(
  trx: Transaction<any>,
  id: number,
): Promise<{ readonly id: number; readonly name: string }> {
  const role = await trx
    .selectFrom('auth_roles')
    .select(['id', 'name'])
    .where('id', '=', id)
    .executeTakeFirst();
  if (!role) throw failure.notFound('Role not found');
  return role as { id: number; name: string };
}

async function find(
  { directory, kernel }: AuthParts,
  id = '',
  db: Kysely<any> = kernel.store.db,
): Promise<Account> {
  const userId = parseUserId(id);
  // PostgreSQL would fail on an id of the other type.
  const fits = userId !== null && (typeof userId === 'string') === (kernel.project.ids === 'uuid');
  const account = fits ? await directory.find(db, userId) : null;
  if (!account) throw failure.notFound('User not found');
  return account;
}

async function show(parts: AuthParts, account: Account) {
  const { kernel, lockout, model, signIn, sessions } = parts;
  const { db } = kernel.store;
  const state = await lockout.state(db, {
    identifierHash: identifierOf(parts, account.email),
    bucket: 'public',
  });
  const profile = signIn.profile(account, account.last_login ?? 0);
  return {
    ...profile,
    last_login: account.last_login === null ? null : profile.last_login,
    email_verified: account.emailVerified,
    disabled: account.disabledAt !== null,
    disabled_at: rfc3339(account.disabledAt),
    locked_until: rfc3339(lockedUntil(state, model.lockout, kernel.now())),
    sessions: (await sessions.live(db, account.id)).length,
    has_password: account.password !== null,
  };
}
