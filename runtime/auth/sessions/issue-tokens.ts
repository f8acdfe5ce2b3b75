import type { AuthState } from '../state.ts';
import { randomToken } from '../base/ids.ts';
import { type Profile, profileOf } from '../users/profile.ts';
import { SECOND } from '../base/time.ts';
import type { Account } from '../users/user-directory.ts';
import type { Extended } from './extend.ts';
import { accessLifetime, hasRefresh } from './client.ts';
import { makeRefreshToken } from './refresh-token.ts';
import type { Session } from './sessions.ts';

/** The login response object. */
export interface LoginObject extends Profile {
  readonly accessToken: string;
  readonly exp: number;
  readonly extend: Extended;
  readonly refreshToken?: string;
  readonly refreshExp?: number;
  /** The administrator who acts as the user. */
  readonly impersonated_by?: Account['id'];
}

/** New tokens, and the application whose cookie takes the refresh token. */
export interface IssuedLogin {
  readonly login: LoginObject;
  readonly client: string | null;
}

/** A session, and the generation of its tokens that a request has redeemed. */
export interface LiveSession {
  readonly current: Session;
  readonly generation: number;
}

/** New tokens of a session. */
export function issueTokens(
  auth: AuthState,
  account: Account,
  { current: session, generation }: LiveSession,
  extend: Extended,
): IssuedLogin {
  const profile = profileOf(auth, account);
  const { client } = session;
  const iat = Math.floor(auth.now() / SECOND);
  const acting =
    session.impersonated_by === null ? null : { impersonated_by: session.impersonated_by };
  const exp = acting
    ? Math.floor(session.absolute_expires_at / SECOND)
    : iat + Math.floor(accessLifetime(auth, client) / SECOND);
  // Without `jti`, two logins of one user in the same second would get the same token, and logging
  // one out would end both.
  const accessToken = auth.tokens.user.sign({
    user_id: profile.id,
    exp,
    extend,
    iat,
    jti: randomToken(16),
    sid: session.id,
    ...acting,
  });
  const base = { ...profile, accessToken, exp, extend, ...acting };
  if (!hasRefresh(auth, client) || acting) return { login: base, client };
  const refreshToken = makeRefreshToken(auth.keys, session.id, generation, session.salt);
  return { login: { ...base, refreshToken, refreshExp: refreshExpiry(session) }, client };
}

/** The expiry of the newest refresh token of a session, in Unix seconds. */
export const refreshExpiry = (session: Session): number =>
  Math.floor(Math.min(session.idle_expires_at, session.absolute_expires_at) / SECOND);
