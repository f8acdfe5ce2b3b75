import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import type { Project } from '@twofold/schema';
import type { Middleware } from 'koa';
import type { Logger } from './config/log.ts';
import type { Settings } from './config/settings.ts';
import type { Principal, RequestContext } from './context/request-context.ts';
import type { ErrorForm } from './http/error-boundary.ts';
import type { BoundRoute, Guard } from './http/route.ts';
import type { LoadValidator } from './http/validate.ts';
import type { Migration } from './store/migration.ts';
import type { Store } from './store/store.ts';

/** What every module is given. The outer world comes in here, so that a test can pass its own clock or store. */
export interface Kernel {
  readonly project: Project;
  readonly settings: Settings;
  readonly store: Store;
  readonly log: Logger;
  /** Milliseconds since 1970. */
  readonly now: () => number;
  /** The emitted project's folder: where `.env`, `data/` and `templates/` are. */
  readonly root: string;
}

/**
 * Says for whom the credentials of an earlier request stand now. Null when they are no longer valid, or when the caller was
 * not set by this module.
 */
export type RevalidateCaller = (context: RequestContext) => Promise<Principal | null>;

/**
 * One of the siblings graphql, auth and hosting, or REST: what it adds to the server. They never import each other;
 * `server.ts` joins them.
 */
export interface ServerModule {
  readonly name: string;
  /** Whether `start` listens on ports of its own, besides that of the server. */
  readonly listens?: boolean;
  /** Tables of its own, applied before `start`. */
  readonly migrations?: readonly Migration[];
  readonly routes?: readonly BoundRoute[];
  /** What checks the bodies and queries of routes; one of those that modules bring is used for all. */
  readonly validator?: LoadValidator;
  /** Guards by the name that a route's `access` uses. */
  readonly guards?: Readonly<Record<string, Guard>>;
  /** Runs for every request, after the request context is made and before routes: sets `principal`. */
  readonly middleware?: readonly Middleware[];
  /** Asked before each event of a subscription. */
  readonly revalidate?: RevalidateCaller;
  /** Runs before the router and may answer by itself. */
  readonly endpoint?: Middleware;
  /** The value of `context.loaders`, made on first use in a request. */
  loaders?(context: RequestContext): unknown;
  /** What it adds to `GET /api/health`. */
  health?(): Promise<Readonly<Record<string, unknown>>>;
  /** Answers errors of requests to its own path, wherever in the server they were thrown. */
  readonly errorForm?: ErrorForm;
  /** A WebSocket or other upgrade; true when it took the socket. */
  upgrade?(request: IncomingMessage, socket: Duplex, head: Buffer): boolean;
  start?(): Promise<void>;
  /** Called when the listener stops accepting: ends connections that would stay open otherwise. */
  leave?(): void;
  /** Called when requests have been answered and connections are closed. */
  stop?(): Promise<void>;
}
