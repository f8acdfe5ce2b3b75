import type { Context as KoaContext } from 'koa';
import { failure } from '@twofold/runtime/errors';
import { setCookie } from '../base/cookie.ts';
import type { AuthState } from '../state.ts';
import { SECOND } from '../base/time.ts';
import type { IssuedLogin, LoginObject } from './issue-tokens.ts';
import { readClientCookie, sendClientCookie, trustedOrigins } from './client-cookie.ts';
import { keepPagesSession } from './pages-session.ts';

/**
 * Prepares a login object for the response. With `refresh.delivery: cookie` the refresh token is
 * moved to a cookie that scripts cannot read. A session of an application has a cookie of its own.
 */
export function deliverLogin(
  auth: AuthState,
  koa: KoaContext,
  { login, client }: IssuedLogin,
): LoginObject {
  const byCookie = client !== null || auth.model.refresh.delivery === 'cookie';
  if (!byCookie || !login.refreshToken) return login;
  const { refreshToken, refreshExp = 0, ...rest } = login;
  if (client !== null) {
    sendClientCookie(auth, koa, client, { refreshToken, refreshExp });
    // They are of one origin, and the pages show no more than the session may see.
    if (auth.model.pages !== false) keepPagesSession(auth, koa, login);
    return rest;
  }
  setRefreshCookie(auth, koa, refreshToken, refreshExp - Math.floor(auth.now() / SECOND));
  return rest;
}

/**
 * The refresh token of a request: from its body, the cookie of its application, or the cookie of
 * this server. @throws AppError 403 when a page of another origin sent a cookie
 */
export function presentedRefresh(
  auth: AuthState,
  koa: KoaContext,
  given: string | undefined,
  client: string | null,
): string | null {
  if (client !== null) return readClientCookie(auth, koa, client);
  if (given) return given;
  if (auth.model.refresh.delivery !== 'cookie') return null;
  const cookie = koa.cookies.get(cookieName(auth)) ?? null;
  if (cookie) assertSameSite(auth, koa);
  return cookie;
}

export function clearRefreshCookie(auth: AuthState, koa: KoaContext): void {
  if (auth.model.refresh.delivery === 'cookie') setRefreshCookie(auth, koa, '', 0);
}

/**
 * Protects a request that a cookie authenticates against CSRF: its origin must be allowed, and it
 * must be a request that an HTML form cannot send.
 *
 * @throws AppError 403
 */
function assertSameSite(auth: AuthState, koa: KoaContext): void {
  const scripted =
    /^application\/json\b/i.test(koa.get('Content-Type')) || koa.get('X-Requested-With') !== '';
  if (!trustedOrigins(auth).includes(koa.get('Origin')) || !scripted) throw failure.forbidden();
}

const cookieName = ({ config }: AuthState) => `${config.secureCookies ? '__Secure-' : ''}refresh`;

function setRefreshCookie(auth: AuthState, koa: KoaContext, value: string, seconds: number): void {
  setCookie(koa, cookieName(auth), value, {
    life: seconds * SECOND,
    secure: auth.config.secureCookies,
    path: '/api/auth',
    sameSite: 'Strict',
  });
}
