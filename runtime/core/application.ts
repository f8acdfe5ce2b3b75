import type { RequestListener } from 'node:http';
import { promisify } from 'node:util';
import Router from '@koa/router';
import helmet from 'helmet';
import Koa, { type Middleware } from 'koa';
import type { App } from './app.ts';
import type { Booted } from './boot.ts';
import type { RequestContext } from './context/request-context.ts';
import { crossOrigin } from './http/cross-origin.ts';
import { errorBoundary } from './http/error-boundary.ts';
import { healthRoute } from './http/health.ts';
import { mountRoutes } from './http/mount.ts';
import { requestContext } from './http/request-context.ts';
import type { BoundRoute } from './http/route.ts';
import { batchByTick } from './http/tick-batch.ts';

/** Members of the request context that also stand on Koa's `ctx`. */
const MEMBERS = ['values', 'user', 'principal', 'db', 'loaders', 'log', 'signal'] as const;

/** How a stream ends whose reader is gone. */
const LEFT: ReadonlySet<string> = new Set(['ERR_STREAM_PREMATURE_CLOSE', 'ECONNRESET', 'EPIPE']);

/**
 * The whole request path, top to bottom: boundary, request context, headers, authentication, the user's middleware,
 * GraphQL, routes.
 */
export function createApplication(
  app: App,
  booted: Booted,
  middleware: readonly Middleware[],
): Koa {
  const { kernel, modules } = booted;
  const koa = new Application(kernel.store.readTogether);
  koa.silent = true;
  koa.on('error', (error: NodeJS.ErrnoException) => {
    // A client that goes away before a stream has ended is no failure.
    if (!LEFT.has(error.code ?? '')) kernel.log.error({ stack: error.stack }, 'a response failed');
  });
  exposeContext(koa);
  const loaders = (context: RequestContext) =>
    modules.find((module) => module.loaders)?.loaders?.(context);
  const chain: Middleware[] = [
    errorBoundary(
      kernel.log,
      modules.flatMap((module) => module.errorForm ?? []),
    ),
    requestContext(kernel, loaders),
    ...crossOrigin(kernel.project.server.cors),
    ...modules.flatMap((module) => module.middleware ?? []),
    ...(app.plugins ?? []).flatMap((plugin) => pluginMiddleware(plugin)),
    ...middleware,
    ...modules.flatMap((module) => (module.endpoint ? [module.endpoint] : [])),
    securityHeaders(),
    ...routers(app, booted),
  ];
  for (const layer of chain) koa.use(layer);
  return koa;
}

/** Koa, which is given the requests of one tick of the event loop together. */
class Application extends Koa {
  readonly #beginTick: (() => void) | undefined;

  /** @param beginTick called for the first request of a tick. */
  constructor(beginTick: (() => void) | undefined) {
    super();
    this.#beginTick = beginTick;
  }

  override callback(): ReturnType<Koa['callback']> {
    const listener = super.callback() as unknown as RequestListener;
    return batchByTick(listener, this.#beginTick) as unknown as ReturnType<Koa['callback']>;
  }
}

/** Helmet sets its headers at once: its callback is there for its form as a middleware of Express. */
function securityHeaders(): Middleware {
  const setHeaders = promisify(helmet());
  return (ctx, next) => setHeaders(ctx.req, ctx.res).then(next);
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

function routers(app: App, { kernel, modules }: Booted): Middleware[] {
  const router = new Router();
  const routes: BoundRoute[] = [
    healthRoute(kernel, modules),
    ...modules.flatMap((module) => module.routes ?? []),
  ];
  const guards = Object.assign({}, ...modules.map((module) => module.guards ?? {}));
  mountRoutes(router, routes, guards, modules.find(({ validator }) => validator)?.validator);
  const own = new Router();
  for (const plugin of app.plugins ?? []) plugin.routes?.(own);
  app.routes?.(own);
  return [router, own].flatMap((each) => [
    each.routes() as unknown as Middleware,
    each.allowedMethods() as unknown as Middleware,
  ]);
}
