import type {
  DocumentNode,
  GraphQLError,
  GraphQLFormattedError,
  OperationTypeNode,
  ValidationRule,
} from 'graphql';
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

type Later<T> = T | Promise<T>;

/** The answer of an operation: plain data, as it is sent. A hook may change or replace it. */
export interface GraphqlResult {
  data?: any;
  errors?: readonly GraphQLFormattedError[];
  extensions?: Record<string, unknown>;
}

/** An operation before it runs. */
export interface ExecuteCall {
  readonly document: DocumentNode;
  /** Null for an operation without a name. */
  readonly operationName: string | null;
  readonly operationType: `${OperationTypeNode}`;
  /** The variables as the caller sent them. */
  readonly variables: Readonly<Record<string, unknown>>;
  readonly ctx: RequestContext;
}

/** Runs after an operation. `result` is computed when it is first read. */
export type AfterExecute = (done: { result: GraphqlResult }) => Later<GraphqlResult | void>;

/** Runs with each event of a subscription, and returns what is sent; null: nothing is sent. */
export type AfterEvent = (done: { event: GraphqlResult }) => Later<GraphqlResult | null>;

/**
 * Functions of a plugin that run with each operation of `/graphql`, whatever the transport. Each
 * may be async, and may return a function that runs afterwards. Plugins run in their order, what
 * they return in reverse. A throw refuses: an `AppError` or a `GraphQLError` with a code reaches the
 * caller, everything else is masked and logged.
 *
 * @example
 * export default {
 *   name: 'audit',
 *   graphql: { onExecute: ({ operationName, ctx }) => ctx.log.info({ operationName }, 'runs') },
 * } satisfies Plugin;
 */
export interface GraphqlHooks {
  /**
   * Validation rules in addition to those of the specification. They run once for each document.
   */
  readonly validationRules?: readonly ValidationRule[];
  /** Once for a document, which is cached then. `document` is undefined after a syntax error. */
  onParse?(call: {
    readonly source: string;
    readonly ctx: RequestContext;
  }): Later<void | ((done: { readonly document: DocumentNode | undefined }) => Later<void>)>;
  /** Called once for each document, because the result is cached. */
  onValidate?(call: {
    readonly document: DocumentNode;
    readonly ctx: RequestContext;
  }): Later<void | ((done: { readonly errors: readonly GraphQLError[] }) => Later<void>)>;
  /** With each query and each mutation. `{ result }` is the answer, and nothing runs. */
  onExecute?(call: ExecuteCall): Later<void | AfterExecute | { readonly result: GraphqlResult }>;
  /** With each subscription. The function that it returns gets each event. */
  onSubscribe?(call: Omit<ExecuteCall, 'operationType'>): Later<void | AfterEvent>;
  /**
   * Every error that leaves `/graphql`, refusals too, already masked. When it throws, that is
   * logged, and the error goes out as it was.
   */
  formatError?(
    formatted: GraphQLFormattedError,
    failed: { readonly error: GraphQLError; readonly ctx: RequestContext },
  ): Later<GraphQLFormattedError>;
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
  /** Hooks for operations of `/graphql`. */
  readonly graphql?: GraphqlHooks;
  /** Lifecycle hooks by the name of the entity; those of the project run first. */
  readonly entityHooks?: Readonly<Record<string, EntityHooks>>;
}
