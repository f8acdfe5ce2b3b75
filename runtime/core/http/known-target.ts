import type { Context, Next } from 'koa';

/**
 * Refuses a request whose target is no address, as `http://[`: Koa would throw wherever its path is
 * read, in the middleware that counts and reports errors too. It comes before all other middleware.
 */
export function knownTarget(ctx: Context, next: Next): Promise<void> | undefined {
  if (isAddress(ctx)) return next();
  ctx.status = 400;
  ctx.body = { error: 'Invalid request' };
  return undefined;
}

/** Koa keeps what it has read, so that this costs nothing. */
function isAddress(ctx: Context): boolean {
  try {
    return typeof ctx.path === 'string';
  } catch {
    return false;
  }
}
