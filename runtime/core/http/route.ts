import type { Context as KoaContext } from 'koa';
import type { RouteSpec } from '@twofold/schema';
import type { RequestContext } from '../context/request-context.ts';

/** One call of a route: validated input and the request context. */
export interface Call<Body = any, Query = any> {
  readonly route: RouteSpec;
  readonly params: Readonly<Record<string, string>>;
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
 * bindRoutes(authRoutes, { me: ({ context }) => reply(200, { id: context.user?.id }) });
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
