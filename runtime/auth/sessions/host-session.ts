import type { Context as KoaContext } from 'koa';
import { randomToken } from '../base/ids.ts';
import type { AuthState } from '../state.ts';
import { DAY, rfc3339, SECOND } from '../base/time.ts';
import { type LiveSession, refreshExpiry } from './issue-tokens.ts';
import { accessLifetime, lifetimesOf } from './client.ts';
import { sendClientCookie } from './client-cookie.ts';
import { makeRefreshToken } from './refresh-token.ts';
import type { Lifetimes } from './sessions.ts';

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
export const hostLifetimes = (auth: AuthState, client: string | null): Lifetimes =>
  lifetimesOf(auth, client) ?? WITHOUT_REFRESH;

/**
 * A token for the operator's session. For an application it is short, and the session goes on by
 * its cookie; otherwise it lives as long as the session.
 */
export function deliverHostLogin(
  auth: AuthState,
  koa: KoaContext,
  { current, generation }: LiveSession,
): HostLogin {
  const { client, id, salt } = current;
  if (client !== null) {
    const refreshToken = makeRefreshToken(auth.keys, id, generation, salt);
    sendClientCookie(auth, koa, client, { refreshToken, refreshExp: refreshExpiry(current) });
  }
  const iat = Math.floor(auth.now() / SECOND);
  const exp = iat + (client === null ? DAY : accessLifetime(auth, client)) / SECOND;
  const token = auth.tokens.host.sign({ scope: 'host', exp, iat, jti: randomToken(16), sid: id });
  return { token, accessToken: token, exp, expiresAt: rfc3339(exp * SECOND) };
}
