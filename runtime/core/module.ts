import type { IncomingMessage, RequestListener, Server } from 'node:http';
import type { Duplex, Writable } from 'node:stream';
import type { Project, RouteSpec } from '@twofold/schema';
import type { Middleware } from 'koa';
import type { AuditLog } from './audit/audit-log.ts';
import type { Logger } from './config/log.ts';
import type { Settings } from './config/settings.ts';
import type { Principal, RequestContext } from './context/request-context.ts';
import type { ErrorForm } from './http/error-boundary.ts';
import type { InputTypes } from './http/input-types.ts';
import type { EnforceRate, BoundRoute, Guard } from './http/route.ts';
import type { LoadValidator } from './http/validate.ts';
import type { Migration } from './store/migrations/migration.ts';
import type { Credential } from './context/credential.ts';
import type { Metrics } from './metrics/registry.ts';
import type { Recorder } from './recorder/recorder.ts';
import type { Dialect, Store } from './store/store.ts';
import type { Tracing } from './traces/tracing.ts';

/**
 * The parts that every module gets. Clock and store are passed in, so that a test can replace them.
 */
export interface Kernel {
  readonly project: Project;
  readonly settings: Settings;
  readonly store: Store;
  readonly log: Logger;
  /** Milliseconds since 1970. */
  readonly now: () => number;
  /** The project's own ways to sign in. They are asked before all others. */
  readonly credentials?: readonly Credential<any>[];
  /** The metrics of this process; absent when the manifest does not ask for them. */
  readonly metrics?: Metrics;
  /** The log of changes; absent when no capability manages the server. */
  readonly audit?: AuditLog;
  /** The last log lines and figures; absent when no capability reads them. */
  readonly recorder?: Recorder;
  /** The state of the migrations: which are applied to the database and which are not. */
  readonly migrations?: () => Promise<MigrationReport>;
  /** Whether the project has jobs. */
  readonly jobs?: boolean;
  /** Spans; absent where traces are off, or no provider is registered. */
  readonly tracing?: Tracing;
  /**
   * Writes the rows of all tables of the server, as they were at one moment, in the form that
   * `restore` of `@twofold/database` reads.
   */
  readonly dumpDatabase?: (channel: Writable) => Promise<DumpReport>;
  /** The emitted project's folder: where `.env`, `data/` and `templates/` are. */
  readonly root: string;
}

/** What a server reports about its migrations. It applies and writes nothing. */
export interface MigrationReport {
  /** Names of migrations by their state. */
  status(): Promise<object>;
  /** Where the catalog differs from what the applied migrations make. */
  drift(): Promise<readonly object[]>;
}

/** The content of `backup.json`. */
export interface BackupHead {
  readonly version: 1;
  readonly dialect: Dialect;
  readonly created_at: string;
  /** Names of the applied migrations, those of modules too. */
  readonly migrations: readonly string[];
  readonly tables: readonly BackupTable[];
}

export interface BackupTable {
  readonly name: string;
  readonly rows: number;
  /** The hash of the table's file. */
  readonly sha256: string;
}

/** The tables of a dump, whose hashes are known when it was written. */
export interface DumpReport {
  readonly tables: readonly BackupTable[];
}

/**
 * Returns the current principal for the credentials of an earlier request. Null when they are no
 * longer valid, or when another module set the caller.
 */
export type RevalidateCaller = (
  context: RequestContext,
  options?: RevalidateOptions,
) => Promise<Principal | null>;

export interface RevalidateOptions {
  /** Whether an access token that has expired still names its session, which may go on. */
  readonly session?: boolean;
}

/**
 * A part of the server: graphql, rest, auth, hosting. Modules never import each other; `server.ts`
 * joins them.
 */
export interface ServerModule {
  readonly name: string;
  /** Whether `start` listens on ports besides the server's own. */
  readonly listens?: boolean;
  /** Tables of its own, applied before `start`. */
  readonly migrations?: readonly Migration[];
  /** Tables whose rows only last for minutes. A backup leaves them out. */
  readonly passing?: readonly string[];
  readonly routes?: readonly BoundRoute[];
  /**
   * Loads the validator for bodies and queries. The first one that a module provides is used for
   * all routes.
   */
  readonly validator?: LoadValidator;
  /** Guards by the name that a route's `access` uses. */
  readonly guards?: Readonly<Record<string, Guard>>;
  /**
   * Runs for every request, after the request context is made and before routes: sets `principal`.
   */
  readonly middleware?: readonly Middleware[];
  /** Runs before authentication, and before the middleware of the project. */
  readonly before?: readonly Middleware[];
  /** Whether a process that only runs jobs serves its routes too. */
  readonly always?: boolean;
  /** A port on loopback for this module only. Its routes are not on the server's port. */
  readonly port?: number | null;
  /** Listens on that port, when the server listens. */
  listen?(listener: RequestListener): Promise<void>;
  /** Called when the server listens. The module may pass it further connections. */
  serve?(server: Server): Promise<void>;
  /** Called before the server stops listening, to send new requests elsewhere. */
  retire?(): Promise<void>;
  /** The module's own metrics, in the text format of Prometheus. */
  metrics?(context: RequestContext): Promise<string>;
  /** The input types of the schema, for own routes. */
  readonly inputs?: InputTypes;
  /** Counts a hit against the rate limit of an own route, for all processes. */
  readonly enforceRate?: EnforceRate;
  /** Called before each event of a subscription. */
  readonly revalidate?: RevalidateCaller;
  /**
   * Called when all modules are made, with the `revalidate` function of the module that has one.
   */
  knowCallers?(revalidate: RevalidateCaller): void;
  /** Runs before the router and may answer by itself. */
  readonly endpoint?: Middleware;
  /** The routes that `endpoint` answers, unless an own route has the same path. */
  generated?(): readonly RouteSpec[];
  /** Members that the module adds to `GET /api/health`. */
  health?(): Promise<Readonly<Record<string, unknown>>>;
  /**
   * Formats errors of requests to the module's own path, wherever in the server they were thrown.
   */
  readonly errorForm?: ErrorForm;
  /** Handles a WebSocket or another upgrade. @returns whether it took the socket */
  upgrade?(request: IncomingMessage, socket: Duplex, head: Buffer): boolean;
  start?(): Promise<void>;
  /** Called when the server listens, before the log says so. `port` is the real one. */
  listening?(port: number): Promise<void>;
  /** Called when the server stops listening: ends connections that would otherwise stay open. */
  leave?(): void;
  /** Called after requests have been answered and connections are closed. */
  stop?(): Promise<void>;
}
