import type { Trx } from '../tables.ts';
import { failure } from '@twofold/runtime/errors';
import { type Call, type Handler, reply } from '@twofold/runtime/http';
import { asUser, type Caller, callerOf } from '../requests/caller.ts';
import type { Emit } from '../events/events.ts';
import { checkEmail, emailKey } from './identity-rules.ts';
import {
  type Claim,
  claimOf,
  claimOfPassword,
  proveAddress,
  serialiseProofs,
} from './first-proof.ts';
import type { UserId } from '../ids.ts';
import { identifierOf } from './identifier.ts';
import { checkPassword, toAttempt } from './login.ts';
import type { RightsChange } from '../users/roles.ts';
import { pageLink } from '../mails/links.ts';
import { invalidToken, MAX_LINKS, ONE_TIME_LIFETIME } from '../secrets/one-time-tokens.ts';
import type { AuthParts } from '../parts.ts';
import { assertProof } from '../requests/proof.ts';
import { withoutLink } from '../mails/names.ts';
import {
  assertMayMailStrangers,
  type Asker,
  askerOf,
  mayMailStranger,
} from '../mails/stranger-mail.ts';
import { HOUR } from '../time.ts';
import { type Account, isClosed } from '../users/user-directory.ts';

const RESEND_RESPONSE = { message: 'If the account exists, a verification email has been sent' };

/** Routes that verify and change an e-mail address. */
export function verificationHandlers(parts: AuthParts) {
  const { kernel, events, oneTime, directory, limits, mailer } = parts;
  const verifyEmail: Handler = async (call) => {
    const token: string | undefined = call.body.token ?? call.body.ticket;
    if (token === undefined) throw failure.badRequest('token is required');
    const link = await findLink(parts, token);
    const claim = await shownClaim(parts, call, link);
    if (claim === null) return reply(202, { next: 'confirm_password', ticket: token });
    const caller = callerOf(call.context);
    const changed = await events.transact(caller, async (trx, emit) => {
      await serialiseProofs(parts, trx);
      await oneTime.consume(trx, link.kind, token);
      const change = { trx, emit, caller };
      if (link.kind === 'email') return changeTo(parts, change, link);
      return void (await proveAddress(parts, change, link.account.id, claim));
    });
    if (changed)
      parts.mails.send(
        'email-changed',
        { to: changed.from, account: changed.account, caller },
        { email: changed.to },
      );
    return reply(200, { message: 'Email verified' });
  };
  const resendVerification: Handler = async (call) => {
    const { body, context } = call;
    mailer.assertAvailable();
    const caller = callerOf(context);
    const asker = askerOf(parts, call, body.email);
    parts.background.run(async () => {
      const subject = `${identifierOf(parts, body.email)}|${asker.key}`;
      if (!(await limits.allows({ policy: 'resend-identifier', subject }))) return;
      const account = await directory.findByEmail(kernel.store.db, body.email);
      if (!account || account.emailVerified || isClosed(account)) return;
      await events.transact(caller, (trx, emit) =>
        mailVerification(parts, trx, emit, {
          userId: account.id,
          email: account.email,
          caller,
          asker,
        }),
      );
    });
    return reply(200, RESEND_RESPONSE);
  };
  const changeEmail: Handler = async ({ koa, body, context }) => {
    const { account } = await assertProof(parts, context);
    const email = checkEmail(body.email);
    const policy = 'change-email-user';
    await assertMayMailStrangers(parts, koa, account, [{ policy, subject: String(account.id) }]);
    const caller = asUser(callerOf(context), account.id);
    const done = reply(200, { message: 'Check your email to continue' });
    if (!(await mayMailStranger(parts, { to: email, caller }))) return done;
    const token = await events.transact(caller, async (trx, emit) => {
      if (emailKey(email) !== emailKey(account.email) && (await directory.isTaken(trx, { email })))
        return null;
      emit('email.verification_sent', account.id, {});
      return oneTime.issue(trx, 'email', account.id, { data: { email } });
    });
    // The response is the same for a taken address. Otherwise it would show who has an account.
    if (token)
      parts.mails.send(
        'change-email',
        { to: email, account, caller },
        { link: pageLink(parts, 'change-email', token), hours: ONE_TIME_LIFETIME.email / HOUR },
      );
    else await mailTaken(parts, email, caller, 'change-email');
    return done;
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
  parts.mails.send('account-exists', { to: email, account, caller }, { change, link });
}

interface Verification {
  readonly userId: UserId;
  readonly email: string;
  readonly caller: Caller;
  /** The wished username and phone number that belong to another account. */
  readonly taken?: { readonly username?: string; readonly phone?: string };
  /** The browser that registered, and what it typed where the account is of another one. */
  readonly browser?: string | undefined;
  readonly asker?: Asker;
  readonly registration?: string;
}

/**
 * Sends the mail that verifies an address, if mail can be sent. There is a token only if its mail
 * goes, and an account with three of them has enough.
 */
export async function mailVerification(
  parts: AuthParts,
  trx: Trx,
  emit: Emit,
  { userId, email, caller, taken = {}, browser, registration, asker }: Verification,
): Promise<void> {
  if (parts.mailer.mode === 'none') return;
  const live = await parts.oneTime.live(trx, 'verify', userId);
  if (live.length >= MAX_LINKS) return;
  if (!(await mayMailStranger(parts, { to: email, caller }, asker))) return;
  const data = { email, browser, registration };
  const token = await parts.oneTime.issue(trx, 'verify', userId, { data, newestOnly: false });
  emit('email.verification_sent', userId, {});
  const account = await parts.directory.find(trx, userId);
  parts.mails.send(
    'verify-email',
    { to: email, account, caller },
    {
      link: pageLink(parts, 'verify-email', token),
      hours: ONE_TIME_LIFETIME.verify / HOUR,
      username: account?.username ?? '',
      taken_username: withoutLink(taken.username ?? ''),
      taken_phone: taken.phone ?? '',
    },
  );
}

/** The link of a mail, which proves the address of an account or moves the account to another. */
interface AddressLink {
  readonly kind: 'verify' | 'email';
  readonly account: Account;
  readonly email: string;
}

async function findLink(parts: AuthParts, token: string): Promise<AddressLink> {
  const { oneTime, directory, kernel } = parts;
  const { db } = kernel.store;
  const verify = await oneTime.peek(db, 'verify', token).catch(() => null);
  const { userId, data } = verify ?? (await oneTime.peek(db, 'email', token));
  const account = await directory.find(db, userId);
  const email = String(data['email']);
  // The address may have changed since the mail was sent.
  if (!account || (verify && emailKey(account.email) !== emailKey(email))) throw invalidToken();
  return { kind: verify ? 'verify' : 'email', account, email };
}

/**
 * What the one who opened a link shows of the account. A link alone shows nothing: anybody can have
 * it sent to an address, and its owner would confirm what a stranger typed. A link to another
 * address gives no right to the account, so it takes no new password.
 *
 * @throws AppError 401, 423 for a wrong password
 */
async function shownClaim(
  parts: AuthParts,
  call: Call,
  { kind, account }: AddressLink,
): Promise<Claim | null> {
  const { body, context, koa } = call;
  if (kind === 'verify' && account.emailVerified) return 'own';
  const claim = await claimOf(parts, call, account);
  if (claim) return claim;
  if (body.password !== undefined) {
    const registered = await claimOfPassword(parts, account, body.password);
    if (registered) return registered;
    await checkPassword(parts, toAttempt(parts, context, koa, account.email, body.password));
    return 'own';
  }
  if (kind === 'email' || body.new_password === undefined) return null;
  await parts.policy.assert(body.new_password, account);
  return { patch: { password: await parts.passwords.hash(body.new_password) }, fields: {} };
}

/** A change of address; the previous address gets a mail about it. */
interface ChangedAddress {
  readonly account: Account;
  readonly from: string;
  readonly to: string;
}

async function changeTo(
  parts: AuthParts,
  change: RightsChange,
  { account: { id }, email }: AddressLink,
): Promise<ChangedAddress> {
  const { trx, emit } = change;
  const { directory } = parts;
  const account = await directory.find(trx, id);
  if (!account) throw invalidToken();
  if (emailKey(email) !== emailKey(account.email) && (await directory.isTaken(trx, { email })))
    throw invalidToken();
  await directory.update(trx, id, { email });
  emit('email.changed', id, {});
  await proveAddress(parts, change, id, 'own');
  return { account, from: account.email, to: email };
}
