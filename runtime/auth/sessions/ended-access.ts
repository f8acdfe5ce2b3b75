import type { Trx } from '../tables.ts';
import { endEmailSignIns } from '../sign-in/email-sign-in-rows.ts';
import { identifierOf } from '../sign-in/identifier.ts';
import { emailKey } from '../sign-in/identity-rules.ts';
import { endKey } from '../keys/key-changes.ts';
import type { AuthParts } from '../parts.ts';
import { endPasskeys } from '../passkeys/passkey-store.ts';
import { serialiseRights } from '../users/permissions.ts';
import type { RightsChange } from '../users/roles.ts';
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
  parts: AuthParts,
  change: RightsChange,
  account: Account,
  { reason, session, keep = [], passkeys }: EndOptions,
): Promise<EndedAccess> {
  const { trx, emit } = change;
  await serialiseRights(trx, parts.kernel.store.dialect);
  const sessions = await parts.sessions.endAll(trx, account.id, reason, session);
  await parts.oneTime.endAll(trx, account.id);
  await endEmailSignIns(parts.kernel, trx, identifierOf(parts, account.email));
  const devices = await forgetDevices(trx, account.id);
  return {
    sessions_ended: sessions,
    devices_ended: devices,
    api_keys_ended: keep.includes('api_keys') ? [] : await endKeys(parts, change, account, reason),
    identities_ended: keep.includes('identities')
      ? []
      : await endForeignIdentities(change, account, reason),
    passkeys_ended:
      passkeys === undefined
        ? []
        : await endPasskeys(trx, emit, account, {
            reason,
            ...(passkeys !== 'all' && { but: passkeys.but }),
          }),
  };
}

/** Revokes the API keys of an account. @returns their names. */
export async function endKeys(
  parts: AuthParts,
  change: RightsChange,
  account: Account,
  reason: string,
): Promise<string[]> {
  const keys = await parts.apiKeys.ofUser(change.trx, account.id);
  for (const key of keys) await endKey(parts, change, key, reason);
  return keys.map(({ name }) => name);
}

/**
 * Removes linked identities, except those whose provider has verified the account's own e-mail
 * address. An identity with another or an unverified address may belong to another person.
 */
async function endForeignIdentities(
  { trx, emit }: RightsChange,
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
