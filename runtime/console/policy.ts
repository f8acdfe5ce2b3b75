import type { Middleware } from 'koa';

/**
 * No inline code, nothing from other servers, no frames, and no text that becomes markup (Trusted
 * Types).
 */
const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data: blob:",
  "font-src 'self'",
  "connect-src 'self'",
  "worker-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
  "trusted-types 'none'",
].join('; ');

export const HEADERS = {
  'Content-Security-Policy': POLICY,
  'X-Content-Type-Options': 'nosniff',
  'Referrer-Policy': 'no-referrer',
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Cross-Origin-Resource-Policy': 'same-origin',
  'Permissions-Policy': 'camera=(), microphone=(), geolocation=(), usb=()',
} as const;

/**
 * Sets the headers of every answer of the pages, also of those that are refused on the way there.
 */
export function createPolicy(path: string): Middleware {
  return function policy(ctx, next) {
    // Koa parses the address each time `ctx.path` is read.
    if (ctx.req.url?.startsWith(path) && isBelow(path, ctx.path)) ctx.set(HEADERS);
    return next();
  };
}

const isBelow = (path: string, asked: string) => asked === path || asked.startsWith(`${path}/`);

/**
 * The addresses of the pages. Their code and their files are loaded with the first request, which
 * most servers never get.
 */
export function createEntrance(path: string, load: () => Promise<Middleware>): Middleware {
  let pages: Promise<Middleware> | undefined;
  return async function entrance(ctx, next) {
    // Koa parses the address each time `ctx.path` is read.
    if (!ctx.req.url?.includes(path) || !isBelow(path, ctx.path)) return next();
    pages ??= load();
    return (await pages)(ctx, next);
  };
}
