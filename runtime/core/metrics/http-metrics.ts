import { Stream } from 'node:stream';
import type { Context, Middleware } from 'koa';
import { isInternal } from '../http/internal-request.ts';
import type { Metrics, Timings } from './registry.ts';

const METHODS: ReadonlySet<string> = new Set([
  'GET',
  'POST',
  'PUT',
  'PATCH',
  'DELETE',
  'HEAD',
  'OPTIONS',
]);

/** A stream of events lasts as long as its reader wants, which is no latency. */
const EVENTS = 'text/event-stream';

/** The pattern of the route that a request belongs to; undefined when it belongs to none. */
export type RouteOf = (ctx: Context) => string | undefined;

/** Counts each request when its answer is sent. It stands before all other middleware. */
export function httpMetrics(metrics: Metrics, routeOf: RouteOf): Middleware {
  const timings = metrics.timings(
    { name: 'http_requests_total', help: 'Requests' },
    {
      name: 'http_request_duration_seconds',
      help: 'Time from a request to the end of its answer',
      labels: ['route', 'method', 'status'],
    },
  );
  return async function httpMetrics(ctx, next) {
    const began = performance.now();
    try {
      await next();
    } finally {
      const done = () => count(timings, routeOf, ctx, performance.now() - began);
      if (isInternal(ctx.req)) void 0;
      else if (ctx.type === EVENTS) whenClosed(ctx, () => count(timings, routeOf, ctx));
      else if (ctx.respond === false || ctx.body instanceof Stream) whenClosed(ctx, done);
      else done();
    }
  };
}

function whenClosed({ res }: Context, done: () => void): void {
  if (res.closed) done();
  else res.once('close', done);
}

/** @param milliseconds undefined: it has no duration that says anything. */
function count(timings: Timings, routeOf: RouteOf, ctx: Context, milliseconds?: number): void {
  const { method } = ctx.req;
  const known = method !== undefined && METHODS.has(method) ? method : 'other';
  const series = timings.series([routeOf(ctx) ?? 'other', known, String(ctx.res.statusCode)]);
  if (milliseconds === undefined) series.count();
  else series.observe(milliseconds / 1000);
}
