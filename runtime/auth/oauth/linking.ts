import { AppError, failure } from '@twofold/runtime/errors';
import type { RequestContext } from '@twofold/runtime/kernel';
import type { Change } from '../events/events.ts';
import type { Trx } from '../base/tables.ts';
import { type Caller, callerOf } from '../base/caller.ts';
import type { UserId } from '../base/ids.ts';
import type { AuthState } from '../state.ts';
import { serialiseRights } from '../users/permissions.ts';
import { proveAddress } from '../sign-in/first-proof.ts';
import { createUser, isUniqueViolation } from '../sign-in/register.ts';
import { invalidToken } from '../secrets/one-time-tokens.ts';
import { type Account, isClosed } from '../users/user-directory.ts';
import type { Identity } from './identity.ts';
import { notVerified } from './id-token.ts';

const ACCOUNT_EXISTS = 'Account exists; sign in to link this provider';

/** The account that an identity belongs to, or would belong to. */
interface FoundAccount {
  readonly account: Account;
  /** Whether the user has to agree before the provider joins this account. */
  readonly needsConsent: boolean;
}

/**
 * Returns the account of an identity: the linked account, or an existing account with the same
 * address if the provider has verified that address, or a new one. If this server has not, the
 * provider is the first to prove it: what somebody made who registered the address ends.
 *
 * @throws AppError 401, 409
 */
export async function accountOf(
  auth: AuthState,
  context: RequestContext,
  identity: Identity,
): Promise<Account> {
  return (await findAccountWithRetry(auth, context, { identity, linksExisting: true })).account;
}

/** Like `accountOf`, but does not link an existing account, because its user must agree first. */
export function accountToAsk(
  auth: AuthState,
  context: RequestContext,
  identity: Identity,
): Promise<FoundAccount> {
  return findAccountWithRetry(auth, context, { identity, linksExisting: false });
}

interface AccountLookup {
  readonly identity: Identity;
  /** Whether an identity is linked to an existing account without asking its user. */
  readonly linksExisting: boolean;
}

async function findAccountWithRetry(
  auth: AuthState,
  context: RequestContext,
  visit: AccountLookup,
): Promise<FoundAccount> {
  try {
    return await findOrCreateAccount(auth, context, visit);
  } catch (error) {
    // Of two callbacks of a new user at the same time, the other one created the account.
    if (
      isUniqueViolation(error) ||
      (error instanceof AppError && error.status === 409 && error.message === 'User already exists')
    )
      return findOrCreateAccount(auth, context, visit);
    throw error;
  }
}

async function findOrCreateAccount(
  auth: AuthState,
  context: RequestContext,
  { identity, linksExisting: joins }: AccountLookup,
): Promise<FoundAccount> {
  const caller = callerOf(context);
  const { id, needsConsent } = await auth.events.transact(caller, async (change) => {
    const linked = await findLinkedUser(auth, change.trx, identity);
    if (linked !== null) return { id: linked, needsConsent: false };
    const existing = await findTrusted(auth, change.trx, identity);
    // Nobody has to agree for an account whose address this is the first to prove.
    const links = joins || existing?.emailVerified === false;
    if (existing && links) await join(auth, change, identity, existing.id);
    if (existing) return { id: existing.id, needsConsent: !links };
    const id = await createLinkedUser(auth, { ...change, context }, identity);
    return { id, needsConsent: false };
  });
  const account = await auth.directory.find(auth.db, id);
  if (!account) throw notVerified('the user is gone');
  return { account, needsConsent };
}

async function findLinkedUser(
  auth: AuthState,
  trx: Trx,
  { provider, subject, email, emailVerified }: Identity,
): Promise<UserId | null> {
  const row = await trx
    .updateTable('auth_identities')
    .set({ last_login_at: auth.now(), email, email_verified: emailVerified ? 1 : 0 })
    .where('provider', '=', provider)
    .where('subject', '=', subject)
    .returning('user_id')
    .executeTakeFirst();
  return row?.['user_id'] ?? null;
}

/**
 * The existing account with the address of an identity.
 *
 * @throws AppError 409 when the provider has not verified the address.
 */
async function findTrusted(
  auth: AuthState,
  trx: Trx,
  { email, emailVerified }: Identity,
): Promise<Account | null> {
  const account = email === null ? null : await auth.directory.findByEmail(trx, email);
  if (!account) return null;
  if (auth.model.oauth.linking !== 'verified' || !emailVerified)
    throw failure.conflict(ACCOUNT_EXISTS);
  return account;
}

async function join(
  auth: AuthState,
  change: Change,
  identity: Identity,
  userId: UserId,
): Promise<void> {
  const { trx, emit } = change;
  await proveAddress(auth, change, userId, null);
  await insertIdentity(auth, trx, identity, userId);
  emit('oauth.linked', userId, { provider: identity.provider, automatic: true });
}

/** The first sign-in of a user, and the transaction that makes them. */
interface FirstSignIn extends Change {
  readonly context: RequestContext;
}

async function createLinkedUser(
  auth: AuthState,
  change: FirstSignIn,
  identity: Identity,
): Promise<UserId> {
  const { email, emailVerified, name, avatarUrl } = identity;
  if (email === null) throw notVerified('no address');
  if (auth.model.user.registerFields.length > 0)
    throw failure.conflict('Register first, then link this provider');
  const [first = '', ...rest] = name.split(/\s+/);
  const id = await createUser(auth, change, {
    patch: {
      email,
      first_name: first,
      last_name: rest.join(' '),
      avatar_url: avatarUrl,
      email_verified_at: emailVerified ? auth.now() : null,
      ...(auth.model.user.columns.name && { name: name || email.split('@')[0]! }),
    },
    fields: {},
    // The body of a callback holds codes and tokens of the provider, which are not for hooks.
    registering: { context: change.context, body: {} },
  });
  await insertIdentity(auth, change.trx, identity, id);
  const { provider } = identity;
  change.emit('oauth.linked', id, { provider, automatic: true, registered: true });
  return id;
}

async function insertIdentity(
  auth: AuthState,
  trx: Trx,
  { provider, subject, email, emailVerified }: Identity,
  userId: UserId,
): Promise<void> {
  await trx
    .insertInto('auth_identities')
    .values({
      provider,
      subject,
      user_id: userId,
      email,
      email_verified: emailVerified ? 1 : 0,
      created_at: auth.now(),
      last_login_at: auth.now(),
    })
    .execute();
}

/** The user who asked to link a provider, and when. */
export interface LinkRequest {
  readonly userId: UserId;
  readonly startedAt: number;
}

/**
 * Links an identity to a user who asked for it.
 *
 * @throws AppError 400 when the user has changed their password or signed out everywhere since they
 * asked, because an intruder may have asked whose session that ended. 409 when the identity belongs
 * to another user.
 */
export async function linkIdentity(
  auth: AuthState,
  caller: Caller,
  { userId, startedAt }: LinkRequest,
  identity: Identity,
): Promise<void> {
  try {
    await auth.events.transact(caller, async ({ trx, emit }) => {
      await serialiseRights(trx, auth.store.dialect);
      const account = await auth.directory.find(trx, userId);
      if (
        !account ||
        isClosed(account) ||
        Math.max(account.passwordChangedAt, account.tokensValidAfter) > startedAt
      )
        throw failure.badRequest('Invalid OAuth state');
      const owner = await findLinkedUser(auth, trx, identity);
      if (owner !== null && owner !== userId) throw failure.conflict('Identity already linked');
      if (owner !== null) return;
      await insertIdentity(auth, trx, identity, userId);
      emit('oauth.linked', userId, { provider: identity.provider, automatic: false });
    });
  } catch (error) {
    throw isUniqueViolation(error) ? failure.conflict('Identity already linked') : error;
  }
}

/**
 * Links an identity to the account with its address, after its user has agreed.
 *
 * @throws AppError 400 when the account was closed or has another address by now, 409 when one of
 * both sides has not verified the address, or the identity belongs to another user.
 */
export async function joinWithConsent(
  auth: AuthState,
  caller: Caller,
  userId: UserId,
  identity: Identity,
): Promise<void> {
  try {
    await auth.events.transact(caller, async (change) => {
      const { trx, emit } = change;
      await serialiseRights(trx, auth.store.dialect);
      const owner = await findLinkedUser(auth, trx, identity);
      if (owner !== null && owner !== userId) throw failure.conflict('Identity already linked');
      if (owner !== null) return;
      const account = await findTrusted(auth, trx, identity);
      if (account?.id !== userId || isClosed(account)) throw invalidToken();
      await proveAddress(auth, change, userId, null);
      await insertIdentity(auth, trx, identity, userId);
      emit('oauth.linked', userId, { provider: identity.provider, automatic: false });
    });
  } catch (error) {
    throw isUniqueViolation(error) ? failure.conflict('Identity already linked') : error;
  }
}
