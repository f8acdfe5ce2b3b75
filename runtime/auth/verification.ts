import type { Transaction } from 'kysely';
import { type Handler, reply } from '@twofold/runtime/http';
import { asUser, callerOf } from './caller.ts';
import type { Emit } from './events.ts';
import { checkEmail, emailKey } from './identity-rules.ts';
import type { UserId } from './ids.ts';
import { identifierOf } from './login.ts';
import { invalidToken } from './one-time-tokens.ts';
import type { AuthParts } from './parts.ts';
import { assertProof } from './proof.ts';
import { sendStrangerMail } from './stranger-mail.ts';
import { isClosed } from './user-directory.ts';

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
      mailer.send({
        to: changed,
        subject: 'Your email address was changed',
        text: 'The email address of your account was changed. If it was not you, contact us at once.\n',
      });
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
        mailVerification(parts, trx, emit, { userId: account.id, email: account.email }),
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
    await sendStrangerMail(parts, {
      to: email,
      subject: token ? 'Confirm your new email address' : 'You already have an account',
      text: token ? linkText(parts, 'verify-email', token) : ADDRESS_TAKEN_MAIL,
    });
    return reply(200, { message: 'Check your email to continue' });
  };
  return { verifyEmail, resendVerification, changeEmail };
}

const ADDRESS_TAKEN_MAIL =
  'Somebody, perhaps you, tried to change the address of another account to this one, which has an account already. Nothing was changed.\n';

interface Verification {
  readonly userId: UserId;
  readonly email: string;
  /** Additional text of the mail. */
  readonly note?: string;
}

/** Sends the mail that verifies an address, if mail can be sent. */
export async function mailVerification(
  parts: AuthParts,
  trx: Transaction<any>,
  emit: Emit,
  { userId, email, note = '' }: Verification,
): Promise<void> {
  if (parts.mailer.mode === 'none') return;
  const token = await parts.oneTime.issue(trx, 'verify', userId, { data: { email } });
  emit('email.verification_sent', userId, {});
  await sendStrangerMail(parts, {
    to: email,
    subject: 'Confirm your email address',
    text: linkText(parts, 'verify-email', token) + note,
  });
}

/** A link starts with `APP_URL`, not with the `Host` header, which an attacker can choose. */
export function linkText({ config }: AuthParts, path: string, token: string): string {
  return `Follow this link to continue:\n\n${config.appUrl}/${path}?token=${token}\n\nIf you did not ask for this, do nothing.\n`;
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

/** @returns the previous address, which gets a mail about it. */
async function changeTo(
  { directory, kernel }: AuthParts,
  trx: Transaction<any>,
  emit: Emit,
  userId: UserId,
  email: string,
): Promise<string> {
  await directory.serialise(trx);
  const account = await directory.find(trx, userId);
  if (!account) throw invalidToken();
  if (emailKey(email) !== emailKey(account.email) && (await directory.isTaken(trx, { email })))
    throw invalidToken();
  await directory.update(trx, userId, { email, email_verified_at: kernel.now() });
  emit('email.changed', userId, {});
  emit('email.verified', userId, {});
  return account.email;
}
