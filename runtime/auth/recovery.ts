import type { Transaction } from 'kysely';
import { type Handler, reply } from '@twofold/runtime/http';
import { asUser, type Caller, callerOf } from './caller.ts';
import { endAccess } from './ended-access.ts';
import { emailKey } from './identity-rules.ts';
import { pageLink } from './links.ts';
import { identifierOf, requireApiKey } from './login.ts';
import { invalidToken, ONE_TIME_LIFETIME } from './one-time-tokens.ts';
import type { AuthParts } from './parts.ts';
import { type Account, isClosed } from './user-directory.ts';
import { sendStrangerMail } from './stranger-mail.ts';
import { MINUTE } from './time.ts';

/** The same text whether the account exists or not. */
const FORGOT_RESPONSE = { message: 'If the account exists, a password reset email has been sent' };

/** Routes that reset a password and unlock an account. */
export function recoveryHandlers(parts: AuthParts) {
  const { kernel, events, oneTime, directory, policy, passwords, limits, lockout, mailer } = parts;
  const forgotPassword: Handler = async ({ context, body }) => {
    requireApiKey(parts, context);
    mailer.assertAvailable();
    const caller = callerOf(context);
    parts.background.run(async () => {
      const subject = identifierOf(parts, body.email);
      if (!(await limits.allows({ policy: 'forgot-identifier', subject }))) return;
      const account = await directory.findByEmail(kernel.store.db, body.email);
      if (account && !isClosed(account)) await startReset(parts, caller, account);
    });
    return reply(200, FORGOT_RESPONSE);
  };
  const resetPassword: Handler = async ({ context, body }) => {
    requireApiKey(parts, context);
    const { account } = await findResetAccount(parts, 'reset', body.token);
    if (body.email !== undefined && emailKey(body.email) !== emailKey(account.email))
      throw invalidToken();
    // A refused password does not use the token up.
    await policy.assert(body.new_password, account);
    const password = await passwords.hash(body.new_password);
    const identifierHash = identifierOf(parts, account.email);
    const caller = asUser(callerOf(context), account.id);
    await events.transact(caller, async (trx, emit) => {
      const { data } = await oneTime.consume(trx, 'reset', body.token);
      await assertSameAddress(parts, trx, account, data);
      await directory.update(trx, account.id, {
        email: account.email,
        email_verified_at: kernel.now(),
        password,
        password_changed_at: kernel.now(),
        tokens_valid_after: kernel.now(),
      });
      const ended = await endAccess(parts, { trx, emit, caller }, account, {
        reason: 'password reset',
      });
      if (await lockout.clear(trx, identifierHash))
        emit('auth.unlocked', account.id, { by: 'reset' });
      emit('password.reset', account.id, { ...ended });
    });
    return reply(200, { message: 'Password reset successful' });
  };
  const unlock: Handler = async ({ context, body }) => {
    await events.transact(callerOf(context), async (trx, emit) => {
      const { userId } = await oneTime.consume(trx, 'unlock', body.token);
      const account = await directory.find(trx, userId);
      if (!account) throw invalidToken();
      await lockout.clear(trx, identifierOf(parts, account.email));
      emit('auth.unlocked', userId, { by: 'mail' });
    });
    return reply(200, { message: 'Account unlocked' });
  };
  return { forgotPassword, resetPassword, unlock };
}

/** Creates a reset token and mails it in the background. */
export async function startReset(
  parts: AuthParts,
  caller: Caller,
  account: Account,
): Promise<void> {
  const token = await parts.events.transact(caller, async (trx, emit) => {
    emit('password.reset_requested', account.id, {});
    return parts.oneTime.issue(trx, 'reset', account.id, {
      data: { email: emailKey(account.email) },
    });
  });
  await sendStrangerMail(
    parts,
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

/** The mail went to the address of that time, so the token proves nothing about a new address. */
async function assertSameAddress(
  { directory }: AuthParts,
  trx: Transaction<any>,
  account: Account,
  data: Readonly<Record<string, unknown>>,
): Promise<void> {
  const current = await directory.find(trx, account.id);
  if (!current || data['email'] !== emailKey(current.email)) throw invalidToken();
}
