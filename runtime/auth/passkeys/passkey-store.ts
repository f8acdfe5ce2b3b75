import type { Change } from '../events/events.ts';
import type { Db, RowOf, Trx } from '../base/tables.ts';
import { randomToken, type UserId } from '../base/ids.ts';
import { rfc3339 } from '../base/time.ts';
import type { NewPasskey, UsedPasskey } from './webauthn.ts';

/** Its id is the credential id, and `public_key` a COSE key, both in base64url. */
export type PasskeyRow = RowOf<'auth_passkeys'>;

/** A user has at most so many passkeys. */
export const MAX_PASSKEYS = 20;

export async function passkeysOf(db: Db, userId: UserId): Promise<PasskeyRow[]> {
  return db
    .selectFrom('auth_passkeys')
    .selectAll()
    .where('user_id', '=', userId)
    .orderBy('created_at')
    .orderBy('id')
    .execute();
}

export async function findPasskey(db: Db, id: string): Promise<PasskeyRow | null> {
  const row = await db
    .selectFrom('auth_passkeys')
    .selectAll()
    .where('id', '=', id)
    .executeTakeFirst();
  return row ?? null;
}

export async function insertPasskey(
  trx: Trx,
  userId: UserId,
  { passkey, name, now }: { passkey: NewPasskey; name: string; now: number },
): Promise<PasskeyRow> {
  const row: PasskeyRow = {
    id: passkey.id,
    user_id: userId,
    name,
    public_key: passkey.publicKey,
    counter: passkey.counter,
    backed_up: passkey.backedUp ? 1 : 0,
    transports: JSON.stringify(passkey.transports),
    created_at: now,
    last_used_at: null,
  };
  await trx.insertInto('auth_passkeys').values(row).execute();
  return row;
}

/**
 * Stores a use of a passkey. The counter has to grow, or to be zero for ever, as it is in password
 * managers (WebAuthn Level 3 section 6.1.1). Of two uses with one counter only one succeeds.
 *
 * @returns false when the counter did not grow: the passkey may have been copied.
 */
export async function noteUse(
  trx: Db,
  id: string,
  { counter, backedUp }: UsedPasskey,
  now: number,
): Promise<boolean> {
  const { numUpdatedRows } = await trx
    .updateTable('auth_passkeys')
    .set({ counter, backed_up: backedUp ? 1 : 0, last_used_at: now })
    .where('id', '=', id)
    .where('counter', counter === 0 ? '=' : '<', counter)
    .executeTakeFirst();
  return Number(numUpdatedRows) === 1;
}

/** The random name under which authenticators keep the user's passkeys; null before the first. */
export async function handleOf(db: Db, userId: UserId): Promise<string | null> {
  const row = await db
    .selectFrom('auth_users')
    .select('passkey_handle')
    .where('user_id', '=', userId)
    .executeTakeFirst();
  return row?.passkey_handle ?? null;
}

/** Like `handleOf`, and makes one if there is none. Of two concurrent calls both get the same. */
export async function ensureHandle(db: Db, userId: UserId): Promise<string> {
  const known = await handleOf(db, userId);
  if (known !== null) return known;
  await db
    .updateTable('auth_users')
    .set({ passkey_handle: randomToken(32) })
    .where('user_id', '=', userId)
    .where('passkey_handle', 'is', null)
    .execute();
  return (await handleOf(db, userId)) ?? '';
}

/**
 * Removes the passkeys of a user, except `but`. `reason` says why, when the owner did not do it.
 */
export async function endPasskeys(
  { trx, emit }: Change,
  { id }: { readonly id: UserId },
  { reason, but }: { readonly reason: string; readonly but?: string },
): Promise<string[]> {
  const passkeys = (await passkeysOf(trx, id)).filter((passkey) => passkey.id !== but);
  for (const passkey of passkeys)
    await trx.deleteFrom('auth_passkeys').where('id', '=', passkey.id).execute();
  for (const { id: passkey_id, name } of passkeys)
    emit('passkey.removed', id, { passkey_id, name, reason });
  return passkeys.map(({ name }) => name);
}

/** A passkey as its owner sees it. */
export const showPasskey = (row: PasskeyRow) => ({
  id: row.id,
  name: row.name,
  created_at: rfc3339(row.created_at),
  last_used_at: rfc3339(row.last_used_at),
  backed_up: row.backed_up === 1,
  transports: JSON.parse(row.transports) as string[],
});
