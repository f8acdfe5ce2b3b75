import type { Middleware } from 'koa';
import type { OwnTransactionOptions, RequestContext } from './context/request-context.ts';
import type { EntityHooks } from './context/entity-hooks.ts';
import type { Kernel } from './module.ts';
import type { Credential } from './context/credential.ts';
import type { MiddlewareOf, OwnRouter } from './routes/types.ts';

/** A resolver of the user. The emitted types are narrower. */
export type Resolver = (parent: any, args: any, context: any, info: any) => unknown;

/** A function of `Mutation` with the options of its transaction; `false`: it runs without one. */
export interface MutationResolver {
  readonly transaction: false | OwnTransactionOptions;
  readonly resolve: Resolver;
}

/** Functions of `Mutation`, each with or without options of its transaction. */
export type MutationsOf<Functions> = {
  [Name in keyof Functions]:
    | Functions[Name]
    | {
        readonly transaction: false | OwnTransactionOptions;
        readonly resolve: NonNullable<Functions[Name]>;
      };
};

/** A subscription field: its events, and the value of each. */
export interface SubscriptionResolver {
  readonly subscribe: Resolver;
  readonly resolve?: Resolver;
}

/** Resolvers by type and field. */
export type Resolvers = Readonly<
  Record<string, Readonly<Record<string, Resolver | MutationResolver | SubscriptionResolver>>>
>;

/** How a custom scalar is parsed, serialised and stored. */
export interface ScalarMapping<Internal = any, External = any> {
  serialize(value: Internal): External;
  parseValue(value: unknown): Internal;
  parseLiteral?(ast: any, variables?: any): Internal;
  readonly type: 'text' | 'integer' | 'real' | 'json' | 'timestamp';
}

/**
 * Functions that are called at fixed points of the server's life. Each may be async; a throw in
 * `start` stops the start.
 */
export interface Hooks {
  start?(kernel: Kernel): Promise<void> | void;
  stop?(): Promise<void> | void;
  /** After authentication, before routes and GraphQL. */
  request?(context: RequestContext): Promise<void> | void;
}

/**
 * A set of resolvers, scalars, middleware and hooks that is added as a whole.
 *
 * @example
 * export default { name: 'clock', resolvers: { Query: { now: () => new Date() } } } satisfies Plugin;
 */
export interface Plugin {
  readonly name: string;
  /** Middleware before authentication, for GraphQL, REST and routes. */
  readonly before?: MiddlewareOf<RequestContext> | readonly MiddlewareOf<RequestContext>[];
  /** Middleware after authentication. */
  readonly middleware?: Middleware | readonly Middleware[];
  readonly resolvers?: Resolvers;
  /** Adds routes to the router that `src/routes.ts` gets too. */
  routes?(router: OwnRouter<RequestContext, any>): void;
  /** Ways to sign in a request, asked before Bearer and X-API-Key. */
  readonly credentials?: readonly Credential<any>[];
  readonly hooks?: Hooks;
  /** Lifecycle hooks by the name of the entity; those of the project run first. */
  readonly entityHooks?: Readonly<Record<string, EntityHooks>>;
}
