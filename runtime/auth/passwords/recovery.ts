import { type Handler, reply } from '@twofold/runtime/http';
import { advance } from '../steps/advance.ts';
import { type Caller, callerOf } from '../requests/caller.ts';
import { emailKey } from '../sign-in/identity-rules.ts';
import { claimOf } from '../sign-in/first-proof.ts';
import { identifierOf } from '../sign-in/identifier.ts';
import { pageLink } from '../mails/links.ts';
import { requireApiKey } from '../sign-in/login.ts';
import { invalidToken, MAX_LINKS, ONE_TIME_LIFETIME } from '../secrets/one-time-tokens.ts';
import type { AuthParts } from '../parts.ts';
import { resetGoal } from './reset.ts';
import { type Account, isClosed } from '../users/user-directory.ts';
import { type Asker, askerOf, mayMailStranger } from '../mails/stranger-mail.ts';
import { MINUTE } from '../time.ts';

/** The same text whether the account exists or not. */
const FORGOT_RESPONSE = { message: 'If the account exists, a password reset email has been sent' };

/** Routes that reset a password and unlock an account. */
export function recoveryHandlers(parts: AuthParts) {
  const { kernel, events, oneTime, directory, policy, passwords, limits, lockout, mailer } = parts;
  const forgotPassword: Handler = async (call) => {
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
  };
  const resetPassword: Handler = async (call) => {
    const { context, body } = call;
    requireApiKey(parts, context);
    const { account } = await findResetAccount(parts, 'reset', body.token);
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
  };
  const unlock: Handler = async ({ context, body }) => {
    await events.transact(callerOf(context), async (trx, emit) => {
      const { userId } = await oneTime.consume(trx, 'unlock', body.token);
      const account = await directory.find(trx, userId);
      if (!account) throw invalidToken();
      await oneTime.endAll(trx, userId, 'unlock');
      await lockout.clear(trx, identifierOf(parts, account.email));
      emit('auth.unlocked', userId, { by: 'mail' });
    });
    return reply(200, { message: 'Account unlocked' });
  };
  return { forgotPassword, resetPassword, unlock };
}

/**
 * Creates a reset token and mails it in the background. There is a token only if its mail goes, and
 * an account with three of them has enough.
 */
export async function startReset(
  parts: AuthParts,
  caller: Caller,
  account: Account,
  asker?: Asker,
): Promise<void> {
  const live = await parts.oneTime.live(parts.kernel.store.db, 'reset', account.id);
  if (live.length >= MAX_LINKS) return;
  if (!(await mayMailStranger(parts, { to: account.email, caller }, asker))) return;
  const token = await parts.events.transact(caller, async (trx, emit) => {
    emit('password.reset_requested', account.id, {});
    return parts.oneTime.issue(trx, 'reset', account.id, {
      data: { email: emailKey(account.email) },
      newestOnly: false,
    });
  });
  parts.mails.send(
    'reset-password',
    { to: account.email, account, caller },
    {
      link: pageLink(parts, 'reset-password', token),
      minutes: ONE_TIME_LIFETIME.reset / MINUTE,
    },
  );
}

async function findResetAccount(
  { oneTime, directory, kernel }: AuthParts,
  kind: 'reset',
  token: string,
): Promise<{ account: Account }> {
  const { userId } = await oneTime.peek(kernel.store.db, kind, token);
  const account = await directory.find(kernel.store.db, userId);
  if (!account || isClosed(account)) throw invalidToken();
  return { account };
}
