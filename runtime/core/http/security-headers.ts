import type { IncomingMessage, ServerResponse } from 'node:http';
import helmet from 'helmet';
import type { Middleware } from 'koa';

/**
 * Helmet's headers are the same in every response, so they are read from helmet once, at the start.
 */
export function securityHeaders(): Middleware {
  const headers = new Map<string, string>();
  const response = {
    setHeader: (name: string, value: string) => void headers.set(name, value),
    removeHeader: () => {},
  };
  helmet()({} as IncomingMessage, response as unknown as ServerResponse, () => {});
  return function securityHeaders(ctx, next) {
    ctx.res.setHeaders(headers);
    return next();
  };
}
