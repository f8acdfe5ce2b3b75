import type { Context as KoaContext } from 'koa';
import type { RouteSpec } from '@twofold/schema';
import type { RequestContext } from '../context/request-context.ts';

/** One call of a route: validated input and the request context. */
export interface Call<Body = any, Query = any, Params = any> {
  readonly route: RouteSpec;
  readonly params: Params;
  readonly query: Query;
  readonly body: Body;
  readonly context: RequestContext;
  /** Koa's own context, for streams and cookies. */
  readonly koa: KoaContext;
}

/** A handler's answer. A `body` object becomes JSON; text, buffers and streams are sent as is. */
export interface Reply {
  readonly status: number;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string | readonly string[]>>;
}

export type Handler = (call: Call) => Promise<Reply> | Reply;

/** Called before a handler; throws an `AppError` to refuse. */
export type Guard = (
  context: RequestContext,
  route: RouteSpec,
  koa: KoaContext,
) => Promise<void> | void;

export interface BoundRoute {
  readonly spec: RouteSpec;
  readonly handle: Handler;
}

/**
 * Joins a table of routes with its handlers. A route without a handler, or a handler without a
 * route, is a compile error when the table is declared `as const satisfies readonly RouteSpec[]`.
 *
 * @example
 * bindRoutes(jobRoutes, { listJobs: async () => reply(200, { jobs: await jobs.list() }) });
 */
export function bindRoutes<Specs extends readonly RouteSpec[]>(
  specs: Specs,
  handlers: { readonly [Id in Specs[number]['id']]: Handler },
): BoundRoute[] {
  return specs.map((spec) => ({ spec, handle: handlers[spec.id as Specs[number]['id']] }));
}

/** An answer. @example reply(201, app, { Location: '/api/apps/shop' }) */
export function reply(status: number, body?: unknown, headers: Reply['headers'] = {}): Reply {
  return { status, body, headers };
}

/** A hit that counts against a rate limit of its own. `window` is in milliseconds. */
interface RatedHit {
  readonly policy: string;
  readonly subject: string;
  readonly count: number;
  readonly window: number;
}

/** Counts a hit. @throws AppError 429 */
export type EnforceRate = (ctx: KoaContext, hit: RatedHit) => unknown;
