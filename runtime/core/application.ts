import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import { promisify } from 'node:util';
import cors from '@koa/cors';
import Router from '@koa/router';
import helmet from 'helmet';
import Koa, { type Middleware } from 'koa';
import type { App } from './app.ts';
import type { Booted } from './boot.ts';
import type { RequestContext } from './context/request-context.ts';
import { errorBoundary } from './http/error-boundary.ts';
import { mountRoutes } from './http/mount.ts';
import { contextFactory, requestContext } from './http/request-context.ts';
import type { BoundRoute } from './http/route.ts';
import { createTurn } from './http/turn.ts';
import { healthRoute } from './http/health.ts';

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
  const own = [...(app.plugins ?? []).flatMap((plugin) => pluginMiddleware(plugin)), ...middleware];
  const loaders = (context: RequestContext) =>
    modules.find((module) => module.loaders)?.loaders?.(context);
  const between = [
    ...crossOrigin(kernel.project.server.cors),
    ...modules.flatMap((module) => module.middleware ?? []),
    ...own,
  ];
  const chain: Middleware[] = [
    errorBoundary(
      kernel.log,
      modules.flatMap((module) => module.errorForm ?? []),
    ),
    requestContext(kernel, loaders, { answersItself: own.length === 0 }),
    ...between,
    ...modules.flatMap((module) => (module.endpoint ? [module.endpoint] : [])),
    securityHeaders(),
    ...routers(app, booted),
  ];
  for (const layer of chain) koa.use(layer);
  if (between.length === 0) koa.direct = directListener(booted, contextFactory(kernel, loaders));
  return koa;
}

/** Answers a request without Koa, or says that it does not. */
type Direct = (request: IncomingMessage, response: ServerResponse) => boolean;

/** Koa, with a way around it for requests that no middleware would see. */
class Application extends Koa {
  readonly #arrived: (() => void) | undefined;
  direct: Direct | undefined;

  /** @param arrived told of every other request, in the turn of the event loop that brought it. */
  constructor(arrived: (() => void) | undefined) {
    super();
    this.#arrived = arrived;
  }

  override callback(): ReturnType<Koa['callback']> {
    const { direct } = this;
    const arrived = this.#arrived;
    const listener = super.callback();
    const around: RequestListener = (request, response) => {
      if (direct?.(request, response)) return;
      arrived?.();
      void listener(request, response);
    };
    return around as ReturnType<Koa['callback']>;
  }
}

function directListener(
  { kernel, modules }: Booted,
  createContext: ReturnType<typeof contextFactory>,
): Direct | undefined {
  // An endpoint that stands before it could want the request.
  const endpoint = modules.find((module) => module.endpoint)?.direct;
  if (!endpoint) return undefined;
  const arrive = createTurn(kernel.store.readTogetherIn);
  return (request, response) => {
    if (!endpoint.takes(request)) return false;
    endpoint.answer({
      request,
      response,
      context: createContext(request, response),
      later: arrive(),
    });
    return true;
  };
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

/**
 * No origin but the server's own unless the manifest lists it. `*` is every origin, without cookies: a browser sends and
 * stores none for it.
 */
function crossOrigin(origins: readonly string[]): Middleware[] {
  if (origins.length === 0) return [];
  if (origins.includes('*')) return [cors({ origin: '*', exposeHeaders: EXPOSED })];
  const origin = (ctx: Koa.Context) =>
    origins.includes(ctx.get('Origin')) ? ctx.get('Origin') : '';
  return [
    cors({
      origin,
      credentials: true,
      exposeHeaders: EXPOSED,
    }),
  ];
}

const EXPOSED = [
  'ETag',
  'Location',
  'X-Device-Token',
  'X-Incomplete',
  'X-Remembered-Device',
  'X-Request-Id',
  'Retry-After',
  'RateLimit',
  'RateLimit-Policy',
];

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
