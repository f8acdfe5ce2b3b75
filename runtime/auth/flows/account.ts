import { failure } from '@twofold/runtime/errors';
import { reply } from '@twofold/runtime/http';
import { dateTime, object, orNull } from '@twofold/schema/shapes';
import { restoreAccount } from '../account/deletion.ts';
import { exportAccount } from '../account/export.ts';
import { purgeAccounts } from '../account/purge.ts';
import { securityOf } from '../account/security.ts';
import type { UserId } from '../ids.ts';
import { pageLink } from '../mails/links.ts';
import { assertMayMailStrangers, mayMailStranger } from '../mails/stranger-mail.ts';
import { assertNotLastFirst } from '../organizations/membership.ts';
import type { AuthParts } from '../parts.ts';
import { asUser, callerOf } from '../requests/caller.ts';
import { assertProof } from '../requests/proof.ts';
import { invalidToken, ONE_TIME_LIFETIME } from '../secrets/one-time-tokens.ts';
import { endKeys } from '../sessions/ended-access.ts';
import { clearRefreshCookie } from '../sessions/refresh-cookie.ts';
import {
  checkEmail,
  checkPhone,
  checkText,
  checkUsername,
  emailKey,
} from '../sign-in/identity-rules.ts';
import { isUniqueViolation, userExists } from '../sign-in/register.ts';
import { mailTaken } from '../sign-in/verification.ts';
import { proveAgain } from '../steps/reauthenticate.ts';
import { assertStillOpen, signedInAccount } from '../steps/reauthentication.ts';
import { HOUR, rfc3339 } from '../time.ts';
import { assertOwnerLeft } from '../users/owners.ts';
import { serialiseRights } from '../users/permissions.ts';
import type { RightsChange } from '../users/roles.ts';
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
  async handle({ context }, { kernel, directory, signIn }) {
    const [userId] = context.values.get<UserId>('user_id');
    const account = userId === undefined ? null : await directory.find(kernel.store.db, userId);
    if (!account) throw failure.notFound('User not found');
    return reply(200, signIn.profile(account, account.last_login ?? kernel.now()));
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
  async handle({ koa, context, body }, parts) {
    const { kernel, directory, events, limits, signIn } = parts;
    const { account } = await signedInAccount(parts, context);
    const patch = changesOf(account, body);
    if (patch.phone !== undefined || patch.username !== undefined) {
      await assertProof(parts, context);
      // A conflict tells that somebody has this name or number, so nobody may try many of them.
      await limits.enforce(koa, [{ policy: 'change-name-user', subject: String(account.id) }]);
    }
    const fields = Object.keys(patch);
    if (fields.length > 0)
      await events.transact(asUser(callerOf(context), account.id), async (trx, emit) => {
        await directory.serialise(trx);
        const { username, phone } = patch;
        if (
          await directory.isTaken(
            trx,
            { username: username ?? null, phone: phone ?? null },
            account.id,
          )
        )
          throw userExists();
        await directory.update(trx, account.id, patch).catch((error: unknown) => {
          throw isUniqueViolation(error) ? userExists() : error;
        });
        emit('user.updated', account.id, { fields });
      });
    const changed = await directory.find(kernel.store.db, account.id);
    if (!changed) throw failure.notFound('User not found');
    return reply(200, signIn.profile(changed, changed.last_login ?? kernel.now()));
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
  async handle({ context, koa }, parts) {
    const { kernel, model, mailer, events } = parts;
    const { delete: allowed, grace } = model.account;
    if (!allowed) throw failure.notFound();
    const { account, sessionId } = await assertProof(parts, context);
    // Only the mail contains the link that keeps the account, so there must be a mailer.
    if (grace > 0) mailer.assertAvailable();
    const deletionAt = kernel.now() + grace;
    const caller = asUser(callerOf(context), account.id);
    const token = await events.transact(caller, async (trx, emit) => {
      await serialiseRights(trx, kernel.store.dialect);
      await assertStillOpen(parts, trx, sessionId);
      return close(parts, { trx, emit, caller }, account, deletionAt);
    });
    clearRefreshCookie(parts, koa);
    if (grace > 0) mailRestoreLink(parts, account, token, deletionAt);
    else parts.background.run(() => purgeAccounts(parts));
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
  async handle({ context, body }, parts) {
    await parts.events.transact(callerOf(context), async (trx, emit) => {
      const { userId } = await parts.oneTime.consume(trx, 'restore', body.token);
      const account = await parts.directory.find(trx, userId);
      if (!account || !(await restoreAccount(parts, trx, emit, account))) throw invalidToken();
    });
    return reply(200, { message: 'Account restored' });
  },
});

export const exportMe = flow('GET /api/auth/me/export', {
  needs: 'proof',
  summary: 'All data about oneself as one JSON file',
  answers: { 200: ['The file', EXPORT] },
  refuses: { 403: 'Reauthentication required', 503: 'Too many exports at once', ...SIGNED_IN },
  handle: (call, parts) => exportAccount(parts, call),
});

export const security = flow('GET /api/auth/security', {
  needs: 'session',
  summary: 'What signs in to the account, as counts, and what is pending',
  answers: { 200: ['The state', SECURITY] },
  refuses: SIGNED_IN,
  async handle({ context }, parts) {
    const { account } = await signedInAccount(parts, context);
    return reply(200, await securityOf(parts, account));
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
  handle: (call, parts) => proveAgain(parts, call),
});

export const changeEmail = flow('POST /api/auth/change-email', {
  needs: 'session',
  summary: 'Ask for another address; it holds once its link was followed',
  body: object({ email: ADDRESS }, ['email']),
  answers: DONE,
  refuses: { 403: 'Reauthentication required' },
  async handle({ koa, body, context }, parts) {
    const { events, oneTime, directory } = parts;
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
  parts: AuthParts,
  change: RightsChange,
  account: Account,
  deletionAt: number,
): Promise<string> {
  const { trx, emit } = change;
  const { kernel, directory, sessions, oneTime, model } = parts;
  await directory.update(trx, account.id, {
    deletion_at: deletionAt,
    tokens_valid_after: kernel.now(),
  });
  await assertOwnerLeft(parts, trx, account);
  await assertNotLastFirst(parts, trx, account.id);
  await sessions.endAll(trx, account.id, 'account deleted');
  await oneTime.endAll(trx, account.id);
  await endKeys(parts, change, account, 'account deleted');
  emit('user.deletion_requested', account.id, { deletion_at: rfc3339(deletionAt) });
  return oneTime.issue(trx, 'restore', account.id, { life: model.account.grace });
}

function mailRestoreLink(
  parts: AuthParts,
  account: Account,
  token: string,
  deletionAt: number,
): void {
  parts.mails.send(
    'account-deletion',
    { to: account.email, account },
    {
      link: pageLink(parts, 'restore', token),
      date: new Date(deletionAt).toISOString().slice(0, 10),
    },
  );
}
