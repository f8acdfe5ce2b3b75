import { failure } from '@twofold/runtime/errors';
import { type Call, reply, type Reply } from '@twofold/runtime/http';
import { flag, object } from '@twofold/schema/shapes';
import { askerOf } from '../mails/stranger-mail.ts';
import type { AuthState } from '../state.ts';
import { startReset } from '../sign-in/mailed-links.ts';
import { resetGoal } from '../sign-in/reset.ts';
import { asUser, callerOf } from '../base/caller.ts';
import { invalidToken } from '../secrets/one-time-tokens.ts';
import { replacePassword } from '../sign-in/ended-access.ts';
import { claimOf } from '../sign-in/first-proof.ts';
import { identifierOf } from '../limits/identifier.ts';
import { emailKey } from '../base/identity-rules.ts';
import { checkPassword, requireApiKey, toAttempt } from '../sign-in/login.ts';
import { advance } from '../sign-in/advance.ts';
import { signedInAccount } from '../requests/proof.ts';
import { readTicket, useTicket } from '../sign-in/tickets.ts';
import { refuseImpersonation } from '../requests/authority.ts';
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
  handle: (call, auth) => changeOwnPassword(auth, call),
});

export const passwordPolicy = flow('GET /api/auth/password-policy', {
  needs: 'public',
  summary: 'What a password has to be',
  answers: {
    200: ['The rules', object({ min: WHOLE, max: WHOLE, score: WHOLE, composition: flag })],
  },
  handle: (_call, auth) => reply(200, auth.passwords.rules),
});

export const passwordStrength = flow('POST /api/auth/password-strength', {
  needs: 'public',
  limits: ['strength-ip'],
  summary: 'How good a password is, before it is sent',
  body: object({ password: PASSWORD }, ['password']),
  answers: {
    200: ['Its score from 0 to 4', object({ score: WHOLE, acceptable: flag, reason: SHORT })],
  },
  handle: async ({ body }, auth) => reply(200, await auth.passwords.judgeFully(body.password)),
});

export const forgotPassword = flow('POST /api/auth/forgot-password', {
  needs: 'public',
  limits: ['forgot-ip'],
  summary: 'Ask for a mail that resets the password',
  body: object({ email: ADDRESS }, ['email']),
  answers: DONE,
  refuses: { 503: 'Mail is not set up' },
  async handle(call, auth) {
    const { context, body } = call;
    requireApiKey(auth, context);
    auth.mails.assertAvailable();
    const caller = callerOf(context);
    const asker = askerOf(auth, call, body.email);
    auth.background.run(async () => {
      const subject = `${identifierOf(auth, body.email)}|${asker.key}`;
      if (!(await auth.limits.allows({ policy: 'forgot-identifier', subject }))) return;
      const account = await auth.directory.findByEmail(auth.db, body.email);
      if (account && !isClosed(account)) await startReset(auth, caller, account, asker);
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
  async handle(call, auth) {
    const { context, body } = call;
    requireApiKey(auth, context);
    const { account } = await findResetAccount(auth, body.token);
    if (body.email !== undefined && emailKey(body.email) !== emailKey(account.email))
      throw invalidToken();
    // A refused password does not use the token up.
    await auth.passwords.assert(body.new_password, account);
    const password = await auth.passwords.hash(body.new_password);
    // A stranger who registered the address may have added a factor, which is not asked for.
    const firstProof = !account.emailVerified && (await claimOf(auth, call, account)) !== 'own';
    // With a second factor, the password changes only after that step.
    const goal = resetGoal(auth, account, { password, token: body.token }, firstProof);
    return advance(auth, call, { account, method: 'email', amr: ['email'], goal });
  },
});

export const unlock = flow('POST /api/auth/unlock', {
  needs: 'public',
  limits: ['reset-ip'],
  summary: 'Unlock an account with the token from the mail',
  body: object({ token: TOKEN }, ['token']),
  answers: DONE,
  refuses: { 400: 'Invalid or expired token' },
  async handle({ context, body }, auth) {
    await auth.events.transact(callerOf(context), async ({ trx, emit }) => {
      const { userId } = await auth.oneTime.consume(trx, 'unlock', body.token);
      const account = await auth.directory.find(trx, userId);
      if (!account) throw invalidToken();
      await auth.oneTime.endAll(trx, userId, 'unlock');
      await auth.lockout.clear(trx, identifierOf(auth, account.email));
      emit('auth.unlocked', userId, { by: 'mail' });
    });
    return reply(200, { message: 'Account unlocked' });
  },
});

/** The same text whether the account exists or not. */
const FORGOT_RESPONSE = { message: 'If the account exists, a password reset email has been sent' };

async function findResetAccount(auth: AuthState, token: string): Promise<{ account: Account }> {
  const { userId } = await auth.oneTime.peek(auth.db, 'reset', token);
  const account = await auth.directory.find(auth.db, userId);
  if (!account || isClosed(account)) throw invalidToken();
  return { account };
}

/**
 * `POST /api/auth/change-password {current_password, new_password, keep?}`, or `{ticket,
 * new_password}` for a user whose password an administrator wants changed.
 */
const changeOwnPassword = (auth: AuthState, call: Call): Promise<Reply> =>
  call.body.ticket === undefined ? bySession(auth, call) : byTicket(auth, call);

async function bySession(auth: AuthState, call: Call): Promise<Reply> {
  const { context, koa, body } = call;
  refuseImpersonation(context);
  const { account, sessionId } = await signedInAccount(auth, context);
  if (body.current_password === undefined) throw failure.badRequest('current_password is required');
  const attempt = toAttempt(auth, context, koa, account.email, body.current_password);
  await checkPassword(auth, attempt);
  const replace = await replacePassword(auth, account, body.new_password, {
    reason: 'password changed',
    session: sessionId,
    keep: body.keep ?? [],
  });
  await auth.events.transact(asUser(callerOf(context), account.id), replace);
  return reply(200, { message: 'Password changed' });
}

async function byTicket(auth: AuthState, call: Call): Promise<Reply> {
  requireApiKey(auth, call.context);
  const { token, entry } = await readTicket(auth, call.body.ticket, ['change_password']);
  // A refused password uses no ticket up.
  const replace = await replacePassword(auth, entry.account, call.body.new_password, {
    reason: 'password changed',
  });
  return advance(auth, call, {
    ...entry,
    // `advance` looks for steps that are left before the writes run. The write below clears this
    // flag, so it must not count as such a step.
    account: { ...entry.account, passwordChangeRequired: false },
    writes: async (change) => {
      await useTicket(auth, change.trx, token);
      await replace(change);
    },
  });
}
