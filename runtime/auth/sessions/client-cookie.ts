import { failure } from '@twofold/runtime/errors';
import { addressMatcher, isTrustedConnection } from '@twofold/runtime/http';
import type { Context as KoaContext } from 'koa';
import type { AuthParts } from '../parts.ts';

type CookieParts = Pick<AuthParts, 'config' | 'kernel'>;

/** Whether the request came by https, here or at a trusted proxy. */
export function isHttps({ kernel }: Pick<AuthParts, 'kernel'>, koa: KoaContext): boolean {
  const { socket } = koa.req;
  const proxies = addressMatcher(kernel.project.server.trustedProxies);
  const peer = (socket.remoteAddress ?? '').replace(/^::ffff:/i, '');
  const proto = koa.get('X-Forwarded-Proto').split(',')[0]?.trim();
  return koa.secure || ((isTrustedConnection(socket) || proxies(peer)) && proto === 'https');
}

/**
 * Sends the refresh token in the cookie of an application. `__Host-` keeps sub-domains, where hosted
 * apps are, from setting or reading it.
 */
export function sendClientCookie(
  parts: CookieParts,
  koa: KoaContext,
  client: string,
  { refreshToken, refreshExp }: { readonly refreshToken: string; readonly refreshExp: number },
): void {
  const maxAge = refreshExp - Math.floor(parts.kernel.now() / 1000);
  koa.append('Set-Cookie', cookie(parts, koa, client, refreshToken, maxAge));
}

export function clearClientCookie(parts: CookieParts, koa: KoaContext, client: string): void {
  koa.append('Set-Cookie', cookie(parts, koa, client, '', 0));
}

/**
 * The refresh token of the application's cookie, or null. Pages of sub-domains are of the same site,
 * so `SameSite` does not keep them out: only the server's own origin may use the cookie.
 *
 * @throws AppError 403
 */
export function readClientCookie(
  parts: CookieParts,
  koa: KoaContext,
  client: string,
): string | null {
  const token = koa.cookies.get(cookieName(parts, koa, client)) ?? null;
  if (token !== null) assertOwnOrigin(parts, koa);
  return token;
}

/** @throws AppError 403 when a browser sent the request for a page of another origin. */
function assertOwnOrigin(parts: CookieParts, koa: KoaContext): void {
  const site = koa.get('Sec-Fetch-Site');
  const origin = koa.get('Origin');
  const own =
    origin === new URL(parts.config.appUrl).origin ||
    (isLoopback(koa) && isOfHost(parts, koa, origin));
  if (!own || (site !== '' && site !== 'same-origin')) throw failure.forbidden();
}

/**
 * A page of another origin, also one of `server.cors`, must not sign a browser in to an application
 * as a user of the page's choice. Programs send neither header.
 *
 * @throws AppError 403
 */
export function refuseForeignPage(parts: CookieParts, koa: KoaContext): void {
  const site = koa.get('Sec-Fetch-Site');
  const origin = koa.get('Origin');
  const own =
    origin === '' || origin === new URL(parts.config.appUrl).origin || isOfHost(parts, koa, origin);
  if (!own || (site !== '' && site !== 'same-origin')) throw failure.forbidden();
}

/** Browsers write both headers themselves, so they agree only for a page of the same address. */
const isOfHost = (parts: CookieParts, koa: KoaContext, origin: string): boolean =>
  origin === `http${isHttps(parts, koa) ? 's' : ''}://${koa.host}`;

/** Apps are hosted at `<name>.localhost`, so only these names are the server itself. */
const isLoopback = (koa: KoaContext): boolean =>
  /^(localhost|127(\.\d{1,3}){3}|\[::1\])$/.test(koa.hostname);

/** Safari takes no `Secure` cookie over http, not even on loopback. */
const isPlain = ({ config }: CookieParts, koa: KoaContext): boolean =>
  isLoopback(koa) && !koa.secure && !config.appUrl.startsWith('https:');

const cookieName = (parts: CookieParts, koa: KoaContext, client: string): string =>
  `${isPlain(parts, koa) ? '' : '__Host-'}refresh-${client}`;

function cookie(
  parts: CookieParts,
  koa: KoaContext,
  client: string,
  value: string,
  maxAge: number,
): string {
  const secure = isPlain(parts, koa) ? '' : '; Secure';
  return `${cookieName(parts, koa, client)}=${value}; Max-Age=${maxAge}; Path=/; HttpOnly; SameSite=Strict${secure}`;
}
