import { Stream } from 'node:stream';
import type { Context, Middleware } from 'koa';
import { isInternal } from '../http/request-marks.ts';
import type { Metrics, Series, Timings } from './registry.ts';

const METHODS: ReadonlySet<string> = new Set([
  'GET',
  'POST',
  'PUT',
  'PATCH',
  'DELETE',
  'HEAD',
  'OPTIONS',
]);

/**
 * A stream of events lasts as long as its reader wants. That is not a latency, so it is not
 * counted.
 */
const EVENTS = 'text/event-stream';

/** The pattern of the route that a request belongs to; undefined when it belongs to none. */
export type RouteOf = (ctx: Context) => string | undefined;

/** Counts each request when its response is sent. It comes before all other middleware. */
export function httpMetrics(metrics: Metrics, routeOf: RouteOf): Middleware {
  const timings = requestTimings(metrics);
  return counting((ctx) => {
    const { method } = ctx.req;
    const known = method !== undefined && METHODS.has(method) ? method : 'other';
    return timings.series([routeOf(ctx) ?? 'other', known, String(ctx.res.statusCode)]);
  });
}

/** Counts each request by its status alone, which costs less. */
export function statusMetrics(metrics: Metrics): Middleware {
  const timings = requestTimings(metrics);
  const known: Series[] = [];
  return counting(
    ({ res }) =>
      (known[res.statusCode] ??= timings.series(['other', 'other', String(res.statusCode)])),
  );
}

const requestTimings = (metrics: Metrics): Timings =>
  metrics.timings(
    { name: 'http_requests_total', help: 'Requests' },
    {
      name: 'http_request_duration_seconds',
      help: 'Time from a request to the end of its answer',
      labels: ['route', 'method', 'status'],
    },
  );

function counting(seriesOf: (ctx: Context) => Series): Middleware {
  const count = (ctx: Context, began: number) => {
    const done = () => seriesOf(ctx).observe((performance.now() - began) / 1000);
    if (isInternal(ctx.req)) return;
    if (ctx.respond !== false && !(ctx.body instanceof Stream)) done();
    else whenClosed(ctx, ctx.type === EVENTS ? () => seriesOf(ctx).count() : done);
  };
  return function counted(ctx, next) {
    const began = performance.now();
    return next().then(
      () => count(ctx, began),
      (error: unknown) => {
        count(ctx, began);
        throw error;
      },
    );
  };
}

function whenClosed({ res }: Context, done: () => void): void {
  if (res.closed) done();
  else res.once('close', done);
}
