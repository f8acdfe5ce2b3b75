import type { Context as KoaContext } from 'koa';
import type { RequestContext } from '@twofold/runtime/kernel';
import { failure } from '@twofold/runtime/errors';
import { addressMatcher, isTrustedConnection } from '@twofold/runtime/http';
import type { AuthState } from '../state.ts';
import { setCookie } from '../base/cookie.ts';
import { SECOND } from '../base/time.ts';

/** Whether the request came by https, here or at a trusted proxy. */
export function isHttps(auth: AuthState, koa: KoaContext): boolean {
  const { socket } = koa.req;
  const proxies = addressMatcher(auth.project.server.trustedProxies);
  const peer = (socket.remoteAddress ?? '').replace(/^::ffff:/i, '');
  const proto = koa.get('X-Forwarded-Proto').split(',')[0]?.trim();
  return koa.secure || ((isTrustedConnection(socket) || proxies(peer)) && proto === 'https');
}

/**
 * Sends the refresh token in the cookie of an application. `__Host-` keeps sub-domains, where hosted
 * apps are, from setting or reading it.
 */
export function sendClientCookie(
  auth: AuthState,
  koa: KoaContext,
  client: string,
  { refreshToken, refreshExp }: { readonly refreshToken: string; readonly refreshExp: number },
): void {
  const life = (refreshExp - Math.floor(auth.now() / SECOND)) * SECOND;
  setClientCookie(auth, koa, client, { value: refreshToken, life });
}

export function clearClientCookie(auth: AuthState, koa: KoaContext, client: string): void {
  setClientCookie(auth, koa, client, { value: '', life: 0 });
}

/**
 * The refresh token of the application's cookie, or null. Pages of sub-domains are of the same site,
 * so `SameSite` does not keep them out: only the server's own origin may use the cookie.
 *
 * @throws AppError 403
 */
export function readClientCookie(auth: AuthState, koa: KoaContext, client: string): string | null {
  const token = koa.cookies.get(cookieName(auth, koa, client)) ?? null;
  if (token !== null) assertOwnOrigin(auth, koa);
  return token;
}

/** @throws AppError 403 when a browser sent the request for a page of another origin. */
function assertOwnOrigin(auth: AuthState, koa: KoaContext): void {
  const site = koa.get('Sec-Fetch-Site');
  const origin = koa.get('Origin');
  const own =
    origin === new URL(auth.config.appUrl).origin ||
    (isLoopback(koa) && isOfHost(auth, koa, origin));
  if (!own || (site !== '' && site !== 'same-origin')) throw failure.forbidden();
}

/**
 * A page of another origin, also one of `server.cors`, must not sign a browser in to an application
 * as a user of the page's choice. Programs send neither header.
 *
 * @throws AppError 403
 */
export function refuseForeignPage(auth: AuthState, koa: KoaContext): void {
  const site = koa.get('Sec-Fetch-Site');
  const origin = koa.get('Origin');
  const own =
    origin === '' || origin === new URL(auth.config.appUrl).origin || isOfHost(auth, koa, origin);
  if (!own || (site !== '' && site !== 'same-origin')) throw failure.forbidden();
}

/** Browsers write both headers themselves, so they agree only for a page of the same address. */
const isOfHost = (auth: AuthState, koa: KoaContext, origin: string): boolean =>
  origin === `http${isHttps(auth, koa) ? 's' : ''}://${koa.host}`;

/** Apps are hosted at `<name>.localhost`, so only these names are the server itself. */
const isLoopback = (koa: KoaContext): boolean =>
  /^(localhost|127(\.\d{1,3}){3}|\[::1\])$/.test(koa.hostname);

/** Safari takes no `Secure` cookie over http, not even on loopback. */
const isPlain = (auth: AuthState, koa: KoaContext): boolean =>
  isLoopback(koa) && !koa.secure && !auth.config.appUrl.startsWith('https:');

const cookieName = (auth: AuthState, koa: KoaContext, client: string): string =>
  `${isPlain(auth, koa) ? '' : '__Host-'}refresh-${client}`;

function setClientCookie(
  auth: AuthState,
  koa: KoaContext,
  client: string,
  { value, life }: { readonly value: string; readonly life: number },
): void {
  const secure = !isPlain(auth, koa);
  setCookie(koa, cookieName(auth, koa, client), value, { life, secure, sameSite: 'Strict' });
}

const isLoopbackAddress = addressMatcher(['127.0.0.0/8', '::1']);

/**
 * An application of this server is entered from its own origin, and in production by https only: its
 * cookie could be read on the way otherwise.
 *
 * @throws AppError 403 `Forbidden`, `The console needs https`
 */
export function assertSecureEntry(
  auth: AuthState,
  { koa, context }: { readonly koa: KoaContext; readonly context: RequestContext },
  client: string | null,
): void {
  if (client === null) return;
  refuseForeignPage(auth, koa);
  if (!auth.applications.has(client) || !auth.settings.production) return;
  if (!isHttps(auth, koa) && !isLoopbackAddress(context.ip))
    throw failure.forbidden(`The ${client} needs https`);
}

/** The origins whose pages may send a cookie of this server: its own, and those of `server.cors`. */
export const trustedOrigins = ({
  project,
  config,
}: Pick<AuthState, 'project' | 'config'>): readonly string[] => [
  ...project.server.cors.filter((origin) => origin !== '*'),
  new URL(config.appUrl).origin,
];
