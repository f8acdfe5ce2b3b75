import type { Transaction } from 'kysely';
import { type Handler, reply } from '@twofold/runtime/http';
import { asUser, type Caller, callerOf } from '../requests/caller.ts';
import type { Emit } from '../events/events.ts';
import { checkEmail, emailKey } from './identity-rules.ts';
import type { UserId } from '../ids.ts';
import { identifierOf } from './identifier.ts';
import { pageLink } from '../mails/links.ts';
import { invalidToken, ONE_TIME_LIFETIME } from '../secrets/one-time-tokens.ts';
import type { AuthParts } from '../parts.ts';
import { assertProof } from '../requests/proof.ts';
import { sendStrangerMail } from '../mails/stranger-mail.ts';
import { HOUR } from '../time.ts';
import { type Account, isClosed } from '../users/user-directory.ts';

const RESEND_RESPONSE = { message: 'If the account exists, a verification email has been sent' };

/** Routes that verify and change an e-mail address. */
export function verificationHandlers(parts: AuthParts) {
  const { kernel, events, oneTime, directory, limits, mailer } = parts;
  const verifyEmail: Handler = async ({ body, context }) => {
    const caller = callerOf(context);
    const changed = await events.transact(caller, async (trx, emit) => {
      const verified = await oneTime.consume(trx, 'verify', body.token).catch(() => null);
      if (verified)
        return void (await confirm(
          parts,
          trx,
          emit,
          verified.userId,
          String(verified.data['email']),
        ));
      const { userId, data } = await oneTime.consume(trx, 'email', body.token);
      return changeTo(parts, trx, emit, userId, String(data['email']));
    });
    if (changed)
      parts.mails.send(
        'email-changed',
        { to: changed.from, account: changed.account, caller },
        { email: changed.to },
      );
    return reply(200, { message: 'Email verified' });
  };
  const resendVerification: Handler = async ({ body, context }) => {
    mailer.assertAvailable();
    const caller = callerOf(context);
    parts.background.run(async () => {
      const subject = identifierOf(parts, body.email);
      if (!(await limits.allows({ policy: 'resend-identifier', subject }))) return;
      const account = await directory.findByEmail(kernel.store.db, body.email);
      if (!account || account.emailVerified || isClosed(account)) return;
      await events.transact(caller, (trx, emit) =>
        mailVerification(parts, trx, emit, { userId: account.id, email: account.email, caller }),
      );
    });
    return reply(200, RESEND_RESPONSE);
  };
  const changeEmail: Handler = async ({ body, context }) => {
    const { account } = await assertProof(parts, context);
    mailer.assertAvailable();
    const email = checkEmail(body.email);
    const caller = asUser(callerOf(context), account.id);
    const token = await events.transact(caller, async (trx, emit) => {
      if (emailKey(email) !== emailKey(account.email) && (await directory.isTaken(trx, { email })))
        return null;
      emit('email.verification_sent', account.id, {});
      return oneTime.issue(trx, 'email', account.id, { data: { email } });
    });
    // The response is the same for a taken address. Otherwise it would show who has an account.
    if (token)
      await sendStrangerMail(
        parts,
        'change-email',
        { to: email, account, caller },
        { link: pageLink(parts, 'change-email', token), hours: ONE_TIME_LIFETIME.email / HOUR },
      );
    else await mailTaken(parts, email, caller, 'change-email');
    return reply(200, { message: 'Check your email to continue' });
  };
  return { verifyEmail, resendVerification, changeEmail };
}

/** Tells the owner of an address that someone tried to use it for another account. */
export async function mailTaken(
  parts: AuthParts,
  email: string,
  caller: Caller,
  change: 'register' | 'change-email',
): Promise<void> {
  const account = await parts.directory.findByEmail(parts.kernel.store.db, email);
  const link = pageLink(parts, 'sign-in');
  await sendStrangerMail(parts, 'account-exists', { to: email, account, caller }, { change, link });
}

interface Verification {
  readonly userId: UserId;
  readonly email: string;
  readonly caller: Caller;
  /** The wished username and phone number that belong to another account. */
  readonly taken?: { readonly username?: string; readonly phone?: string };
}

/** Sends the mail that verifies an address, if mail can be sent. */
export async function mailVerification(
  parts: AuthParts,
  trx: Transaction<any>,
  emit: Emit,
  { userId, email, caller, taken = {} }: Verification,
): Promise<void> {
  if (parts.mailer.mode === 'none') return;
  const token = await parts.oneTime.issue(trx, 'verify', userId, { data: { email } });
  emit('email.verification_sent', userId, {});
  const account = await parts.directory.find(trx, userId);
  await sendStrangerMail(
    parts,
    'verify-email',
    { to: email, account, caller },
    {
      link: pageLink(parts, 'verify-email', token),
      hours: ONE_TIME_LIFETIME.verify / HOUR,
      username: account?.username ?? '',
      taken_username: taken.username ?? '',
      taken_phone: taken.phone ?? '',
    },
  );
}

async function confirm(
  { directory, kernel }: AuthParts,
  trx: Transaction<any>,
  emit: Emit,
  userId: UserId,
  email: string,
): Promise<void> {
  const account = await directory.find(trx, userId);
  // The address may have changed since the mail was sent.
  if (!account || emailKey(account.email) !== emailKey(email)) throw invalidToken();
  await directory.update(trx, userId, { email: account.email, email_verified_at: kernel.now() });
  emit('email.verified', userId, {});
}

/** A change of address; the previous address gets a mail about it. */
interface ChangedAddress {
  readonly account: Account;
  readonly from: string;
  readonly to: string;
}

async function changeTo(
  { directory, kernel }: AuthParts,
  trx: Transaction<any>,
  emit: Emit,
  userId: UserId,
  email: string,
): Promise<ChangedAddress> {
  await directory.serialise(trx);
  const account = await directory.find(trx, userId);
  if (!account) throw invalidToken();
  if (emailKey(email) !== emailKey(account.email) && (await directory.isTaken(trx, { email })))
    throw invalidToken();
  await directory.update(trx, userId, { email, email_verified_at: kernel.now() });
  emit('email.changed', userId, {});
  emit('email.verified', userId, {});
  return { account, from: account.email, to: email };
}
