import type { Context as KoaContext } from 'koa';
import type { Db, RowOf, Trx } from '../tables.ts';
import { failure } from '@twofold/runtime/errors';
import type { Call } from '@twofold/runtime/http';
import { callerOf } from '../requests/caller.ts';
import { deviceKind } from '../sign-in/device-kind.ts';
import type { Entry } from '../steps/entry.ts';
import type { Emit } from '../events/events.ts';
import { digest, randomToken, type UserId } from '../ids.ts';
import type { AuthParts } from '../parts.ts';
import { rfc3339, SECOND } from '../time.ts';

/** The cookie of remembered devices. It holds a token for each account of the browser. */
const COOKIE = 'remembered';
const HEADER = 'X-Remembered-Device';
const TOKEN = /[A-Za-z0-9_-]{43}/g;
/** Accounts of one browser whose tokens the cookie holds. */
const MAX_TOKENS = 5;
/** A user has at most so many remembered devices; the oldest ones are forgotten. */
const MAX_DEVICES = 20;

/**
 * Whether the request comes from a device on which this user needs no second factor. A
 * reauthentication and a reset ask for it on every device.
 *
 * @returns the write that notes the use, or null.
 */
export async function isRememberedHere(
  { kernel, model }: AuthParts,
  { koa, context }: Call,
  { account, goal }: Entry,
): Promise<((trx: Trx) => Promise<void>) | null> {
  const tokens = model.secondFactor.remember > 0 ? presentedTokens(koa) : [];
  if (tokens.length === 0 || goal.kind !== 'session') return null;
  const device = await kernel.store.db
    .selectFrom('auth_remembered_devices')
    .select('id')
    .where('hash', 'in', tokens.map(digest))
    .where('user_id', '=', account.id)
    .where('expires_at', '>', kernel.now())
    .limit(1)
    .executeTakeFirst();
  if (!device) return null;
  return async (trx) => {
    const { numUpdatedRows } = await trx
      .updateTable('auth_remembered_devices')
      .set({ last_used_at: kernel.now(), ip: context.ip })
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
  { kernel, model, config }: AuthParts,
  { koa, context }: Call,
  userId: UserId,
  { trx, emit }: { readonly trx: Trx; readonly emit: Emit },
): Promise<(() => void) | null> {
  const life = model.secondFactor.remember;
  if (life === 0) return null;
  const now = kernel.now();
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
    const secure = config.secureCookies ? '; Secure' : '';
    koa.set(HEADER, token);
    koa.append(
      'Set-Cookie',
      `${COOKIE}=${all}; Max-Age=${Math.floor(life / SECOND)}; Path=/; HttpOnly; SameSite=Lax${secure}`,
    );
  };
}

/** The devices of a user that are still remembered, newest first. */
export async function devicesOf(
  { kernel }: AuthParts,
  db: Db,
  userId: UserId,
): Promise<RowOf<'auth_remembered_devices'>[]> {
  return db
    .selectFrom('auth_remembered_devices')
    .selectAll()
    .where('user_id', '=', userId)
    .where('expires_at', '>', kernel.now())
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
