import { failure } from '@twofold/runtime/errors';
import { type Handler, reply } from '@twofold/runtime/http';
import { asUser, callerOf } from './caller.ts';
import { refuseImpersonation } from './authority.ts';
import { endAccess } from './ended-access.ts';
import type { UserId } from './ids.ts';
import { checkPassword, toAttempt } from './login.ts';
import type { AuthParts } from './parts.ts';
import { PROOF_LIFETIME } from './proof.ts';
import { signedInAccount } from './reauthentication.ts';
import { rfc3339 } from './time.ts';

/** Routes of the signed-in user's own account. */
export function accountHandlers(parts: AuthParts) {
  const { kernel, directory, signIn, policy, passwords, events } = parts;
  const me: Handler = async ({ context }) => {
    const [userId] = context.values.get<UserId>('user_id');
    const account = userId === undefined ? null : await directory.find(kernel.store.db, userId);
    if (!account) throw failure.notFound('User not found');
    return reply(200, signIn.profile(account, account.last_login ?? kernel.now()));
  };
  const reauthenticate: Handler = async ({ context, koa, body }) => {
    refuseImpersonation(context);
    const { account, sessionId } = await signedInAccount(parts, context);
    await checkPassword(parts, toAttempt(parts, context, koa, account.email, body.password));
    const now = kernel.now();
    await kernel.store.db
      .updateTable('auth_sessions')
      .set({ reauth_at: now })
      .where('id', '=', sessionId)
      .execute();
    return reply(200, { reauthenticated_until: rfc3339(now + PROOF_LIFETIME) });
  };
  const changePassword: Handler = async ({ context, koa, body }) => {
    refuseImpersonation(context);
    const { account, sessionId } = await signedInAccount(parts, context);
    await checkPassword(
      parts,
      toAttempt(parts, context, koa, account.email, body.current_password),
    );
    await policy.assert(body.new_password, account);
    const password = await passwords.hash(body.new_password);
    const caller = asUser(callerOf(context), account.id);
    await events.transact(caller, async (trx, emit) => {
      await directory.update(trx, account.id, { password, password_changed_at: kernel.now() });
      const ended = await endAccess(parts, { trx, emit, caller }, account, {
        reason: 'password changed',
        session: sessionId,
        keep: body.keep ?? [],
      });
      emit('password.changed', account.id, { ...ended });
    });
    return reply(200, { message: 'Password changed' });
  };
  const passwordPolicy: Handler = () => reply(200, policy.rules);
  const passwordStrength: Handler = async ({ body }) =>
    reply(200, await policy.judgeFully(body.password));
  return { me, reauthenticate, changePassword, passwordPolicy, passwordStrength };
}
