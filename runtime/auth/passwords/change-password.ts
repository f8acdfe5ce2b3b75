import { failure } from '@twofold/runtime/errors';
import { type Call, type Handler, type Reply, reply } from '@twofold/runtime/http';
import { advance } from '../steps/advance.ts';
import { refuseImpersonation } from '../users/authority.ts';
import { asUser, callerOf } from '../requests/caller.ts';
import { endAccess, type KeptAccess } from '../sessions/ended-access.ts';
import type { StepWrites } from '../steps/entry.ts';
import { checkPassword, requireApiKey, toAttempt } from '../sign-in/login.ts';
import type { AuthParts } from '../parts.ts';
import { assertStillOpen, signedInAccount } from '../steps/reauthentication.ts';
import { readTicket, useTicket } from '../steps/tickets.ts';
import type { Account } from '../users/user-directory.ts';

/**
 * `POST /api/auth/change-password {current_password, new_password, keep?}`, or `{ticket,
 * new_password}` for a user whose password an administrator wants changed.
 */
export function createChangePassword(parts: AuthParts): Handler {
  return (call) =>
    call.body.ticket === undefined ? bySession(parts, call) : byTicket(parts, call);
}

async function bySession(parts: AuthParts, call: Call): Promise<Reply> {
  const { context, koa, body } = call;
  refuseImpersonation(context);
  const { account, sessionId } = await signedInAccount(parts, context);
  if (body.current_password === undefined) throw failure.badRequest('current_password is required');
  const attempt = toAttempt(parts, context, koa, account.email, body.current_password);
  await checkPassword(parts, attempt);
  const change = await prepare(parts, call, account, {
    session: sessionId,
    keep: body.keep ?? [],
  });
  await parts.events.transact(asUser(callerOf(context), account.id), change);
  return reply(200, { message: 'Password changed' });
}

async function byTicket(parts: AuthParts, call: Call): Promise<Reply> {
  requireApiKey(parts, call.context);
  const { token, entry } = await readTicket(parts, call.body.ticket, ['change_password']);
  const change = await prepare(parts, call, entry.account, { keep: [] });
  return advance(parts, call, {
    ...entry,
    // `advance` looks for steps that are left before the writes run. The write below clears this
    // flag, so it must not count as such a step.
    account: { ...entry.account, passwordChangeRequired: false },
    writes: async (trx, emit) => {
      await useTicket(parts, trx, token);
      await change(trx, emit);
    },
  });
}

/** Checks and hashes the new password. A refused one uses no ticket up. */
async function prepare(
  parts: AuthParts,
  { context, body }: Call,
  account: Account,
  { session, keep }: { readonly session?: string; readonly keep: readonly KeptAccess[] },
): Promise<StepWrites> {
  await parts.policy.assert(body.new_password, account);
  const password = await parts.passwords.hash(body.new_password);
  const caller = asUser(callerOf(context), account.id);
  return async (trx, emit) => {
    await parts.directory.update(trx, account.id, {
      password,
      password_changed_at: parts.kernel.now(),
    });
    // The update has waited for a reset that was under way. The reset ended this session, and its
    // password stays.
    if (session !== undefined) await assertStillOpen(parts, trx, session);
    const ended = await endAccess(parts, { trx, emit, caller }, account, {
      reason: 'password changed',
      keep,
      ...(session !== undefined && { session }),
    });
    emit('password.changed', account.id, { ...ended });
  };
}
