import type { Context as KoaContext } from 'koa';
import { randomToken } from '../ids.ts';
import type { AuthParts } from '../parts.ts';
import { DAY, rfc3339, SECOND } from '../time.ts';
import { accessLifetime, lifetimesOf } from './client.ts';
import { sendClientCookie } from './client-cookie.ts';
import { makeRefreshToken } from './refresh-token.ts';
import type { Lifetimes, Session } from './sessions.ts';
import { refreshExpiry } from './sign-in.ts';

const WITHOUT_REFRESH: Lifetimes = { idle: DAY, absolute: DAY };

/** The response to a sign-in of the operator. */
export interface HostLogin {
  /** The same as `accessToken`. */
  readonly token: string;
  readonly accessToken: string;
  /** Unix seconds. */
  readonly exp: number;
  readonly expiresAt: string | null;
}

/** The lifetimes of a session of the operator. */
export const hostLifetimes = (parts: AuthParts, client: string | null): Lifetimes =>
  lifetimesOf(parts, client) ?? WITHOUT_REFRESH;

/**
 * A token for the operator's session. For an application it is short, and the session goes on by
 * its cookie; otherwise it lives as long as the session.
 */
export function deliverHostLogin(
  parts: AuthParts,
  koa: KoaContext,
  { current, generation }: { readonly current: Session; readonly generation: number },
): HostLogin {
  const { client, id, salt } = current;
  if (client !== null) {
    const refreshToken = makeRefreshToken(parts.keys, id, generation, salt);
    sendClientCookie(parts, koa, client, { refreshToken, refreshExp: refreshExpiry(current) });
  }
  const iat = Math.floor(parts.kernel.now() / SECOND);
  const exp = iat + (client === null ? DAY : accessLifetime(parts, client)) / SECOND;
  const token = parts.hostTokens.sign({ scope: 'host', exp, iat, jti: randomToken(16), sid: id });
  return { token, accessToken: token, exp, expiresAt: rfc3339(exp * SECOND) };
}
