import type { Kernel, RequestContext } from '@twofold/runtime/kernel';
import { failure } from '@twofold/runtime/errors';
import type { Change, StepWrites } from '../events/events.ts';
import { assertStillOpen } from '../requests/proof.ts';
import { callerOf } from '../base/caller.ts';
import type { AnyDb, Trx } from '../base/tables.ts';
import type { UserId } from '../base/ids.ts';
import type { AuthState } from '../state.ts';
import { identifierOf } from '../limits/identifier.ts';
import { emailKey } from '../base/identity-rules.ts';
import { endKey } from '../keys/key-changes.ts';
import { endPasskeys } from '../passkeys/passkey-store.ts';
import { serialiseRights } from '../users/permissions.ts';
import { forgetDevices } from '../second-factor/devices.ts';
import type { Account } from '../users/user-directory.ts';

/** Access that a user can keep when they change their password. */
export type KeptAccess = 'api_keys' | 'identities';

export interface EndOptions {
  /** The reason in rows and events, such as `password reset`. */
  readonly reason: string;
  /** A session that stays open: the one that changes the password. */
  readonly session?: string;
  readonly keep?: readonly KeptAccess[];
  /**
   * Which passkeys end; none when absent. With `but`, the passkey that proved the reset is kept.
   */
  readonly passkeys?: 'all' | { readonly but: string };
}

/** The access that ended with a new password. The event contains it, and the mail lists it. */
export interface EndedAccess {
  readonly sessions_ended: number;
  /** Remembered devices. */
  readonly devices_ended: number;
  /** Names of API keys. */
  readonly api_keys_ended: readonly string[];
  /** Names of providers. */
  readonly identities_ended: readonly string[];
  /** Names of passkeys. */
  readonly passkeys_ended: readonly string[];
}

/**
 * Ends all other ways to sign in to an account, because an intruder who knew the old password may
 * have added one. Runs in the transaction that sets the new password.
 */
export async function endAccess(
  auth: AuthState,
  change: Change,
  account: Account,
  { reason, session, keep = [], passkeys }: EndOptions,
): Promise<EndedAccess> {
  const { trx } = change;
  await serialiseRights(trx, auth.store.dialect);
  const sessions = await auth.sessions.endAll(trx, account.id, reason, session);
  await auth.oneTime.endAll(trx, account.id);
  await endEmailSignIns(auth, trx, identifierOf(auth, account.email));
  const devices = await forgetDevices(trx, account.id);
  return {
    sessions_ended: sessions,
    devices_ended: devices,
    api_keys_ended: keep.includes('api_keys') ? [] : await endKeys(auth, change, account, reason),
    identities_ended: keep.includes('identities')
      ? []
      : await endForeignIdentities(change, account, reason),
    passkeys_ended:
      passkeys === undefined
        ? []
        : await endPasskeys(change, account, {
            reason,
            ...(passkeys !== 'all' && { but: passkeys.but }),
          }),
  };
}

/**
 * Checks and hashes a new password. @returns the change that sets it and ends other access.
 *
 * @param ending `stale`: tokens that were made before it end as well.
 */
export async function replacePassword(
  auth: AuthState,
  account: Account,
  password: string,
  { stale = false, ...ending }: EndOptions & { readonly stale?: boolean },
): Promise<StepWrites> {
  await auth.passwords.assert(password, account);
  const hash = await auth.passwords.hash(password);
  return async (change) => {
    const now = auth.now();
    const patch = { password: hash, password_changed_at: now };
    await auth.directory.update(change.trx, account.id, {
      ...patch,
      ...(stale && { tokens_valid_after: now }),
    });
    // The update has waited for a reset that was under way. The reset ended this session, and its
    // password stays.
    if (ending.session !== undefined) await assertStillOpen(auth, change.trx, ending.session);
    const ended = await endAccess(auth, change, account, ending);
    change.emit('password.changed', account.id, { ...ended });
  };
}

/** Revokes the API keys of an account. @returns their names. */
export async function endKeys(
  auth: AuthState,
  change: Change,
  account: Account,
  reason: string,
): Promise<string[]> {
  const keys = await auth.apiKeys.ofUser(change.trx, account.id);
  for (const key of keys) await endKey(auth, change, key, reason);
  return keys.map(({ name }) => name);
}

/**
 * Removes linked identities, except those whose provider has verified the account's own e-mail
 * address. An identity with another or an unverified address may belong to another person.
 */
async function endForeignIdentities(
  { trx, emit }: Change,
  account: Account,
  reason: string,
): Promise<string[]> {
  const foreign = (await identitiesOf(trx, account)).filter(
    ({ email, email_verified }) =>
      email === null || email_verified !== 1 || emailKey(email) !== emailKey(account.email),
  );
  for (const { provider, subject } of foreign) {
    await trx
      .deleteFrom('auth_identities')
      .where('provider', '=', provider)
      .where('subject', '=', subject)
      .execute();
    emit('oauth.unlinked', account.id, { provider, reason });
  }
  return foreign.map(({ provider }) => provider);
}

const identitiesOf = (trx: Trx, { id }: Account) =>
  trx
    .selectFrom('auth_identities')
    .select(['provider', 'subject', 'email', 'email_verified'])
    .where('user_id', '=', id)
    .orderBy('provider')
    .execute();

/** Ends the open sign-ins by mail of an address. */
export async function endEmailSignIns(
  { now }: Pick<Kernel, 'now'>,
  trx: Trx,
  identifierHash: string,
): Promise<void> {
  await trx
    .updateTable('auth_email_sign_ins')
    .set({ used_at: now() })
    .where('identifier_hash', '=', identifierHash)
    .where('used_at', 'is', null)
    .execute();
}

/**
 * Call this after one way to sign in was removed, in its transaction and after
 * `directory.serialise`.
 *
 * @throws AppError 409 when the user could no longer sign in.
 */
export async function assertOtherMethod(auth: AuthState, trx: Trx, userId: UserId): Promise<void> {
  const account = await auth.directory.find(trx, userId);
  if (!account || account.password !== null || auth.model.emailSignIn !== 'off') return;
  for (const table of ['auth_passkeys', 'auth_identities'])
    if (await hasRow(trx, table, userId)) return;
  throw failure.conflict('Cannot remove the last sign-in method');
}

async function hasRow(db: AnyDb, table: string, userId: UserId): Promise<boolean> {
  const query = db.selectFrom(table).select('user_id').where('user_id', '=', userId).limit(1);
  return (await query.executeTakeFirst()) !== undefined;
}

/** Ends the session of a signed-in user. */
export async function logOut(auth: AuthState, context: RequestContext): Promise<void> {
  const { principal } = context;
  if (principal.kind !== 'user') return;
  const { id, sessionId: session_id } = principal;
  await auth.events.transact(callerOf(context), async ({ trx, emit }) => {
    if (await auth.sessions.end(trx, session_id, 'logout')) emit('auth.logout', id, { session_id });
  });
}

/** Ends every session and token of a user. @param told whether the event says why. */
export async function endSessions(
  auth: AuthState,
  { trx, emit }: Change,
  userId: UserId,
  reason: string,
  told = false,
): Promise<void> {
  const revoked = await auth.sessions.endAll(trx, userId, reason);
  await auth.directory.update(trx, userId, { tokens_valid_after: auth.now() });
  emit('auth.logout_all', userId, { revoked, ...(told && { reason }) });
}
