import Router from '@koa/router';
import type { Context as KoaContext, Middleware, Next } from 'koa';
import type { InputTypes } from '../http/input-types.ts';
import { securityHeaders } from '../http/security-headers.ts';
import { createBodyReader } from './body.ts';
import { createCheck } from './check.ts';
import type { RouteParts } from './parts.ts';
import type { RouteHandler, RouteOptions, RouteAccess } from './types.ts';
import { filesOf } from './upload.ts';
import type { RequestContext } from '../context/request-context.ts';
import { hasScope } from '../context/scopes.ts';
import { failure, ConfigError } from '../errors.ts';
import type { EnforceRate } from '../http/route.ts';
import { createBoundedCache } from '../store/bounded-cache.ts';
import { parseRate } from './quantities.ts';

/** A function that adds routes: `routes` of `src/routes.ts`, and of each plugin. */
export type DeclareRoutes = (router: any) => void;

/** A route as it was declared, for conflicts and for OpenAPI. */
export interface DeclaredRoute {
  /** In upper case; several for `all`. */
  readonly methods: readonly string[];
  readonly path: string | RegExp;
  readonly options: RouteOptions;
}

export interface OwnRoutes {
  readonly router: Router;
  readonly declared: readonly DeclaredRoute[];
  /** The schema's input types, for OpenAPI; null for a server without own routes. */
  readonly inputs: InputTypes | null;
}

const VERBS = ['get', 'post', 'put', 'patch', 'delete', 'del', 'head', 'options', 'all'] as const;

/**
 * Collects the routes of the user and of plugins on one router of the package `@koa/router`, whose
 * verbs also take options.
 *
 * @throws ConfigError for options that no request could meet.
 */
export function collectRoutes(parts: RouteParts, declare: readonly DeclareRoutes[]): OwnRoutes {
  const router = new Router();
  const options = new Map<string | RegExp, RouteOptions>();
  for (const verb of VERBS) withOptions(parts, router, verb, options);
  router.use(securityHeaders() as never, answering as never);
  for (const each of declare) each(router);
  const declared = router.stack.flatMap(({ methods, path }) =>
    methods.length === 0
      ? []
      : [{ methods, path, options: options.get(keyOf(methods, path)) ?? {} }],
  );
  return { router, declared, inputs: parts.inputs };
}

const keyOf = (methods: readonly string[], path: string | RegExp) =>
  `${methods.toSorted().join(' ')} ${String(path)}`;

/** Replaces a verb of the router by one that takes options after the path. */
function withOptions(
  parts: RouteParts,
  router: Router,
  verb: (typeof VERBS)[number],
  known: Map<string | RegExp, RouteOptions>,
): void {
  const register = (router[verb] as (...args: unknown[]) => Router).bind(router);
  const replaced = (...args: unknown[]): Router => {
    const at = args.findIndex((each) => isOptions(each));
    const options = at < 0 ? {} : (args[at] as RouteOptions);
    const first = args.findIndex((each) => typeof each === 'function');
    const before = args.slice(0, at < 0 ? first : at);
    const handlers = args.slice(first).flat() as RouteHandler<any>[];
    const route = `${verb.toUpperCase()} ${String(before.at(-1))}`;
    const steps = stepsOf(parts, route, options);
    const functions = handlers.map((handler) => answeringWith(traced(parts, route, handler)));
    const length = router.stack.length;
    register(...before, ...steps, ...functions);
    for (const layer of router.stack.slice(length))
      known.set(keyOf(layer.methods, layer.path), options);
    return router;
  };
  Object.defineProperty(router, verb, { value: replaced });
}

const isOptions = (value: unknown): value is RouteOptions =>
  typeof value === 'object' &&
  value !== null &&
  !Array.isArray(value) &&
  !(value instanceof RegExp);

/** The steps before a route's handlers: access, limit, query, body. */
function stepsOf(parts: RouteParts, route: string, options: RouteOptions): Middleware[] {
  const limit = options.limit === undefined ? undefined : createLimit(parts, route, options.limit);
  const query = options.query === undefined ? undefined : createCheck(parts, route, options.query);
  const body = createBodyReader(parts, route, options);
  return [
    async (ctx, next) => {
      if (options.auth) assertAccess(ctx.state['context'], options.auth);
      if (limit) await limit(ctx);
      if (query) setQuery(ctx, await query({ ...ctx.query }, 'text'));
      (ctx.request as { body?: unknown }).body = await body(ctx);
      if (options.upload) Object.assign(ctx, { files: filesOf(ctx, options.upload) });
      await next();
    },
  ];
}

/** Koa's own `query` is a getter that parses the query string. */
function setQuery(ctx: KoaContext, value: unknown): void {
  for (const object of [ctx, ctx.request])
    Object.defineProperty(object, 'query', { value, configurable: true });
}

/** The function in a span with its route. */
function traced({ tracing }: RouteParts, name: string, handler: RouteHandler<any>) {
  if (!tracing) return handler;
  const options = { kind: 'internal', attributes: { 'code.function.name': name } } as const;
  return (ctx: any, next: Next) => tracing.span(name, options, () => handler(ctx, next));
}

/** Sends the value that a handler returns, unless the handler has set an answer itself. */
function answeringWith(handler: RouteHandler<any>): Middleware {
  return async (ctx, next) => {
    const value = await handler(ctx, next);
    if (value !== undefined && value !== null && ctx.body === undefined && ctx.respond !== false)
      ctx.body = value;
  };
}

const PASSED = Symbol('no own route answered, and the rest of the server is asked');

/** Answers 204 when the route's functions end without an answer. */
async function answering(ctx: KoaContext, next: Next): Promise<void> {
  await next();
  const { response } = ctx as { response: { readonly _explicitStatus?: boolean } };
  if (ctx.state[PASSED as never] || ctx.respond === false || ctx.res.headersSent) return;
  if (ctx.body === undefined && !response._explicitStatus) ctx.status = 204;
}

/** The last middleware of the project's routes. If a route called `next`, the server answers. */
export const passing: Middleware = (ctx, next) => {
  ctx.state[PASSED as never] = true;
  return next();
};

/**
 * @throws AppError 401 for a caller who is not signed in, 403 for one who may not call the route.
 */
function assertAccess({ principal, user }: RequestContext, access: RouteAccess): void {
  if (principal.kind === 'anonymous') throw failure.unauthenticated();
  if (access === 'user') {
    if (!user) throw failure.forbidden();
  } else if ('roles' in access) {
    if (!user?.role || !access.roles.includes(user.role.name)) throw failure.forbidden();
  } else if (!hasScope(heldBy(principal), access.scope)) throw failure.forbidden();
}

function heldBy(principal: RequestContext['principal']): readonly string[] {
  if (principal.kind === 'user') return principal.permissions;
  if (principal.kind === 'host') return principal.permissions ?? [];
  return principal.kind === 'api_key' ? principal.scopes : [];
}

/**
 * Makes the rate limit of one route. The module that has rate limits counts it, for all processes;
 * without one it is counted in the memory of this process.
 *
 * @throws ConfigError for a text that is no rate.
 */
function createLimit(
  { enforceRate, now }: RouteParts,
  route: string,
  text: string,
): (ctx: KoaContext) => unknown {
  const rate = parseRate(text);
  if (!rate)
    throw new ConfigError([`${route}: limit must be of the form 20/1m or 20/1m/user, not ${text}`]);
  const policy = route
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '-')
    .replace(/-$/, '');
  const enforce = enforceRate ?? inMemory(now);
  return (ctx) => {
    const { user, ip } = ctx.state['context'] as RequestContext;
    const subject = rate.by === 'user' && user ? `user:${user.id}` : `ip:${ip}`;
    return enforce(ctx, { policy, subject, count: rate.count, window: rate.window });
  };
}

/** The hits of one subject in the current window and in the one before. */
interface Hits {
  readonly window: number;
  current: number;
  previous: number;
}

/**
 * A sliding window. Hits of the previous window count by the share of that window that is still
 * covered.
 */
function inMemory(now: () => number): EnforceRate {
  const kept = createBoundedCache<Hits>({ entries: 100_000, bytes: Infinity });
  return (_ctx, { subject, count, window }) => {
    const at = now();
    const number = Math.floor(at / window);
    const last = kept.get(subject);
    const hits: Hits =
      last?.window === number
        ? last
        : {
            window: number,
            current: 0,
            previous: last?.window === number - 1 ? last.current : 0,
          };
    const passed = (at % window) / window;
    if (hits.current + hits.previous * (1 - passed) >= count)
      throw failure.tooMany(undefined, {
        headers: { 'Retry-After': String(Math.ceil((window * (1 - passed)) / 1000)) },
      });
    hits.current += 1;
    kept.set(subject, hits, 0);
  };
}
