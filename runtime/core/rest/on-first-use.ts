import type { Middleware } from 'koa';

/**
 * Middleware whose code is loaded with its first request, so that the server starts sooner. A load
 * that failed is tried again by the next request.
 *
 * @example onFirstUse(async () => (await import('./pages.ts')).pages)
 */
export function onFirstUse(load: () => Promise<Middleware>): Middleware {
  let made: Middleware | undefined;
  let loading: Promise<Middleware> | undefined;
  return function onFirstUse(ctx, next) {
    if (made) return made(ctx, next);
    loading ??= load().finally(() => (loading = undefined));
    return loading.then((ready) => (made = ready)(ctx, next));
  };
}
