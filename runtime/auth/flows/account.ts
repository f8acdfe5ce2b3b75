import { failure } from '@twofold/runtime/errors';
import { reply } from '@twofold/runtime/http';
import { dateTime, object, orNull } from '@twofold/schema/shapes';
import type { Change } from '../events/events.ts';
import { profileOf } from '../users/profile.ts';
import { purgeAccounts, restoreAccount } from '../account/purge.ts';
import { exportAccount } from '../account/export.ts';
import { securityOf } from '../account/security.ts';
import type { UserId } from '../base/ids.ts';
import { pageLink } from '../mails/links.ts';
import { assertMayMailStrangers, mayMailStranger } from '../mails/stranger-mail.ts';
import { assertNotLastFirst } from '../organizations/membership.ts';
import type { AuthState } from '../state.ts';
import { asUser, callerOf } from '../base/caller.ts';
import { assertProof, assertStillOpen, signedInAccount } from '../requests/proof.ts';
import { invalidToken, ONE_TIME_LIFETIME } from '../secrets/one-time-tokens.ts';
import { endKeys } from '../sign-in/ended-access.ts';
import { clearRefreshCookie } from '../sessions/refresh-cookie.ts';
import {
  checkEmail,
  checkPhone,
  checkText,
  checkUsername,
  emailKey,
} from '../base/identity-rules.ts';
import { isUniqueViolation, userExists } from '../sign-in/register.ts';
import { mailTaken } from '../sign-in/mailed-links.ts';
import { proveAgain } from '../sign-in/reauthenticate.ts';
import { HOUR, rfc3339 } from '../base/time.ts';
import { assertOwnerLeft } from '../users/owners.ts';
import { serialiseRights } from '../users/permissions.ts';
import type { Account, AccountPatch } from '../users/user-directory.ts';
import { DONE, flow, SIGNED_IN } from './flow.ts';
import {
  ADDRESS,
  CREDENTIAL,
  EXPORT,
  LOGIN,
  PASSWORD,
  SECURITY,
  STEP,
  TIME,
  TOKEN,
  USER,
} from './shapes.ts';

const own = (maxLength: number) => ({ ...orNull('string'), maxLength }) as const;

/** Absent is unchanged, null or the empty text clears. */
const OWN_FIELDS = {
  ...object({
    first_name: own(256),
    last_name: own(256),
    phone: own(256),
    username: own(256),
    avatar_url: own(2048),
    locale: { ...own(35), description: 'A language tag, such as en or de-AT' },
  }),
  additionalProperties: false,
} as const;

/** The login object of a reauthentication. */
const REAUTHENTICATED = {
  ...LOGIN,
  properties: { ...LOGIN.properties, reauthenticated_until: dateTime },
} as const;

export const me = flow('GET /api/auth/me', {
  needs: 'user',
  summary: 'The signed-in user',
  answers: { 200: ['The user', USER] },
  refuses: { 404: 'User not found', ...SIGNED_IN },
  async handle({ context }, auth) {
    const [userId] = context.values.get<UserId>('user_id');
    const account = userId === undefined ? null : await auth.directory.find(auth.db, userId);
    if (!account) throw failure.notFound('User not found');
    return reply(200, profileOf(auth, account));
  },
});

export const updateMe = flow('PATCH /api/auth/me', {
  needs: 'session',
  summary: 'Change the data about oneself; phone and username need a recent proof',
  body: OWN_FIELDS,
  answers: { 200: ['The user', USER] },
  refuses: {
    400: 'A field is unknown or not acceptable',
    403: 'Reauthentication required',
    409: 'User already exists',
    429: 'Rate limit exceeded',
    ...SIGNED_IN,
  },
  async handle({ koa, context, body }, auth) {
    const { account } = await signedInAccount(auth, context);
    const patch = changesOf(account, body);
    if (patch.phone !== undefined || patch.username !== undefined) {
      await assertProof(auth, context);
      // A conflict tells that somebody has this name or number, so nobody may try many of them.
      await auth.limits.enforce(koa, [{ policy: 'change-name-user', subject: String(account.id) }]);
    }
    const fields = Object.keys(patch);
    if (fields.length > 0)
      await auth.events.transact(asUser(callerOf(context), account.id), async ({ trx, emit }) => {
        await auth.directory.serialise(trx);
        const { username, phone } = patch;
        if (
          await auth.directory.isTaken(
            trx,
            { username: username ?? null, phone: phone ?? null },
            account.id,
          )
        )
          throw userExists();
        await auth.directory.update(trx, account.id, patch).catch((error: unknown) => {
          throw isUniqueViolation(error) ? userExists() : error;
        });
        emit('user.updated', account.id, { fields });
      });
    const changed = await auth.directory.find(auth.db, account.id);
    if (!changed) throw failure.notFound('User not found');
    return reply(200, profileOf(auth, changed));
  },
});

export const deleteMe = flow('DELETE /api/auth/me', {
  needs: 'proof',
  summary: "Delete one's own account: closed at once, gone after the grace",
  answers: { 200: ['When it goes', object({ deletion_at: TIME })] },
  refuses: {
    403: 'Reauthentication required',
    404: 'Not found: the manifest has it off',
    409: 'Cannot remove the last owner',
    503: 'Mail is not set up',
    ...SIGNED_IN,
  },
  async handle({ context, koa }, auth) {
    const { delete: allowed, grace } = auth.model.account;
    if (!allowed) throw failure.notFound();
    const { account, sessionId } = await assertProof(auth, context);
    // Only the mail contains the link that keeps the account, so there must be a mailer.
    if (grace > 0) auth.mails.assertAvailable();
    const deletionAt = auth.now() + grace;
    const caller = asUser(callerOf(context), account.id);
    const token = await auth.events.transact(caller, async (change) => {
      await serialiseRights(change.trx, auth.store.dialect);
      await assertStillOpen(auth, change.trx, sessionId);
      return close(auth, change, account, deletionAt);
    });
    clearRefreshCookie(auth, koa);
    if (grace > 0) mailRestoreLink(auth, account, token, deletionAt);
    else auth.background.run(() => purgeAccounts(auth));
    return reply(200, { deletion_at: rfc3339(deletionAt) });
  },
});

export const restore = flow('POST /api/auth/restore', {
  needs: 'public',
  limits: ['reset-ip'],
  summary: 'Restore a deleted account with the token from the mail',
  body: object({ token: TOKEN }, ['token']),
  answers: DONE,
  refuses: { 400: 'Invalid or expired token' },
  async handle({ context, body }, auth) {
    await auth.events.transact(callerOf(context), async (change) => {
      const { userId } = await auth.oneTime.consume(change.trx, 'restore', body.token);
      const account = await auth.directory.find(change.trx, userId);
      if (!account || !(await restoreAccount(auth, change, account))) throw invalidToken();
    });
    return reply(200, { message: 'Account restored' });
  },
});

export const exportMe = flow('GET /api/auth/me/export', {
  needs: 'proof',
  summary: 'All data about oneself as one JSON file',
  answers: { 200: ['The file', EXPORT] },
  refuses: { 403: 'Reauthentication required', 503: 'Too many exports at once', ...SIGNED_IN },
  handle: (call, auth) => exportAccount(auth, call),
});

export const security = flow('GET /api/auth/security', {
  needs: 'session',
  summary: 'What signs in to the account, as counts, and what is pending',
  answers: { 200: ['The state', SECURITY] },
  refuses: SIGNED_IN,
  async handle({ context }, auth) {
    const { account } = await signedInAccount(auth, context);
    return reply(200, await securityOf(auth, account));
  },
});

export const reauthenticate = flow('POST /api/auth/reauthenticate', {
  needs: 'session',
  summary:
    'Prove the password or a passkey again, for five minutes; the session goes on under new tokens',
  optional: true,
  body: object({ password: PASSWORD, credential: CREDENTIAL }),
  answers: {
    200: ['The login object, and until when', REAUTHENTICATED],
    202: ['A second factor, or the code of a mail for a user without a password', STEP],
  },
  refuses: { 401: 'Invalid credentials' },
  handle: (call, auth) => proveAgain(auth, call),
});

export const changeEmail = flow('POST /api/auth/change-email', {
  needs: 'session',
  summary: 'Ask for another address; it holds once its link was followed',
  body: object({ email: ADDRESS }, ['email']),
  answers: DONE,
  refuses: { 403: 'Reauthentication required' },
  async handle({ koa, body, context }, auth) {
    const { account } = await assertProof(auth, context);
    const email = checkEmail(body.email);
    const policy = 'change-email-user';
    await assertMayMailStrangers(auth, koa, account, [{ policy, subject: String(account.id) }]);
    const caller = asUser(callerOf(context), account.id);
    const done = reply(200, { message: 'Check your email to continue' });
    if (!(await mayMailStranger(auth, { to: email, caller }))) return done;
    const token = await auth.events.transact(caller, async ({ trx, emit }) => {
      if (
        emailKey(email) !== emailKey(account.email) &&
        (await auth.directory.isTaken(trx, { email }))
      )
        return null;
      emit('email.verification_sent', account.id, {});
      return auth.oneTime.issue(trx, 'email', account.id, { data: { email } });
    });
    // The response is the same for a taken address. Otherwise it would show who has an account.
    if (token)
      auth.mails.send(
        'change-email',
        { to: email, account, caller },
        { link: pageLink(auth, 'change-email', token), hours: ONE_TIME_LIFETIME.email / HOUR },
      );
    else await mailTaken(auth, email, caller, 'change-email');
    return done;
  },
});

/** The fields of a user that `PATCH /api/auth/me` changes. */
type OwnField = 'first_name' | 'last_name' | 'phone' | 'username' | 'avatar_url' | 'locale';

type OwnPatch = Pick<AccountPatch, OwnField>;

/** How each field is checked. `null` and the empty text clear it. */
const CHECKS: { readonly [Field in OwnField]: (value: string) => string | null } = {
  first_name: (value) => checkText('first_name', value),
  last_name: (value) => checkText('last_name', value),
  phone: checkPhone,
  username: (value) => checkUsername(value) ?? refuse('username is required'),
  avatar_url: checkAddress,
  locale: checkLocale,
};

/** The fields of the body that differ from the account, checked. @throws AppError 400 */
function changesOf(account: Account, body: Readonly<Record<string, string | null>>): OwnPatch {
  const checked = (Object.keys(CHECKS) as OwnField[])
    .filter((field) => body[field] !== undefined)
    .map((field) => [field, CHECKS[field](body[field] ?? '')] as const);
  return Object.fromEntries(checked.filter(([field, value]) => account[field] !== (value ?? '')));
}

/** Pages show the address as an image, so a scheme such as `javascript:` must not be stored. */
function checkAddress(value: string): string {
  if (value === '') return '';
  checkText('avatar_url', value);
  if (!URL.canParse(value) || !/^https?:$/.test(new URL(value).protocol))
    refuse('avatar_url must be an http or https address');
  return value;
}

/** A language tag of BCP 47 in its canonical form: `de-at` becomes `de-AT`. */
function checkLocale(value: string): string | null {
  if (value === '') return null;
  try {
    return Intl.getCanonicalLocales(value)[0] ?? null;
  } catch {
    return refuse('locale must be a language tag such as en or de-AT');
  }
}

function refuse(message: string): never {
  throw failure.invalid(message);
}

/** Ends all access to an account, after `serialiseRights`. @returns the token that restores it. */
async function close(
  auth: AuthState,
  change: Change,
  account: Account,
  deletionAt: number,
): Promise<string> {
  const { trx, emit } = change;
  await auth.directory.update(trx, account.id, {
    deletion_at: deletionAt,
    tokens_valid_after: auth.now(),
  });
  await assertOwnerLeft(auth, trx, account);
  await assertNotLastFirst(auth, trx, account.id);
  await auth.sessions.endAll(trx, account.id, 'account deleted');
  await auth.oneTime.endAll(trx, account.id);
  await endKeys(auth, change, account, 'account deleted');
  emit('user.deletion_requested', account.id, { deletion_at: rfc3339(deletionAt) });
  return auth.oneTime.issue(trx, 'restore', account.id, { life: auth.model.account.grace });
}

function mailRestoreLink(
  auth: AuthState,
  account: Account,
  token: string,
  deletionAt: number,
): void {
  auth.mails.send(
    'account-deletion',
    { to: account.email, account },
    {
      link: pageLink(auth, 'restore', token),
      date: new Date(deletionAt).toISOString().slice(0, 10),
    },
  );
}
