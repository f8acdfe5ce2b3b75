import { failure } from '../../errors.ts';
import { type Handler, reply } from '../../http/route.ts';
import { callerOf } from '../caller.ts';
import { parseUserId } from '../ids.ts';
import { lockedUntil } from '../lock-state.ts';
import { identifierOf } from '../login.ts';
import type { AuthParts } from '../parts.ts';
import { startReset } from '../recovery.ts';
import { recordChange } from '../roles.ts';
import { rfc3339 } from '../time.ts';
import type { Account } from '../user-directory.ts';

/** Accounts, as their administrator handles them. A password is never set for somebody else (ASVS 6.4.6). */
export function userHandlers(parts: AuthParts) {
  const { kernel, directory, events, sessions, oneTime, lockout, signIn, model } = parts;
  const { db } = kernel.store;
  const find = async (id = ''): Promise<Account> => {
    const userId = parseUserId(id);
    const account = userId === null ? null : await directory.find(db, userId).catch(() => null);
    if (!account) throw failure.notFound('User not found');
    return account;
  };
  const show = async (account: Account) => {
    const key = { identifierHash: identifierOf(parts, account.email), bucket: 'public' };
    const until = lockedUntil(await lockout.state(db, key), model.lockout, kernel.now());
    return {
      ...signIn.profile(account, account.last_login ?? kernel.now()),
      last_login: account.last_login === null ? null : signIn.profile(account, account.last_login).last_login,
      email_verified: account.emailVerified, disabled: account.disabledAt !== null, disabled_at: rfc3339(account.disabledAt), locked_until: rfc3339(until),
      sessions: (await sessions.live(db, account.id)).length, has_password: account.password !== null,
    };
  };
  const done = reply(200, { message: 'Done' });

  const adminUser: Handler = async ({ params }) => reply(200, await show(await find(params['id'])));
  const unlockUser: Handler = async ({ context, params }) => {
    const account = await find(params['id']);
    await events.transact(callerOf(context), async (trx, emit) => {
      await lockout.clear(trx, identifierOf(parts, account.email));
      emit('auth.unlocked', account.id, { by: 'admin' });
    });
    return done;
  };
  const disableUser: Handler = async ({ context, params }) => {
    const account = await find(params['id']);
    const caller = callerOf(context);
    await events.transact(caller, async (trx, emit) => {
      await directory.update(trx, account.id, { disabled_at: account.disabledAt ?? kernel.now() });
      await sessions.endAll(trx, account.id, 'user disabled');
      await oneTime.endAll(trx, account.id);
      await trx.updateTable('auth_api_keys').set({ revoked_at: kernel.now() }).where('owner_user_id', '=', account.id).where('revoked_at', 'is', null).execute();
      await recordChange(trx, kernel.now(), caller, { action: 'user.disabled', target: { kind: 'user', id: account.id }, before: { disabled: account.disabledAt !== null }, after: { disabled: true } });
      emit('user.disabled', account.id, {});
    });
    return done;
  };
  const enableUser: Handler = async ({ context, params }) => {
    const account = await find(params['id']);
    const caller = callerOf(context);
    await events.transact(caller, async (trx, emit) => {
      await directory.update(trx, account.id, { disabled_at: null });
      await recordChange(trx, kernel.now(), caller, { action: 'user.enabled', target: { kind: 'user', id: account.id }, before: { disabled: account.disabledAt !== null }, after: { disabled: false } });
      emit('user.enabled', account.id, {});
    });
    return done;
  };
  const startUserReset: Handler = async ({ context, params }) => {
    const account = await find(params['id']);
    parts.mailer.assertAvailable();
    await startReset(parts, callerOf(context), account);
    return done;
  };
  const deleteUser: Handler = async ({ context, params }) => {
    const account = await find(params['id']);
    await events
      .transact(callerOf(context), async (trx, emit) => {
        await sessions.endAll(trx, account.id, 'user deleted');
        await oneTime.endAll(trx, account.id);
        await trx.updateTable('auth_api_keys').set({ revoked_at: kernel.now() }).where('owner_user_id', '=', account.id).where('revoked_at', 'is', null).execute();
        await directory.remove(trx, account.id);
        emit('user.deleted', account.id, {});
      })
      .catch((error: unknown) => {
        if (isForeignKeyViolation(error)) throw failure.conflict('Other records refer to this user');
        throw error;
      });
    return reply(204);
  };
  const endUserSessions: Handler = async ({ context, params }) => {
    const account = await find(params['id']);
    await events.transact(callerOf(context), async (trx, emit) => {
      const revoked = await sessions.endAll(trx, account.id, 'ended by an administrator');
      await directory.update(trx, account.id, { tokens_valid_after: kernel.now() });
      emit('auth.logout_all', account.id, { revoked });
    });
    return reply(204);
  };
  const assignRole: Handler = async ({ context, params, body }) => {
    if (!model.roles) throw failure.notFound();
    const account = await find(params['id']);
    const roleId = body.role_id as number | null;
    const caller = callerOf(context);
    await events.transact(caller, async (trx, emit) => {
      const role = roleId === null ? null : await trx.selectFrom('auth_roles').select(['id', 'name']).where('id', '=', roleId).executeTakeFirst();
      if (roleId !== null && !role) throw failure.notFound('Role not found');
      // Tokens carry the role: those of before must not count any longer.
      await directory.update(trx, account.id, { role_id: roleId, tokens_valid_after: kernel.now() });
      const action = roleId === null ? 'role.removed' : 'role.assigned';
      await recordChange(trx, kernel.now(), caller, { action, target: { kind: 'user', id: account.id }, before: { role_id: account.role?.id ?? null }, after: { role_id: roleId } });
      emit('permission.changed', account.id, { action, role_id: roleId });
    });
    return reply(200, await show((await directory.find(db, account.id))!));
  };
  return { adminUser, unlockUser, disableUser, enableUser, startReset: startUserReset, deleteUser, endUserSessions, assignRole };
}

/** SQLSTATE 23503 and 23001, or SQLite's text. */
function isForeignKeyViolation(error: unknown): boolean {
  const { code, message } = (error ?? {}) as { code?: unknown; message?: unknown };
  return code === '23503' || code === '23001' || /FOREIGN KEY constraint failed/.test(String(message));
}
