import type { Context as KoaContext } from 'koa';
import { randomToken } from '../ids.ts';
import { type Keys, mac, sameText } from '../secrets/keys.ts';
import { DAY } from '../time.ts';

/**
 * Marks a browser that has signed in before. Failed logins of such a browser are counted
 * separately, so that an attacker who guesses passwords cannot lock the user out (ASVS 6.1.1). The
 * token gives no other right.
 */
export interface DeviceTokens {
  /** The device's id, when the request has a valid device token for this identifier. */
  read(koa: KoaContext, identifierHash: string): string | null;
  /** Sets the cookie and the header, unless the request has a valid token already. */
  give(koa: KoaContext, identifierHash: string): void;
}

const HEADER_NAME = 'X-Device-Token';
const TOKEN_FORMAT = /^([A-Za-z0-9_-]{22})\.([A-Za-z0-9_-]{43})$/;

/**
 * @param cookie The cookie's name. Users and the operator have different cookies, so that one
 * browser can keep both.
 */
export function createDeviceTokens(
  keys: Keys,
  { secure, cookie }: { readonly secure: boolean; readonly cookie: 'device' | 'host_device' },
): DeviceTokens {
  const sign = (id: string, identifierHash: string, key = keys.derived('device')) =>
    mac(key, `${identifierHash}|${id}`);
  const read: DeviceTokens['read'] = (koa, identifierHash) => {
    for (const text of [koa.get(HEADER_NAME), koa.cookies.get(cookie) ?? '']) {
      const match = TOKEN_FORMAT.exec(text);
      if (
        match &&
        keys
          .derivedAll('device')
          .some((key) => sameText(match[2]!, sign(match[1]!, identifierHash, key)))
      )
        return match[1]!;
    }
    return null;
  };
  return {
    read,
    give: (koa, identifierHash) => {
      if (read(koa, identifierHash)) return;
      const id = randomToken(16);
      const token = `${id}.${sign(id, identifierHash)}`;
      koa.set(HEADER_NAME, token);
      koa.append(
        'Set-Cookie',
        `${cookie}=${token}; Max-Age=${(365 * DAY) / 1000}; Path=/api/auth; HttpOnly; ` +
          `SameSite=Lax${secure ? '; Secure' : ''}`,
      );
    },
  };
}
