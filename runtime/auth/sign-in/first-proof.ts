import { deserialize, serialize } from 'node:v8';
import type { Context as KoaContext } from 'koa';
import type { Trx } from '../tables.ts';
import type { Call } from '@twofold/runtime/http';
import { digest, randomToken, type UserId } from '../ids.ts';
import type { AuthParts } from '../parts.ts';
import { impersonatorOf } from '../requests/caller.ts';
import { ownCookie } from '../requests/own-cookie.ts';
import { removeTotp } from '../second-factor/remove-totp.ts';
import { invalidToken, ONE_TIME_LIFETIME, type OneTime } from '../secrets/one-time-tokens.ts';
import { endAccess, type EndedAccess } from '../sessions/ended-access.ts';
import { serialiseRights } from '../users/permissions.ts';
import type { RightsChange } from '../users/roles.ts';
import type { Account, AccountPatch } from '../users/user-directory.ts';
import { emailKey } from './identity-rules.ts';

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
  parts: AuthParts,
  change: RightsChange,
  userId: UserId,
  claim: Claim | null,
  reason = 'email verified',
): Promise<EndedAccess | null> {
  const { trx, emit } = change;
  const { directory, kernel, oneTime } = parts;
  const before = await directory.find(trx, userId);
  if (before?.emailVerified) return null;
  await serialiseProofs(parts, trx);
  // Waits for a sign-in to this account that is on its way.
  await directory.update(trx, userId, {});
  const account = await directory.find(trx, userId);
  if (!account) throw invalidToken();
  if (account.emailVerified) return null;
  const proved = { email: account.email, email_verified_at: kernel.now() };
  if (claim === 'own') {
    await directory.update(trx, userId, proved);
    await oneTime.endAll(trx, userId, 'verify');
    emit('email.verified', userId, {});
    return null;
  }
  const { patch, fields } = claim ? await withoutTaken(parts, change, userId, claim) : NOTHING;
  const now = kernel.now();
  const anew = { password: null, password_changed_at: now, tokens_valid_after: now };
  await directory.update(trx, userId, { ...anew, ...patch, ...proved }, fields);
  const ended = await endAccess(parts, change, account, {
    reason,
    passkeys: 'all',
  });
  await removeTotp(parts, change, account, 'first proof of the address');
  await trx.deleteFrom('auth_invitations').where('invited_by', '=', userId).execute();
  emit('email.verified', userId, { ...ended });
  return ended;
}

/**
 * Lets proofs, registrations and changes of rights wait for each other. A transaction that uses a
 * link up takes this lock before it touches the link, because a proof ends the links of others.
 */
export async function serialiseProofs({ directory, kernel }: AuthParts, trx: Trx): Promise<void> {
  await directory.serialise(trx);
  await serialiseRights(trx, kernel.store.dialect);
}

const NOTHING: Registration = { patch: {}, fields: {} };

/** A registration without the username and phone number that others have by now. */
async function withoutTaken(
  { directory }: AuthParts,
  { trx }: RightsChange,
  userId: UserId,
  { patch: { username, phone, ...patch }, fields }: Registration,
): Promise<Registration> {
  const isFree = async (value: { username: string } | { phone: string }) =>
    !(await directory.isTaken(trx, value, userId));
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
  parts: AuthParts,
  { koa, context }: Pick<Call, 'koa' | 'context'>,
  account: Account,
): Promise<Claim | null> {
  const { principal } = context;
  const signedIn = principal.kind === 'user' && principal.id === account.id;
  if (signedIn && impersonatorOf(context) === undefined) return 'own';
  const cookie = koa.cookies.get(COOKIE);
  if (!cookie) return null;
  const browser = digest(cookie);
  const links = await registrationLinks(parts, account);
  const link = links.find(({ data }) => data['browser'] === browser);
  return link ? (registrationIn(link) ?? 'own') : null;
}

/** The claim of somebody who types a password: of the account, or of one of the registrations. */
export async function claimOfPassword(
  parts: AuthParts,
  account: Account,
  password: string,
): Promise<Registration | null> {
  for (const link of await registrationLinks(parts, account)) {
    const registration = registrationIn(link);
    if (
      registration &&
      (await parts.passwords.verify(password, registration.patch.password ?? null))
    )
      return registration;
  }
  return null;
}

/** The live links that were mailed to the address which the account has now. */
async function registrationLinks(
  { oneTime, kernel }: AuthParts,
  { id, email }: Account,
): Promise<OneTime[]> {
  const links = await oneTime.live(kernel.store.db, 'verify', id);
  return links.filter(({ data }) => emailKey(String(data['email'])) === emailKey(email));
}

/** Marks the browser that registers. @returns the hash that is stored with the link. */
export function markRegistration(parts: AuthParts, koa: KoaContext): string {
  const secret = randomToken(32);
  ownCookie(parts, koa, COOKIE, secret, ONE_TIME_LIFETIME.verify);
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
