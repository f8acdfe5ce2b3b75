import { deserialize, serialize } from 'node:v8';
import type { Context as KoaContext } from 'koa';
import type { Call } from '@twofold/runtime/http';
import type { Change } from '../events/events.ts';
import type { Trx } from '../base/tables.ts';
import { digest, randomToken, type UserId } from '../base/ids.ts';
import type { AuthState } from '../state.ts';
import { impersonatorOf } from '../base/caller.ts';
import { setCookie } from '../base/cookie.ts';
import { removeTotp } from '../second-factor/totp.ts';
import { invalidToken, ONE_TIME_LIFETIME, type OneTime } from '../secrets/one-time-tokens.ts';
import { serialiseRights } from '../users/permissions.ts';
import type { Account, AccountPatch } from '../users/user-directory.ts';
import { emailKey } from '../base/identity-rules.ts';
import { endAccess, type EndedAccess } from './ended-access.ts';

/** The browser that registered an address: the secret whose hash lies beside the mailed link. */
const COOKIE = 'registered';

/** What somebody typed who registered an address that another registration already holds. */
export interface Registration {
  readonly patch: AccountPatch;
  readonly fields: Readonly<Record<string, unknown>>;
}

/**
 * What the one who proves an address has shown to be theirs: what the account holds, or a
 * registration that takes its place.
 */
export type Claim = 'own' | Registration;

/**
 * The one place where an address becomes proved. Anybody can register an address, so its first proof
 * ends everything that was made before it, unless the one who proves it has shown that it is theirs.
 * Rows of the project stay.
 *
 * The caller has used up its own token, and everything happens in its transaction.
 *
 * @returns what ended; null when the address was proved before, or nothing had to end.
 */
export async function proveAddress(
  auth: AuthState,
  change: Change,
  userId: UserId,
  claim: Claim | null,
  reason = 'email verified',
): Promise<EndedAccess | null> {
  const { trx, emit } = change;
  const before = await auth.directory.find(trx, userId);
  if (before?.emailVerified) return null;
  await serialiseProofs(auth, trx);
  // Waits for a sign-in to this account that is on its way.
  await auth.directory.update(trx, userId, {});
  const account = await auth.directory.find(trx, userId);
  if (!account) throw invalidToken();
  if (account.emailVerified) return null;
  const proved = { email: account.email, email_verified_at: auth.now() };
  if (claim === 'own') {
    await auth.directory.update(trx, userId, proved);
    await auth.oneTime.endAll(trx, userId, 'verify');
    emit('email.verified', userId, {});
    return null;
  }
  const { patch, fields } = claim ? await withoutTaken(auth, change, userId, claim) : NOTHING;
  const now = auth.now();
  const anew = { password: null, password_changed_at: now, tokens_valid_after: now };
  await auth.directory.update(trx, userId, { ...anew, ...patch, ...proved }, fields);
  const ended = await endAccess(auth, change, account, {
    reason,
    passkeys: 'all',
  });
  await removeTotp(auth, change, account, 'first proof of the address');
  await trx.deleteFrom('auth_invitations').where('invited_by', '=', userId).execute();
  emit('email.verified', userId, { ...ended });
  return ended;
}

/**
 * Lets proofs, registrations and changes of rights wait for each other. A transaction that uses a
 * link up takes this lock before it touches the link, because a proof ends the links of others.
 */
export async function serialiseProofs(auth: AuthState, trx: Trx): Promise<void> {
  await auth.directory.serialise(trx);
  await serialiseRights(trx, auth.store.dialect);
}

const NOTHING: Registration = { patch: {}, fields: {} };

/** A registration without the username and phone number that others have by now. */
async function withoutTaken(
  auth: AuthState,
  { trx }: Change,
  userId: UserId,
  { patch: { username, phone, ...patch }, fields }: Registration,
): Promise<Registration> {
  const isFree = async (value: { username: string } | { phone: string }) =>
    !(await auth.directory.isTaken(trx, value, userId));
  return {
    patch: {
      ...patch,
      ...(username && (await isFree({ username })) && { username }),
      ...(phone !== undefined && { phone: phone && (await isFree({ phone })) ? phone : null }),
    },
    fields,
  };
}

/**
 * What a request shows without a password: the session of the account, or the browser that
 * registered its address.
 */
export async function claimOf(
  auth: AuthState,
  { koa, context }: Pick<Call, 'koa' | 'context'>,
  account: Account,
): Promise<Claim | null> {
  const { principal } = context;
  const signedIn = principal.kind === 'user' && principal.id === account.id;
  if (signedIn && impersonatorOf(context) === undefined) return 'own';
  const cookie = koa.cookies.get(COOKIE);
  if (!cookie) return null;
  const browser = digest(cookie);
  const links = await registrationLinks(auth, account);
  const link = links.find(({ data }) => data['browser'] === browser);
  return link ? (registrationIn(link) ?? 'own') : null;
}

/** The claim of somebody who types a password: of the account, or of one of the registrations. */
export async function claimOfPassword(
  auth: AuthState,
  account: Account,
  password: string,
): Promise<Registration | null> {
  for (const link of await registrationLinks(auth, account)) {
    const registration = registrationIn(link);
    if (
      registration &&
      (await auth.passwords.verify(password, registration.patch.password ?? null))
    )
      return registration;
  }
  return null;
}

/** The live links that were mailed to the address which the account has now. */
async function registrationLinks(auth: AuthState, { id, email }: Account): Promise<OneTime[]> {
  const links = await auth.oneTime.live(auth.db, 'verify', id);
  return links.filter(({ data }) => emailKey(String(data['email'])) === emailKey(email));
}

/** Marks the browser that registers. @returns the hash that is stored with the link. */
export function markRegistration(auth: AuthState, koa: KoaContext): string {
  const secret = randomToken(32);
  setCookie(koa, COOKIE, secret, {
    life: ONE_TIME_LIFETIME.verify,
    secure: auth.config.secureCookies,
  });
  return digest(secret);
}

/** A registration as the data of a link. Values of columns may be of more kinds than JSON has. */
export const storedRegistration = ({ patch, fields }: Registration): string =>
  serialize({ patch, fields }).toString('base64');

function registrationIn({ data }: OneTime): Registration | null {
  const stored = data['registration'];
  if (typeof stored !== 'string') return null;
  return deserialize(Buffer.from(stored, 'base64')) as Registration;
}
