import type { Context as KoaContext } from 'koa';
import { failure } from '@twofold/runtime/errors';
import type { AuthConfig } from '../config.ts';
import type { AuthParts } from '../parts.ts';
import { readClientCookie, sendClientCookie } from './client-cookie.ts';
import { shareWithPages } from './pages-session.ts';
import type { IssuedLogin, LoginObject } from './sign-in.ts';

const COOKIE_NAME = 'refresh';
const SECURE_COOKIE_NAME = '__Secure-refresh';

/**
 * Prepares a login object for the response. With `refresh.delivery: cookie` the refresh token is
 * moved to a cookie that scripts cannot read. A session of an application has a cookie of its own.
 */
export function deliverLogin(
  parts: AuthParts,
  koa: KoaContext,
  { login, client }: IssuedLogin,
): LoginObject {
  const byCookie = client !== null || parts.model.refresh.delivery === 'cookie';
  if (!byCookie || !login.refreshToken) return login;
  const { refreshToken, refreshExp = 0, ...rest } = login;
  if (client !== null) {
    sendClientCookie(parts, koa, client, { refreshToken, refreshExp });
    shareWithPages(parts, koa, login);
    return rest;
  }
  const { config, kernel } = parts;
  const maxAge = refreshExp - Math.floor(kernel.now() / 1000);
  koa.append('Set-Cookie', cookie(config, refreshToken, maxAge));
  return rest;
}

/** The refresh token from the cookie; null if this server uses no cookie. */
function refreshFromCookie({ model, config }: AuthParts, koa: KoaContext): string | null {
  return model.refresh.delivery === 'cookie' ? (koa.cookies.get(cookieName(config)) ?? null) : null;
}

/**
 * The refresh token of a request: from its body, the cookie of its application, or the cookie of
 * this server. @throws AppError 403 when a page of another origin sent a cookie
 */
export function presentedRefresh(
  parts: AuthParts,
  koa: KoaContext,
  given: string | undefined,
  client: string | null,
): string | null {
  if (client !== null) return readClientCookie(parts, koa, client);
  if (given) return given;
  const cookie = refreshFromCookie(parts, koa);
  if (cookie) assertSameSite(parts, koa);
  return cookie;
}

export function clearRefreshCookie({ model, config }: AuthParts, koa: KoaContext): void {
  if (model.refresh.delivery === 'cookie') koa.append('Set-Cookie', cookie(config, '', 0));
}

/**
 * Protects a request that a cookie authenticates against CSRF: its origin must be allowed, and it
 * must be a request that an HTML form cannot send.
 *
 * @throws AppError 403
 */
function assertSameSite({ kernel, config }: AuthParts, koa: KoaContext): void {
  const allowed = [
    ...kernel.project.server.cors.filter((origin) => origin !== '*'),
    new URL(config.appUrl).origin,
  ];
  const scripted =
    /^application\/json\b/i.test(koa.get('Content-Type')) || koa.get('X-Requested-With') !== '';
  if (!allowed.includes(koa.get('Origin')) || !scripted) throw failure.forbidden();
}

const cookieName = ({ secureCookies }: AuthConfig) =>
  secureCookies ? SECURE_COOKIE_NAME : COOKIE_NAME;

function cookie(config: AuthConfig, value: string, maxAge: number): string {
  const secure = config.secureCookies ? '; Secure' : '';
  return `${cookieName(config)}=${value}; Max-Age=${maxAge}; Path=/api/auth; HttpOnly; SameSite=Strict${secure}`;
}
