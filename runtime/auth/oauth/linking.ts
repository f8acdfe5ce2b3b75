import type { Trx } from '../tables.ts';
import { AppError, failure } from '@twofold/runtime/errors';
import type { RequestContext } from '@twofold/runtime/kernel';
import { type Caller, callerOf } from '../requests/caller.ts';
import type { Emit } from '../events/events.ts';
import type { UserId } from '../ids.ts';
import type { AuthParts } from '../parts.ts';
import type { RightsChange } from '../users/roles.ts';
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
  parts: AuthParts,
  context: RequestContext,
  identity: Identity,
): Promise<Account> {
  return (await findAccountWithRetry(parts, context, { identity, linksExisting: true })).account;
}

/** Like `accountOf`, but does not link an existing account, because its user must agree first. */
export function accountToAsk(
  parts: AuthParts,
  context: RequestContext,
  identity: Identity,
): Promise<FoundAccount> {
  return findAccountWithRetry(parts, context, { identity, linksExisting: false });
}

interface AccountLookup {
  readonly identity: Identity;
  /** Whether an identity is linked to an existing account without asking its user. */
  readonly linksExisting: boolean;
}

async function findAccountWithRetry(
  parts: AuthParts,
  context: RequestContext,
  visit: AccountLookup,
): Promise<FoundAccount> {
  try {
    return await findOrCreateAccount(parts, context, visit);
  } catch (error) {
    // Of two callbacks of a new user at the same time, the other one created the account.
    if (
      isUniqueViolation(error) ||
      (error instanceof AppError && error.status === 409 && error.message === 'User already exists')
    )
      return findOrCreateAccount(parts, context, visit);
    throw error;
  }
}

async function findOrCreateAccount(
  parts: AuthParts,
  context: RequestContext,
  { identity, linksExisting: joins }: AccountLookup,
): Promise<FoundAccount> {
  const { events, directory, kernel } = parts;
  const caller = callerOf(context);
  const { id, needsConsent } = await events.transact(caller, async (trx, emit) => {
    const linked = await findLinkedUser(parts, trx, identity);
    if (linked !== null) return { id: linked, needsConsent: false };
    const existing = await findTrusted(parts, trx, identity);
    // Nobody has to agree for an account whose address this is the first to prove.
    const links = joins || existing?.emailVerified === false;
    if (existing && links) await join(parts, { trx, emit, caller }, identity, existing.id);
    if (existing) return { id: existing.id, needsConsent: !links };
    const id = await createLinkedUser(parts, { context, trx, emit }, identity);
    return { id, needsConsent: false };
  });
  const account = await directory.find(kernel.store.db, id);
  if (!account) throw notVerified('the user is gone');
  return { account, needsConsent };
}

async function findLinkedUser(
  { kernel }: AuthParts,
  trx: Trx,
  { provider, subject, email, emailVerified }: Identity,
): Promise<UserId | null> {
  const row = await trx
    .updateTable('auth_identities')
    .set({ last_login_at: kernel.now(), email, email_verified: emailVerified ? 1 : 0 })
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
  { model, directory }: AuthParts,
  trx: Trx,
  { email, emailVerified }: Identity,
): Promise<Account | null> {
  const account = email === null ? null : await directory.findByEmail(trx, email);
  if (!account) return null;
  if (model.oauth.linking !== 'verified' || !emailVerified) throw failure.conflict(ACCOUNT_EXISTS);
  return account;
}

async function join(
  parts: AuthParts,
  change: RightsChange,
  identity: Identity,
  userId: UserId,
): Promise<void> {
  const { trx, emit } = change;
  await proveAddress(parts, change, userId, null);
  await insertIdentity(parts, trx, identity, userId);
  emit('oauth.linked', userId, { provider: identity.provider, automatic: true });
}

/** The first sign-in of a user, and the transaction that makes them. */
interface FirstSignIn {
  readonly context: RequestContext;
  readonly trx: Trx;
  readonly emit: Emit;
}

async function createLinkedUser(
  parts: AuthParts,
  { context, trx, emit }: FirstSignIn,
  identity: Identity,
): Promise<UserId> {
  const { email, emailVerified, name, avatarUrl } = identity;
  if (email === null) throw notVerified('no address');
  if (parts.model.user.registerFields.length > 0)
    throw failure.conflict('Register first, then link this provider');
  const [first = '', ...rest] = name.split(/\s+/);
  const id = await createUser(parts, trx, emit, {
    patch: {
      email,
      first_name: first,
      last_name: rest.join(' '),
      avatar_url: avatarUrl,
      email_verified_at: emailVerified ? parts.kernel.now() : null,
      ...(parts.model.user.columns.name && { name: name || email.split('@')[0]! }),
    },
    fields: {},
    // The body of a callback holds codes and tokens of the provider, which are not for hooks.
    registering: { context, body: {} },
  });
  await insertIdentity(parts, trx, identity, id);
  emit('oauth.linked', id, { provider: identity.provider, automatic: true, registered: true });
  return id;
}

async function insertIdentity(
  { kernel }: AuthParts,
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
      created_at: kernel.now(),
      last_login_at: kernel.now(),
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
  parts: AuthParts,
  caller: Caller,
  { userId, startedAt }: LinkRequest,
  identity: Identity,
): Promise<void> {
  try {
    await parts.events.transact(caller, async (trx, emit) => {
      await serialiseRights(trx, parts.kernel.store.dialect);
      const account = await parts.directory.find(trx, userId);
      if (
        !account ||
        isClosed(account) ||
        Math.max(account.passwordChangedAt, account.tokensValidAfter) > startedAt
      )
        throw failure.badRequest('Invalid OAuth state');
      const owner = await findLinkedUser(parts, trx, identity);
      if (owner !== null && owner !== userId) throw failure.conflict('Identity already linked');
      if (owner !== null) return;
      await insertIdentity(parts, trx, identity, userId);
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
  parts: AuthParts,
  caller: Caller,
  userId: UserId,
  identity: Identity,
): Promise<void> {
  try {
    await parts.events.transact(caller, async (trx, emit) => {
      await serialiseRights(trx, parts.kernel.store.dialect);
      const owner = await findLinkedUser(parts, trx, identity);
      if (owner !== null && owner !== userId) throw failure.conflict('Identity already linked');
      if (owner !== null) return;
      const account = await findTrusted(parts, trx, identity);
      if (account?.id !== userId || isClosed(account)) throw invalidToken();
      await proveAddress(parts, { trx, emit, caller }, userId, null);
      await insertIdentity(parts, trx, identity, userId);
      emit('oauth.linked', userId, { provider: identity.provider, automatic: false });
    });
  } catch (error) {
    throw isUniqueViolation(error) ? failure.conflict('Identity already linked') : error;
  }
}
