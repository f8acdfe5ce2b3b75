import { Stream } from 'node:stream';
import type { Context, Middleware } from 'koa';
import { isInternal } from '../http/request-marks.ts';
import type { OpenSpan, Tracing } from './tracing.ts';

/** Opens a span for each request. It comes before all other middleware. */
export function httpTraces(
  tracing: Tracing,
  routeOf: (ctx: Context) => string | undefined,
): Middleware {
  return async function httpTraces(ctx, next) {
    if (isInternal(ctx.req)) return next();
    const { method = '', headers } = ctx.req;
    // Path and query may contain keys, tokens and values, so only the route is recorded.
    const { span, run } = tracing.request(headers, method, { 'http.request.method': method });
    if (!span.recording) return run(next);
    try {
      await run(next);
    } finally {
      const end = () => endSpan(span, ctx, routeOf(ctx));
      if ((ctx.respond === false || ctx.body instanceof Stream) && !ctx.res.closed)
        ctx.res.once('close', end);
      else end();
    }
  };
}

function endSpan(span: OpenSpan, ctx: Context, route: string | undefined): void {
  const { statusCode } = ctx.res;
  if (route !== undefined) span.rename(`${ctx.method} ${route}`);
  span.set({
    'http.response.status_code': statusCode,
    ...(route !== undefined && { 'http.route': route }),
  });
  const { masked } = ctx.state as { readonly masked?: unknown };
  if (masked !== undefined) span.failMasked(masked);
  else if (statusCode >= 500) span.fail(String(statusCode));
  span.end();
}
