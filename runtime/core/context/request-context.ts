import type { Kysely } from 'kysely';
import type { IsolationLevel } from './isolation.ts';
import type { Logger } from '../config/log.ts';
import type { Values } from './values.ts';

/** An organization of the caller, and their role in it; a key that is bound to one has no role. */
export interface Membership {
  readonly id: number | string;
  readonly role: string | null;
}

/** The caller. `scopes` are those of an API key; `*` includes every scope. */
export type Principal =
  | { readonly kind: 'anonymous' }
  | {
      readonly kind: 'user';
      readonly id: number | string;
      readonly role: { readonly id: number; readonly name: string } | null;
      readonly permissions: readonly string[];
      readonly sessionId: string;
      /** The object that `extend` returned when the token was issued. */
      readonly extend: Readonly<Record<string, unknown>>;
      /**
       * Their organizations, or the one that the request names. Absent when the project has none.
       */
      readonly organizations?: readonly Membership[];
      /** Whether the request names one organization. */
      readonly narrowed?: boolean;
      /** The application of the server's own that the session was opened for, such as `console`. */
      readonly client?: string;
      /** The administrator who acts as the user. */
      readonly impersonator?: number | string;
    }
  | {
      readonly kind: 'api_key';
      readonly id: string;
      readonly scopes: readonly string[];
      /** The user the key acts for, if any. */
      readonly userId: number | string | null;
      /** The organizations of its user, or the one that the key is bound to. */
      readonly organizations?: readonly Membership[];
      /** Whether the request names one organization, or the key is bound to one. */
      readonly narrowed?: boolean;
    }
  | {
      readonly kind: 'host';
      readonly sessionId: string;
      /**
       * The operator's permissions besides hosting. Absent when no application for the operator is
       * served.
       */
      readonly permissions?: readonly string[];
      /** The application that the session is for, as for a user. */
      readonly client?: string;
    }
  /**
   * The server itself, when it answers no request: in jobs, listeners and seeds. No rules apply.
   */
  | { readonly kind: 'system' };

/** A signed-in user as resolvers see it. */
export interface CurrentUser {
  readonly id: string;
  readonly role: { readonly id: number; readonly name: string } | null;
  readonly extend: Readonly<Record<string, unknown>>;
}

/** The options of `ctx.transaction`. */
export interface OwnTransactionOptions {
  /** `database.isolation` when absent. SQLite is always serializable. */
  readonly isolation?: IsolationLevel;
  /**
   * How often the transaction is run again after a serialization failure or a deadlock; as often
   * as its timeout allows when absent.
   */
  readonly retries?: number;
  /**
   * How long it may stay open: `10s`, or milliseconds. `database.transaction_timeout` when absent.
   */
  readonly timeout?: string | number;
}

/** The payload and the arguments of one field of `Subscription`. */
type PublishedBy<Events, Field extends keyof Events> = Events[Field] extends {
  readonly payload: unknown;
  readonly args: unknown;
}
  ? Events[Field]
  : { readonly payload: any; readonly args: any };

/**
 * The data of one request that resolvers, routes and middleware use. In Koa middleware the same
 * members are on `ctx`.
 *
 * `Db`, `Loaders`, `Data`, `Auth`, `Events` and `Jobs` are the emitted project's own types.
 */
export interface RequestContext<
  Db = any,
  Loaders = any,
  Data = any,
  Auth = any,
  Events = any,
  Jobs = any,
> {
  /** The request id: `X-Request-Id` of the answer, `requestId` in the log. */
  readonly id: string;
  /** The caller's address, through trusted proxies only. */
  readonly ip: string;
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
  readonly values: Values;
  /** How often the running transaction has been begun, this time included: 1, 2 … */
  readonly attempt: number;
  readonly log: Logger;
  /** Aborted when the client disconnects or the time limit is reached. */
  readonly signal: AbortSignal;
  /** Whether `signal` is aborted. */
  readonly cancelled: boolean;
  /** Aborts `signal`, because the result of running work is no longer needed. */
  cancel(reason?: DOMException): void;
  readonly db: Kysely<Db>;
  /** Made on first use, for this request alone. */
  readonly loaders: Loaders;
  /** Reads and writes rows with the checks, rules and events of the API. */
  readonly data: Data;
  /** Registers and signs in users; only with `auth:` in the manifest. */
  readonly auth: Auth;
  /** Sends jobs; only with files in `src/jobs/`. */
  readonly jobs: Jobs;
  /** Runs a GraphQL operation as the caller. @returns its data. @throws its first error */
  graphql<Answer = any>(
    document: string,
    variables?: Readonly<Record<string, unknown>>,
  ): Promise<Answer>;
  /** The same context, without access rules. */
  sudo(): RequestContext<Db, Loaders, Data, Auth, Events, Jobs>;
  /**
   * The same context with that user as the caller. @throws AppError `UNAUTHENTICATED` when they
   * cannot sign in.
   */
  as(userId: number | string): Promise<RequestContext<Db, Loaders, Data, Auth, Events, Jobs>>;
  /**
   * Runs `work` in a transaction. Everything that `work` awaits takes part in it. Inside another
   * transaction it is a savepoint.
   *
   * @throws AppError `TIMEOUT`, `TRANSACTION_CLOSED`, `CONFLICT` after all retries
   */
  transaction<T>(work: () => Promise<T>, options?: OwnTransactionOptions): Promise<T>;
  /**
   * Calls `work` after the outermost commit, never after a rollback. A throw is logged, and changes
   * no answer.
   */
  afterCommit(work: () => unknown): void;
  /** Runs `work` while no other code with `name` runs, in all servers of the database. */
  lock<T>(name: string, work: () => Promise<T>): Promise<T>;
  /**
   * Sends an event to the subscribers of a field of `Subscription` whose arguments are equal; one
   * that is left out matches all. It is sent after the outermost commit, never after a rollback. An
   * entity's field takes a row or `{ id }`, and each subscriber gets what they may read of it.
   *
   * @throws InternalError when the field is fed otherwise, or the payload is over 64 KiB of JSON
   */
  publish<Field extends keyof Events & string>(
    field: Field,
    payload: PublishedBy<Events, Field>['payload'],
    args?: PublishedBy<Events, Field>['args'],
  ): void;
  principal: Principal;
  /** The signed-in user, or null. Derived from `principal`. */
  readonly user: CurrentUser | null;
}
