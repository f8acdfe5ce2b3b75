import type { Kysely } from 'kysely';
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
      /** Their organizations, or the one that the request names. Absent when the project has none. */
      readonly organizations?: readonly Membership[];
    }
  | {
      readonly kind: 'api_key';
      readonly id: string;
      readonly scopes: readonly string[];
      /** The user the key acts for, if any. */
      readonly userId: number | string | null;
      /** Of its user, or the one that it is bound to. */
      readonly organizations?: readonly Membership[];
    }
  | { readonly kind: 'host'; readonly sessionId: string };

/** A signed-in user as resolvers see it. */
export interface CurrentUser {
  readonly id: number | string;
  readonly role: { readonly id: number; readonly name: string } | null;
  readonly extend: Readonly<Record<string, unknown>>;
}

/**
 * The data of one request that resolvers, routes and middleware use. In Koa middleware the same
 * members are on `ctx`.
 *
 * `Db` and `Loaders` are the emitted project's own types.
 */
export interface RequestContext<Db = any, Loaders = any> {
  /** The request id: `X-Request-Id` of the answer, `requestId` in the log. */
  readonly id: string;
  /** The caller's address, through trusted proxies only. */
  readonly ip: string;
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
  readonly values: Values;
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
  principal: Principal;
  /** The signed-in user, or null. Derived from `principal`. */
  readonly user: CurrentUser | null;
}
