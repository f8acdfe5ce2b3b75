import type { KeyObject } from 'node:crypto';
import type { Context as KoaContext } from 'koa';
import { setCookie } from '../base/cookie.ts';
import { randomToken } from '../base/ids.ts';
import { mac, sameText } from '../secrets/keys.ts';
import type { AuthState } from '../state.ts';
import { DAY } from '../base/time.ts';
import { emailKey } from '../base/identity-rules.ts';
import type { LockKey } from './lockout.ts';

/**
 * The HMAC under which failures, limits and attempts of an e-mail address are stored. It does not
 * depend on whether an account exists.
 */
export function identifierOf(auth: AuthState, email: string): string {
  return mac(auth.keys.derived('identifier'), emailKey(email));
}

/** The bucket in which failures of an address count. A device that signed in before has its own. */
export function lockKeyFor(auth: AuthState, koa: KoaContext, identifierHash: string): LockKey {
  const device = readDevice(auth, koa, identifierHash);
  return { identifierHash, bucket: device ? `device:${device}` : 'public' };
}

export const lockKeyOf = (auth: AuthState, koa: KoaContext, email: string): LockKey =>
  lockKeyFor(auth, koa, identifierOf(auth, email));

/**
 * The key under which failures of the operator's device are counted; null when the operator never
 * signed in on the device of the request.
 */
export function hostDevice(auth: AuthState, koa: KoaContext): string | null {
  const id = readDevice(auth, koa, hostIdentifier(auth), 'host_device');
  return id && `device:${id}`;
}

/** The identifier of the operator in limits and in the log of attempts. */
export const hostIdentifier = (auth: AuthState) => mac(auth.keys.derived('identifier'), 'host');

/** Users and the operator have different cookies, so that one browser can keep both. */
type DeviceCookie = 'device' | 'host_device';

const HEADER_NAME = 'X-Device-Token';
const TOKEN_FORMAT = /^([A-Za-z0-9_-]{22})\.([A-Za-z0-9_-]{43})$/;

/**
 * The id of a browser that has signed in before with this identifier, or null. Failed logins of such
 * a browser are counted separately, so that an attacker who guesses passwords cannot lock the user
 * out (ASVS 6.1.1). Its token gives no other right.
 */
export function readDevice(
  { keys }: Pick<AuthState, 'keys'>,
  koa: KoaContext,
  identifierHash: string,
  cookie: DeviceCookie = 'device',
): string | null {
  for (const text of [koa.get(HEADER_NAME), koa.cookies.get(cookie) ?? '']) {
    const [, id = '', signature = ''] = TOKEN_FORMAT.exec(text) ?? [];
    const isOurs = (key: KeyObject) => sameText(signature, mac(key, `${identifierHash}|${id}`));
    if (id && keys.derivedAll('device').some(isOurs)) return id;
  }
  return null;
}

/** Sets the cookie and the header, unless the request has a valid token already. */
export function giveDevice(
  auth: Pick<AuthState, 'keys' | 'config'>,
  koa: KoaContext,
  identifierHash: string,
  cookie: DeviceCookie = 'device',
): void {
  if (readDevice(auth, koa, identifierHash, cookie)) return;
  const id = randomToken(16);
  const token = `${id}.${mac(auth.keys.derived('device'), `${identifierHash}|${id}`)}`;
  koa.set(HEADER_NAME, token);
  const secure = auth.config.secureCookies;
  setCookie(koa, cookie, token, { life: 365 * DAY, path: '/api/auth', secure });
}
