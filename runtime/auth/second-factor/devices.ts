import type { Context as KoaContext } from 'koa';
import { failure } from '@twofold/runtime/errors';
import type { Call } from '@twofold/runtime/http';
import type { Change } from '../events/events.ts';
import type { Db, RowOf, Trx } from '../base/tables.ts';
import { setCookie } from '../base/cookie.ts';
import { callerOf, deviceKind } from '../base/caller.ts';
import { digest, randomToken, type UserId } from '../base/ids.ts';
import type { AuthState } from '../state.ts';
import { rfc3339 } from '../base/time.ts';

/** The cookie of remembered devices. It holds a token for each account of the browser. */
const COOKIE = 'remembered';
const HEADER = 'X-Remembered-Device';
const TOKEN = /[A-Za-z0-9_-]{43}/g;
/** Accounts of one browser whose tokens the cookie holds. */
const MAX_TOKENS = 5;
/** A user has at most so many remembered devices; the oldest ones are forgotten. */
const MAX_DEVICES = 20;

/**
 * Whether the request comes from a device on which this user needs no second factor.
 *
 * @returns the write that notes the use, or null.
 */
export async function isRememberedHere(
  auth: AuthState,
  { koa, context }: Call,
  userId: UserId,
): Promise<((trx: Trx) => Promise<void>) | null> {
  const tokens = auth.model.secondFactor.remember > 0 ? presentedTokens(koa) : [];
  if (tokens.length === 0) return null;
  const device = await auth.db
    .selectFrom('auth_remembered_devices')
    .select('id')
    .where('hash', 'in', tokens.map(digest))
    .where('user_id', '=', userId)
    .where('expires_at', '>', auth.now())
    .limit(1)
    .executeTakeFirst();
  if (!device) return null;
  return async (trx) => {
    const { numUpdatedRows } = await trx
      .updateTable('auth_remembered_devices')
      .set({ last_used_at: auth.now(), ip: context.ip })
      .where('id', '=', device['id'])
      .executeTakeFirst();
    // The device was forgotten since the request began.
    if (Number(numUpdatedRows) !== 1) throw failure.unauthenticated('Invalid credentials');
  };
}

/**
 * Remembers the device of a request, in the transaction of its sign-in.
 *
 * @returns the function that sends the token, to be called after the commit; null where the
 * manifest remembers none.
 */
export async function rememberDevice(
  auth: AuthState,
  { koa, context }: Call,
  userId: UserId,
  { trx, emit }: Change,
): Promise<(() => void) | null> {
  const life = auth.model.secondFactor.remember;
  if (life === 0) return null;
  const now = auth.now();
  const token = randomToken(32);
  const { ip, userAgent } = callerOf(context);
  const row = {
    id: randomToken(16),
    hash: digest(token),
    user_id: userId,
    name: deviceKind(userAgent).slice(0, 64) || 'Device',
    ip,
    created_at: now,
    last_used_at: now,
    expires_at: now + life,
  };
  await trx.insertInto('auth_remembered_devices').values(row).execute();
  await forgetOldest(trx, userId);
  emit('device.remembered', userId, { device_id: row.id, name: row.name });
  return () => {
    const all = [token, ...presentedTokens(koa)].slice(0, MAX_TOKENS).join('.');
    koa.set(HEADER, token);
    setCookie(koa, COOKIE, all, { life, secure: auth.config.secureCookies });
  };
}

/** The devices of a user that are still remembered, newest first. */
export async function devicesOf(
  auth: AuthState,
  db: Db,
  userId: UserId,
): Promise<RowOf<'auth_remembered_devices'>[]> {
  return db
    .selectFrom('auth_remembered_devices')
    .selectAll()
    .where('user_id', '=', userId)
    .where('expires_at', '>', auth.now())
    .orderBy('created_at', 'desc')
    .orderBy('id')
    .execute();
}

/** Forgets every device of a user. @returns how many there were. */
export async function forgetDevices(trx: Db, userId: UserId): Promise<number> {
  const query = trx.deleteFrom('auth_remembered_devices').where('user_id', '=', userId);
  return Number((await query.executeTakeFirst()).numDeletedRows);
}

async function forgetOldest(trx: Trx, userId: UserId): Promise<void> {
  const older = await trx
    .selectFrom('auth_remembered_devices')
    .select('id')
    .where('user_id', '=', userId)
    .orderBy('created_at', 'desc')
    .orderBy('id')
    .offset(MAX_DEVICES)
    .limit(1000)
    .execute();
  if (older.length === 0) return;
  const ids = older.map(({ id }) => id);
  await trx.deleteFrom('auth_remembered_devices').where('id', 'in', ids).execute();
}

function presentedTokens(koa: KoaContext): string[] {
  const text = `${koa.get(HEADER)}.${koa.cookies.get(COOKIE) ?? ''}`;
  return [...new Set(text.match(TOKEN) ?? [])].slice(0, MAX_TOKENS);
}

export const showDevice = ({
  id,
  name,
  created_at,
  last_used_at,
  ip,
}: RowOf<'auth_remembered_devices'>) => ({
  id,
  name,
  created_at: rfc3339(created_at),
  last_used_at: rfc3339(last_used_at),
  ip,
});
