import type { Transaction } from 'kysely';
import { failure } from '../../errors.ts';
import { type Handler, reply } from '../../http/route.ts';
import { type Caller, callerOf } from '../caller.ts';
import type { Emit } from '../events.ts';
import { parseUserId } from '../ids.ts';
import { lockedUntil } from '../lock-state.ts';
import { identifierOf } from '../login.ts';
import type { AuthParts } from '../parts.ts';
import { startReset } from '../recovery.ts';
import { recordChange } from '../roles.ts';
import { rfc3339 } from '../time.ts';
import type { Account } from '../user-directory.ts';

const DONE = reply(200, { message: 'Done' });

/** Accounts, as their administrator handles them. A password is never set for somebody else (ASVS 6.4.6). */
export function userHandlers(parts: AuthParts) {
  return {
    adminUser: showUser(parts),
    unlockUser: changing(parts, (account, trx, emit) => unlock(parts, account, trx, emit)),
    disableUser: changing(parts, (account, trx, emit, caller) =>
      disable(parts, account, trx, emit, caller),
    ),
    enableUser: changing(parts, (account, trx, emit, caller) =>
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
function changing(parts: AuthParts, change: Change): Handler {
  return async ({ context, params }) => {
    const account = await find(parts, params['id']);
    const caller = callerOf(context);
    await parts.events.transact(caller, (trx, emit) => change(account, trx, emit, caller));
    return DONE;
  };
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

/** Sessions, keys and one-time tokens, in the transaction that ends the account. */
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
    const account = await find(parts, params['id']);
    parts.mailer.assertAvailable();
    await startReset(parts, callerOf(context), account);
    return DONE;
  };
}

function remove(parts: AuthParts): Handler {
  return async ({ context, params }) => {
    const account = await find(parts, params['id']);
    const work = parts.events.transact(callerOf(context), async (trx, emit) => {
      await endEverything(parts, account, trx, 'user deleted');
      await parts.directory.remove(trx, account.id);
      emit('user.deleted', account.id, {});
    });
    await work.catch((error: unknown) => {
      throw isForeignKeyViolation(error)
        ? failure.conflict('Other records refer to this user')
        : error;
    });
    return reply(204);
  };
}

function endSessions(parts: AuthParts): Handler {
  const { events, sessions, directory, kernel } = parts;
  return async ({ context, params }) => {
    const account = await find(parts, params['id']);
    await events.transact(callerOf(context), async (trx, emit) => {
      const revoked = await sessions.endAll(trx, account.id, 'ended by an administrator');
      await directory.update(trx, account.id, { tokens_valid_after: kernel.now() });
      emit('auth.logout_all', account.id, { revoked });
    });
    return reply(204);
  };
}

function assignRole(parts: AuthParts): Handler {
  const { kernel, directory, events } = parts;
  return async ({ context, params, body }) => {
    if (!parts.model.roles) throw failure.notFound();
    const account = await find(parts, params['id']);
    const roleId = body.role_id as number | null;
    const caller = callerOf(context);
    await events.transact(caller, async (trx, emit) => {
      const known =
        roleId === null ||
        (await trx
          .selectFrom('auth_roles')
          .select('id')
          .where('id', '=', roleId)
          .executeTakeFirst()) !== undefined;
      if (!known) throw failure.notFound('Role not found');
      // Tokens carry the role: those of before must not count any longer.
      await directory.update(trx, account.id, {
        role_id: roleId,
        tokens_valid_after: kernel.now(),
      });
      const action = roleId === null ? 'role.removed' : 'role.assigned';
      await recordChange(trx, kernel.now(), caller, {
        action,
        target: { kind: 'user', id: account.id },
        before: { role_id: account.role?.id ?? null },
        after: { role_id: roleId },
      });
      emit('permission.changed', account.id, { action, role_id: roleId });
    });
    return reply(200, await show(parts, await find(parts, String(account.id))));
  };
}

async function find({ directory, kernel }: AuthParts, id = ''): Promise<Account> {
  const userId = parseUserId(id);
  // A key of the other kind is no user: PostgreSQL would call it an error.
  const fits = userId !== null && (typeof userId === 'string') === (kernel.project.ids === 'uuid');
  const account = fits ? await directory.find(kernel.store.db, userId) : null;
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

/** SQLSTATE 23503 and 23001, or SQLite's text. */
function isForeignKeyViolation(error: unknown): boolean {
  const { code, message } = (error ?? {}) as { code?: unknown; message?: unknown };
  return (
    code === '23503' || code === '23001' || /FOREIGN KEY constraint failed/.test(String(message))
  );
}
