import { failure } from '@twofold/runtime/errors';
import { type Call, reply, type Reply } from '@twofold/runtime/http';
import { flag, object } from '@twofold/schema/shapes';
import { askerOf } from '../mails/stranger-mail.ts';
import type { AuthParts } from '../parts.ts';
import { startReset } from '../passwords/recovery.ts';
import { resetGoal } from '../passwords/reset.ts';
import { asUser, callerOf } from '../requests/caller.ts';
import { invalidToken } from '../secrets/one-time-tokens.ts';
import { endAccess, type KeptAccess } from '../sessions/ended-access.ts';
import { claimOf } from '../sign-in/first-proof.ts';
import { identifierOf } from '../sign-in/identifier.ts';
import { emailKey } from '../sign-in/identity-rules.ts';
import { checkPassword, requireApiKey, toAttempt } from '../sign-in/login.ts';
import { advance } from '../steps/advance.ts';
import type { StepWrites } from '../steps/entry.ts';
import { assertStillOpen, signedInAccount } from '../steps/reauthentication.ts';
import { readTicket, useTicket } from '../steps/tickets.ts';
import { refuseImpersonation } from '../users/authority.ts';
import { type Account, isClosed } from '../users/user-directory.ts';
import { DONE, flow, STEP_LEFT } from './flow.ts';
import { ADDRESS, LOGIN, MESSAGE, PASSWORD, SHORT, STEP, TOKEN, WHOLE } from './shapes.ts';

export const changePassword = flow('POST /api/auth/change-password', {
  needs: 'public',
  security: ['bearer'],
  summary: 'Another password; other sessions, API keys and foreign identities end',
  body: object(
    {
      ticket: TOKEN,
      current_password: PASSWORD,
      new_password: PASSWORD,
      keep: {
        type: 'array',
        items: { type: 'string', enum: ['api_keys', 'identities'] },
        maxItems: 2,
        description: 'What goes on; everything else that signs in ends, except this session',
      },
    },
    ['new_password'],
  ),
  answers: {
    200: ['Done; with a ticket the login object', { anyOf: [MESSAGE, LOGIN] }],
    ...STEP_LEFT,
  },
  refuses: { 400: 'The new password is not acceptable', 401: 'Invalid credentials' },
  handle: (call, parts) => changeOwnPassword(parts, call),
});

export const passwordPolicy = flow('GET /api/auth/password-policy', {
  needs: 'public',
  summary: 'What a password has to be',
  answers: {
    200: ['The rules', object({ min: WHOLE, max: WHOLE, score: WHOLE, composition: flag })],
  },
  handle: (_call, { policy }) => reply(200, policy.rules),
});

export const passwordStrength = flow('POST /api/auth/password-strength', {
  needs: 'public',
  limits: ['strength-ip'],
  summary: 'How good a password is, before it is sent',
  body: object({ password: PASSWORD }, ['password']),
  answers: {
    200: ['Its score from 0 to 4', object({ score: WHOLE, acceptable: flag, reason: SHORT })],
  },
  handle: async ({ body }, { policy }) => reply(200, await policy.judgeFully(body.password)),
});

export const forgotPassword = flow('POST /api/auth/forgot-password', {
  needs: 'public',
  limits: ['forgot-ip'],
  summary: 'Ask for a mail that resets the password',
  body: object({ email: ADDRESS }, ['email']),
  answers: DONE,
  refuses: { 503: 'Mail is not set up' },
  async handle(call, parts) {
    const { kernel, directory, limits, mailer } = parts;
    const { context, body } = call;
    requireApiKey(parts, context);
    mailer.assertAvailable();
    const caller = callerOf(context);
    const asker = askerOf(parts, call, body.email);
    parts.background.run(async () => {
      const subject = `${identifierOf(parts, body.email)}|${asker.key}`;
      if (!(await limits.allows({ policy: 'forgot-identifier', subject }))) return;
      const account = await directory.findByEmail(kernel.store.db, body.email);
      if (account && !isClosed(account)) await startReset(parts, caller, account, asker);
    });
    return reply(200, FORGOT_RESPONSE);
  },
});

export const resetPassword = flow('POST /api/auth/reset-password', {
  needs: 'public',
  limits: ['reset-ip'],
  summary: 'Set a password with the token from the mail',
  body: object({ token: TOKEN, new_password: PASSWORD, email: ADDRESS }, ['token', 'new_password']),
  answers: { ...DONE, 202: ['A second factor is asked for; nothing has changed yet', STEP] },
  refuses: { 400: 'Invalid or expired token, or a password that is not acceptable' },
  async handle(call, parts) {
    const { policy, passwords } = parts;
    const { context, body } = call;
    requireApiKey(parts, context);
    const { account } = await findResetAccount(parts, body.token);
    if (body.email !== undefined && emailKey(body.email) !== emailKey(account.email))
      throw invalidToken();
    // A refused password does not use the token up.
    await policy.assert(body.new_password, account);
    const password = await passwords.hash(body.new_password);
    // A stranger who registered the address may have added a factor, which is not asked for.
    const firstProof = !account.emailVerified && (await claimOf(parts, call, account)) !== 'own';
    // With a second factor, the password changes only after that step.
    const goal = resetGoal(parts, account, { password, token: body.token }, firstProof);
    return advance(parts, call, { account, method: 'email', amr: ['email'], goal });
  },
});

export const unlock = flow('POST /api/auth/unlock', {
  needs: 'public',
  limits: ['reset-ip'],
  summary: 'Unlock an account with the token from the mail',
  body: object({ token: TOKEN }, ['token']),
  answers: DONE,
  refuses: { 400: 'Invalid or expired token' },
  async handle({ context, body }, parts) {
    const { events, oneTime, directory, lockout } = parts;
    await events.transact(callerOf(context), async (trx, emit) => {
      const { userId } = await oneTime.consume(trx, 'unlock', body.token);
      const account = await directory.find(trx, userId);
      if (!account) throw invalidToken();
      await oneTime.endAll(trx, userId, 'unlock');
      await lockout.clear(trx, identifierOf(parts, account.email));
      emit('auth.unlocked', userId, { by: 'mail' });
    });
    return reply(200, { message: 'Account unlocked' });
  },
});

/** The same text whether the account exists or not. */
const FORGOT_RESPONSE = { message: 'If the account exists, a password reset email has been sent' };

async function findResetAccount(
  { oneTime, directory, kernel }: AuthParts,
  token: string,
): Promise<{ account: Account }> {
  const { userId } = await oneTime.peek(kernel.store.db, 'reset', token);
  const account = await directory.find(kernel.store.db, userId);
  if (!account || isClosed(account)) throw invalidToken();
  return { account };
}

/**
 * `POST /api/auth/change-password {current_password, new_password, keep?}`, or `{ticket,
 * new_password}` for a user whose password an administrator wants changed.
 */
const changeOwnPassword = (parts: AuthParts, call: Call): Promise<Reply> =>
  call.body.ticket === undefined ? bySession(parts, call) : byTicket(parts, call);

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
