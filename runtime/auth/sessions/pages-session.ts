import type { Context as KoaContext } from 'koa';
import { setCookie } from '../base/cookie.ts';
import type { AuthState } from '../state.ts';
import { SECOND } from '../base/time.ts';
import type { LoginObject } from './issue-tokens.ts';

/** With `__Host-` a browser takes the cookie only from this host, and not from a subdomain. */
const nameOf = ({ config }: AuthState) => `${config.secureCookies ? '__Host-' : ''}pages_session`;

/** The token of the session of the pages, which no endpoint accepts. */
export const readPagesSession = (auth: AuthState, koa: KoaContext): string | undefined =>
  koa.cookies.get(nameOf(auth));

/** Signs the browser in to the pages, with the session of a login object. */
export function keepPagesSession(auth: AuthState, koa: KoaContext, login: LoginObject): void {
  const claims = auth.tokens.user.verify(login.accessToken);
  if (!claims) return;
  const { user_id, iat, jti, sid } = claims;
  const { refresh, jwt } = auth.model;
  const life = refresh.enabled ? Math.min(refresh.idle, refresh.absolute) : jwt.ttl;
  const exp = Math.floor((auth.now() + life) / SECOND);
  const token = auth.tokens.pages.sign({ user_id, iat, jti, sid, exp, extend: {} });
  const left = (exp - Math.floor(auth.now() / SECOND)) * SECOND;
  setCookie(koa, nameOf(auth), token, { life: left, secure: auth.config.secureCookies });
}

export const clearPagesSession = (auth: AuthState, koa: KoaContext): void =>
  setCookie(koa, nameOf(auth), '', { life: 0, secure: auth.config.secureCookies });
