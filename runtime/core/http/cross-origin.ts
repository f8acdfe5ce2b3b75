import type { ServerResponse, IncomingHttpHeaders } from 'node:http';
import cors from '@koa/cors';
import type { Context, Middleware } from 'koa';

/** Headers that a page of another origin may read. */
const EXPOSED = [
  'ETag',
  'Location',
  'X-Device-Token',
  'X-Cut-Lists',
  'X-Incomplete',
  'X-Remembered-Device',
  'X-Request-Id',
  'Read-After',
  'Retry-After',
  'RateLimit',
  'RateLimit-Policy',
].join(',');

/**
 * Allows cross-origin requests from the origins that the manifest lists. `*` allows every origin,
 * without cookies: browsers neither send nor store them then. `@koa/cors` answers preflights. The
 * headers of all other answers are set here in 1 µs a request; the package takes 2 µs and makes
 * each request wait for a promise.
 */
export function crossOrigin(origins: readonly string[]): Middleware[] {
  if (origins.length === 0) return [];
  const allow = origins.includes('*') ? () => '*' : listed(origins);
  const preflight = cors({
    origin: ({ req }: Context) => allow(req.headers.origin),
    credentials: !origins.includes('*'),
  });
  return [
    function crossOrigin(ctx, next) {
      if (ctx.req.method === 'OPTIONS') return preflight(ctx, next);
      setHeaders(ctx.res, allow(ctx.req.headers.origin));
      return next();
    },
  ];
}

const listed = (origins: readonly string[]) => (origin: string | undefined) =>
  origin !== undefined && origins.includes(origin) ? origin : '';

function setHeaders(response: ServerResponse, allowed: string): void {
  response.setHeader('Vary', 'Origin');
  if (allowed === '') return;
  response.setHeader('Access-Control-Allow-Origin', allowed);
  if (allowed !== '*') response.setHeader('Access-Control-Allow-Credentials', 'true');
  response.setHeader('Access-Control-Expose-Headers', EXPOSED);
}

/** Apps are hosted at `<name>.localhost`, so only these names are the server itself. */
const LOOPBACK = /^(localhost|127(\.\d{1,3}){3}|\[::1\])$/;

/**
 * Whether a page of the server's own origin sent a request: that of `APP_URL`, or on loopback the
 * one that the request names as its host. A sub-domain, another port and a program are not.
 */
export function isOwnOrigin(
  { origin, host = '', 'sec-fetch-site': site }: IncomingHttpHeaders,
  appUrl: string | undefined,
): boolean {
  if (origin === undefined || !URL.canParse(origin)) return false;
  if (site !== undefined && site !== 'same-origin') return false;
  if (appUrl !== undefined && URL.canParse(appUrl) && origin === new URL(appUrl).origin)
    return true;
  const asked = new URL(origin);
  return asked.host === host && LOOPBACK.test(asked.hostname);
}
