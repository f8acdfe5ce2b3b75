import type { RequestListener } from 'node:http';
import Router from '@koa/router';
import Koa, { type Middleware, type Context } from 'koa';
import type { App } from './app.ts';
import { auditedRoute } from './audit/audited-route.ts';
import type { Booted } from './boot.ts';
import { httpMetrics, statusMetrics } from './metrics/http-metrics.ts';
import type { Kernel, ServerModule } from './module.ts';
import { logFormat } from './config/logger.ts';
import type { RequestContext } from './context/request-context.ts';
import { crossOrigin } from './http/cross-origin.ts';
import { errorBoundary } from './http/error-boundary.ts';
import { healthRoute } from './http/health.ts';
import { readAfter } from './http/read-after.ts';
import { mountRoutes } from './http/mount.ts';
import { watchedRoute } from './http/watched-route.ts';
import { requestContext } from './http/request-context.ts';
import type { BoundRoute } from './http/route.ts';
import { securityHeaders } from './http/security-headers.ts';
import { httpTraces } from './traces/http-traces.ts';
import { knownTarget } from './http/unreadable.ts';
import { batchByTick } from './http/incoming.ts';
import { guardStreams } from './http/sending.ts';
import { serveOwnRoutes } from './routes/index.ts';

/** Members of the request context that Koa's `ctx` has too. */
const MEMBERS = [
  'id',
  'ip',
  'values',
  'user',
  'principal',
  'db',
  'data',
  'auth',
  'jobs',
  'loaders',
  'log',
  'signal',
] as const;

/** The functions of `ctx`, which are shown there as well. */
const METHODS = ['graphql', 'sudo', 'as', 'transaction', 'afterCommit', 'lock', 'publish'] as const;

/** Error codes of a response stream whose client has disconnected. */
const READER_LEFT: ReadonlySet<string> = new Set([
  'ERR_STREAM_PREMATURE_CLOSE',
  'ECONNRESET',
  'EPIPE',
]);

/**
 * The middleware of every request, in order: error boundary, request context, CORS, the user's own
 * before authentication, authentication, middleware of plugins and of the project, own routes,
 * GraphQL and REST, security headers, routes of the server.
 */
export function createApplication(
  app: App,
  booted: Booted,
  middleware: readonly Middleware[],
): RequestListener {
  const { kernel } = booted;
  const routers: Router[] = [];
  const chain = booted.jobsOnly
    ? jobsChain(booted, routers)
    : fullChain(app, booted, middleware, routers);
  return listenerOf(kernel, [...observing(kernel, routers), ...chain]);
}

/** Serves the page of figures on a port of its own. */
export function createMetricsApplication(booted: Booted): RequestListener {
  return listenerOf(
    booted.kernel,
    keptChain(booted, () => true, []),
  );
}

/** Makes one handler of all middleware. */
function listenerOf(kernel: Kernel, chain: readonly Middleware[]): RequestListener {
  const koa = new Koa();
  koa.silent = true;
  koa.on('error', (error: NodeJS.ErrnoException) => {
    // A client that disconnects before a stream has ended is no error of the server.
    if (!READER_LEFT.has(error.code ?? ''))
      kernel.log.error({ stack: error.stack }, 'a response failed');
  });
  exposeContext(koa);
  guardStreams(koa);
  for (const layer of [knownTarget, ...chain]) koa.use(layer);
  const listener = koa.callback();
  return batchByTick(
    (request, response) => void listener(request, response),
    kernel.store.readTogether,
  );
}

/** Counts and traces requests. It comes before all other middleware. */
function observing(
  { metrics, recorder, tracing, project }: Kernel,
  routers: readonly Router[],
): Middleware[] {
  const counted = !metrics && recorder ? [statusMetrics(recorder.metrics)] : [];
  if (!metrics && !tracing) return counted;
  const routeOf = createRouteOf(project.api.path, routers);
  return [
    ...(metrics ? [httpMetrics(metrics, routeOf)] : counted),
    ...(tracing ? [httpTraces(tracing, routeOf)] : []),
  ];
}

/**
 * The middleware of a server that only runs jobs. A load balancer or an orchestrator still asks
 * whether it is healthy.
 */
function jobsChain(booted: Booted, routers: Router[]): Middleware[] {
  const { kernel, modules } = booted;
  const onMain = ({ port }: ServerModule) => typeof port !== 'number';
  return keptChain(booted, onMain, routers, [healthRoute(kernel, modules)]);
}

/**
 * A few routes, and those of modules that are always served, for callers that those need to know.
 */
function keptChain(
  { kernel, modules }: Booted,
  isServed: (module: ServerModule) => boolean,
  routers: Router[],
  routes: readonly BoundRoute[] = [],
): Middleware[] {
  const kept = modules.filter((module) => module.always && isServed(module));
  const router = new Router();
  routers.push(router);
  mountRoutes(router, [...routes, ...kept.flatMap((module) => module.routes ?? [])], {});
  return [
    errorBoundary(kernel.log, []),
    requestContext(kernel),
    ...kept.flatMap((module) => module.before ?? []),
    ...(kept.length > 0 ? modules.flatMap((module) => module.middleware ?? []) : []),
    securityHeaders(),
    router.routes() as unknown as Middleware,
    router.allowedMethods() as unknown as Middleware,
  ];
}

function fullChain(
  app: App,
  booted: Booted,
  middleware: readonly Middleware[],
  routers: Router[],
): readonly Middleware[] {
  const { kernel } = booted;
  const modules = booted.modules.filter(({ port }) => typeof port !== 'number');
  return [
    errorBoundary(
      kernel.log,
      modules.flatMap((module) => module.errorForm ?? []),
    ),
    requestContext(kernel),
    ...readAfter(kernel),
    ...(logFormat(kernel.settings) === 'pretty' ? [requestLines()] : []),
    ...crossOrigin(kernel.project.server.cors),
    ...modules.flatMap((module) => module.before ?? []),
    ...beforeAuthentication(app),
    ...modules.flatMap((module) => module.middleware ?? []),
    ...(app.plugins ?? []).flatMap((plugin) => pluginMiddleware(plugin)),
    ...middleware,
    ...serveOwnRoutes(kernel, modules, booted.routes),
    ...modules.flatMap((module) => (module.endpoint ? [module.endpoint] : [])),
    securityHeaders(),
    ...routesOf({ ...booted, modules }, routers),
  ];
}

function exposeContext(koa: Koa): void {
  for (const member of MEMBERS) {
    Object.defineProperty(koa.context, member, {
      configurable: true,
      get(this: Koa.Context) {
        return (this.state['context'] as RequestContext)[member];
      },
    });
  }
  for (const method of METHODS) {
    Object.defineProperty(koa.context, method, {
      configurable: true,
      value(this: Koa.Context, ...args: unknown[]) {
        const context = this.state['context'] as any;
        return context[method](...args);
      },
    });
  }
}

function pluginMiddleware({
  middleware = [],
  hooks,
}: NonNullable<App['plugins']>[number]): Middleware[] {
  const onRequest = hooks?.request;
  const hook: Middleware[] = onRequest
    ? [async (ctx, next) => (await onRequest(ctx.state.context), next())]
    : [];
  return [...hook, ...([middleware].flat() as Middleware[])];
}

function beforeAuthentication({ plugins = [], middleware = [] }: App): readonly Middleware[] {
  return [...plugins.flatMap(({ before = [] }) => before), ...middleware] as Middleware[];
}

function routesOf({ kernel, modules }: Booted, routers: Router[]): Middleware[] {
  const router = new Router();
  routers.push(router);
  const routes: BoundRoute[] = [
    healthRoute(kernel, modules),
    ...modules.flatMap((module) => module.routes ?? []),
  ];
  const guards = Object.assign({}, ...modules.map((module) => module.guards ?? {}));
  const revalidate = modules.find((module) => module.revalidate)?.revalidate;
  const served = routes.map((route) => watchedRoute(revalidate, auditedRoute(kernel, route)));
  mountRoutes(router, served, guards, modules.find(({ validator }) => validator)?.validator);
  return [
    router.routes() as unknown as Middleware,
    router.allowedMethods() as unknown as Middleware,
  ];
}

/** The part of a GraphQL operation that a line names. */
interface Operation {
  readonly operation: string;
  readonly name?: { readonly value: string } | undefined;
}

/**
 * Logs one line for each request when its response has been sent or its client has left: method,
 * path with the operation, status, time. Only for logs that people read.
 */
function requestLines(): Middleware {
  return function requestLines(ctx, next) {
    const begun = performance.now();
    ctx.res.once('close', () => {
      const { log } = ctx.state['context'] as RequestContext;
      const time = Math.round((performance.now() - begun) * 10) / 10;
      const status = ctx.res.writableFinished ? ctx.res.statusCode : 'left';
      log.info(`${ctx.method} ${ctx.path}${operationOf(ctx)} ${status} ${time} ms`);
    });
    return next();
  };
}

function operationOf({ state }: Context): string {
  const node = state['operation'] as Operation | undefined;
  return node ? ` ${node.operation}${node.name ? ` ${node.name.value}` : ''}` : '';
}

/**
 * The pattern of the route that a request belongs to, for figures and traces: it has no value of
 * the request in it. Undefined when the request belongs to none.
 *
 * @param graphqlPath where GraphQL answers.
 * @param routers those that are asked for a request which was refused before it reached them.
 */
function createRouteOf(
  graphqlPath: string,
  routers: readonly Router[],
): (ctx: Context) => string | undefined {
  return (ctx) => {
    const { url = '' } = ctx.req;
    if (url === graphqlPath) return url;
    const { route } = ctx.state as { readonly route?: string };
    const { _matchedRoute: matched } = ctx as { readonly _matchedRoute?: unknown };
    if (route !== undefined || typeof matched === 'string') return route ?? (matched as string);
    const { path } = ctx;
    if (path === graphqlPath) return path;
    if (path.startsWith(`${graphqlPath}/`)) return `${graphqlPath}/*`;
    for (const router of routers) {
      const found = router.match(path, ctx.method).pathAndMethod.at(-1)?.path;
      if (typeof found === 'string') return found;
    }
    return undefined;
  };
}
