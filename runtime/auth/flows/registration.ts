import { failure } from '@twofold/runtime/errors';
import { type Call, reply } from '@twofold/runtime/http';
import { object, text } from '@twofold/schema/shapes';
import type { Change } from '../events/events.ts';
import { askerOf } from '../mails/stranger-mail.ts';
import type { AuthState } from '../state.ts';
import { callerOf } from '../base/caller.ts';
import { invalidToken } from '../secrets/one-time-tokens.ts';
import { claimSetup } from '../setup/setup.ts';
import {
  type Claim,
  claimOf,
  claimOfPassword,
  proveAddress,
  serialiseProofs,
} from '../sign-in/first-proof.ts';
import { identifierOf } from '../limits/identifier.ts';
import { emailKey } from '../base/identity-rules.ts';
import { checkPassword, toAttempt } from '../sign-in/login.ts';
import { registerUser } from '../sign-in/register.ts';
import { mailVerification } from '../sign-in/mailed-links.ts';
import { type Account, isClosed } from '../users/user-directory.ts';
import { DONE, flow, STEP_LEFT } from './flow.ts';
import { ADDRESS, LOGIN, MESSAGE, OPTIONAL_TOKEN, PASSWORD, SHORT, STEP, TOKEN } from './shapes.ts';

/** The response to a link that was opened where nothing shows whose registration it confirms. */
const CONFIRM = object({
  next: { ...text, enum: ['confirm_password'] },
  ticket: { ...text, description: 'Takes the place of the token' },
});

/** Fields of a new account. */
const NEW_ACCOUNT = {
  first_name: SHORT,
  last_name: SHORT,
  name: SHORT,
  username: SHORT,
  phone: SHORT,
  email: ADDRESS,
  password: PASSWORD,
} as const;

export const register = flow('POST /api/auth/register', {
  needs: 'public',
  limits: ['register-ip'],
  summary: 'Make an account and sign in',
  body: object({ ...NEW_ACCOUNT, invitation: TOKEN }, ['email', 'password']),
  answers: {
    201: ['The login object', LOGIN],
    202: [
      'Accepted; the rest is in the mail. Or a second factor is to be enrolled',
      { anyOf: [MESSAGE, STEP] },
    ],
  },
  refuses: {
    400: 'A field or the password is not acceptable',
    409: 'User already exists',
    429: 'Rate limit exceeded',
  },
  handle: (call, auth) => registerUser(auth, call),
});

export const setup = flow('POST /api/auth/setup', {
  needs: 'public',
  security: ['bearer'],
  limits: ['register-ip'],
  summary:
    'Become the first administrator, with the token that the start printed or SETUP_TOKEN: with a new account, or with a bearer token as the one who is signed in',
  body: object({ token: TOKEN, ...NEW_ACCOUNT }, ['token']),
  answers: {
    200: ['The login object of the one who was signed in', LOGIN],
    201: ['The login object of the new account', LOGIN],
    ...STEP_LEFT,
  },
  refuses: {
    400: 'Invalid or expired token, or a field that is not acceptable',
    404: 'No role is the first',
    409: 'User already exists',
    429: 'Rate limit exceeded',
  },
  handle: (call, auth) => claimSetup(auth, call),
});

export const verifyEmail = flow('POST /api/auth/verify-email', {
  needs: 'public',
  security: ['bearer'],
  limits: ['reset-ip'],
  summary:
    'Prove an address with the token from the mail: from the session or browser that registered it, with the password, or with a new one',
  body: object({
    token: OPTIONAL_TOKEN,
    ticket: OPTIONAL_TOKEN,
    password: PASSWORD,
    new_password: PASSWORD,
  }),
  answers: {
    ...DONE,
    202: ['The password is left to give, or a new one; nothing has changed yet', CONFIRM],
  },
  refuses: { 400: 'Invalid or expired token', 401: 'Wrong password', 423: 'Account locked' },
  async handle(call, auth) {
    const token: string | undefined = call.body.token ?? call.body.ticket;
    if (token === undefined) throw failure.badRequest('token is required');
    const link = await findLink(auth, token);
    const claim = await shownClaim(auth, call, link);
    if (claim === null) return reply(202, { next: 'confirm_password', ticket: token });
    const caller = callerOf(call.context);
    const changed = await auth.events.transact(caller, async (change) => {
      await serialiseProofs(auth, change.trx);
      await auth.oneTime.consume(change.trx, link.kind, token);
      if (link.kind === 'email') return changeTo(auth, change, link);
      return void (await proveAddress(auth, change, link.account.id, claim));
    });
    if (changed)
      auth.mails.send(
        'email-changed',
        { to: changed.from, account: changed.account, caller },
        { email: changed.to },
      );
    return reply(200, { message: 'Email verified' });
  },
});

export const resendVerification = flow('POST /api/auth/resend-verification', {
  needs: 'public',
  limits: ['forgot-ip'],
  summary: 'Send the verification mail again',
  body: object({ email: ADDRESS }, ['email']),
  answers: DONE,
  async handle(call, auth) {
    const { body, context } = call;
    auth.mails.assertAvailable();
    const caller = callerOf(context);
    const asker = askerOf(auth, call, body.email);
    auth.background.run(async () => {
      const subject = `${identifierOf(auth, body.email)}|${asker.key}`;
      if (!(await auth.limits.allows({ policy: 'resend-identifier', subject }))) return;
      const account = await auth.directory.findByEmail(auth.db, body.email);
      if (!account || account.emailVerified || isClosed(account)) return;
      await auth.events.transact(caller, (change) =>
        mailVerification(auth, change, { userId: account.id, email: account.email, asker }),
      );
    });
    return reply(200, RESEND_RESPONSE);
  },
});

const RESEND_RESPONSE = { message: 'If the account exists, a verification email has been sent' };

/** The link of a mail, which proves the address of an account or moves the account to another. */
interface AddressLink {
  readonly kind: 'verify' | 'email';
  readonly account: Account;
  readonly email: string;
}

async function findLink(auth: AuthState, token: string): Promise<AddressLink> {
  const { db } = auth;
  const verify = await auth.oneTime.peek(db, 'verify', token).catch(() => null);
  const { userId, data } = verify ?? (await auth.oneTime.peek(db, 'email', token));
  const account = await auth.directory.find(db, userId);
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
  auth: AuthState,
  call: Call,
  { kind, account }: AddressLink,
): Promise<Claim | null> {
  const { body, context, koa } = call;
  if (kind === 'verify' && account.emailVerified) return 'own';
  const claim = await claimOf(auth, call, account);
  if (claim) return claim;
  if (body.password !== undefined) {
    const registered = await claimOfPassword(auth, account, body.password);
    if (registered) return registered;
    await checkPassword(auth, toAttempt(auth, context, koa, account.email, body.password));
    return 'own';
  }
  if (kind === 'email' || body.new_password === undefined) return null;
  await auth.passwords.assert(body.new_password, account);
  return { patch: { password: await auth.passwords.hash(body.new_password) }, fields: {} };
}

/** A change of address; the previous address gets a mail about it. */
interface ChangedAddress {
  readonly account: Account;
  readonly from: string;
  readonly to: string;
}

async function changeTo(
  auth: AuthState,
  change: Change,
  { account: { id }, email }: AddressLink,
): Promise<ChangedAddress> {
  const { trx, emit } = change;
  const account = await auth.directory.find(trx, id);
  if (!account) throw invalidToken();
  if (emailKey(email) !== emailKey(account.email) && (await auth.directory.isTaken(trx, { email })))
    throw invalidToken();
  await auth.directory.update(trx, id, { email });
  emit('email.changed', id, {});
  await proveAddress(auth, change, id, 'own');
  return { account, from: account.email, to: email };
}
