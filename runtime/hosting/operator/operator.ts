import { rmSync } from 'node:fs';
import type { IncomingMessage, Server } from 'node:http';
import { hostname } from 'node:os';
import { join } from 'node:path';
import type { Duplex } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import type { RouteSpec } from '@twofold/schema';
import { failure } from '@twofold/runtime/errors';
import type { Call, Handler, Reply } from '@twofold/runtime/http';
import type { Logger, Kernel } from '@twofold/runtime/kernel';
import { forwarding, serveCalls, Unreachable } from './forward.ts';
import { createLease, type Lease } from './lease.ts';
import { socketFolder } from '../socket-folder.ts';
import { createPassing } from '../terminals/upgrade.ts';

/**
 * Joins the processes that share a database: one of them, the leader, operates the apps, and all of
 * them accept calls.
 */
export interface Operator {
  start(): Promise<void>;
  stop(): Promise<void>;
  /** Whether this process is the leader. */
  operates(): boolean;
  /** The current session. It has not begun in a process that is not the leader. */
  session(): LeaderSession;
  /** Answers the calls of this process. The leader runs them; other processes forward them. */
  readonly answer: Handler;
  /** Takes over a connection that changes its protocol. The leader answers it. */
  upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): void;
  /** Ends the connections that were taken over, when the server stops listening. */
  leave(): void;
}

/** Everything that operates the apps while this process is the leader. */
export interface LeaderSession {
  /** Runs the flow that a call names. */
  readonly answer: Handler;
  upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): void;
  leave(): void;
  /** Sends the requests for the server's own host to this process. */
  routeApi(): void;
  /** Lets further requests for the server's own host wait for the next server. */
  retire(): Promise<void>;
  begin(): Promise<void>;
  /** Leaves containers and records as they are, for the next leader. */
  end(): Promise<void>;
  /** For `/api/health`. */
  state(): Promise<Readonly<Record<'podman' | 'engine' | 'ingress', string | null>>>;
}

export interface OperatorOptions {
  readonly kernel: Kernel;
  readonly specs: readonly RouteSpec[];
  /** Called at the start, and each time a session has ended. */
  readonly createLeaderSession: () => LeaderSession;
}

/** Routes whose calls every process answers itself. */
const LOCAL_ROUTES = new Set(['listTemplates']);
/**
 * Milliseconds that a call waits for a leader. While a server restarts, the old leader is ending or
 * the new one is reading the state of the engine.
 */
const LEADER_TIMEOUT = 10_000;
const RETRY_PAUSE = 200;
/**
 * Milliseconds that the end of a session may take. Afterwards the next process may become the
 * leader anyway.
 */
const END_TIMEOUT = 9000;

export function createOperator({ kernel, specs, createLeaderSession }: OperatorOptions): Operator {
  const { store, now, log } = kernel;
  // Only this user may enter the folder: the identity in a forwarded call is trusted without a
  // check.
  const folder = socketFolder('operator');
  const socket = join(folder, 'calls');
  let server: Server | undefined;
  let session = createLeaderSession();
  let operating = false;
  let stopping = false;
  const end = async () => {
    operating = false;
    server?.close();
    server?.closeAllConnections();
    server = undefined;
    await session.end();
  };
  /** A session that has ended cannot begin again. */
  const renew = async () => {
    await end().catch((error: Error) =>
      log.warn(`the leader session did not end cleanly: ${error.message}`),
    );
    session = createLeaderSession();
  };
  const lease = createLease({
    store,
    now,
    log,
    socket,
    async onTake() {
      try {
        server = serveCalls(session.answer, specs, log).listen(socket);
        server.on('upgrade', session.upgrade);
        await session.begin();
        operating = true;
      } catch (error) {
        await renew();
        throw error;
      }
    },
    async onLose() {
      log.error(
        'another process is the leader now, because this one did not renew its lease in time',
      );
      await renew();
    },
  });
  const leader = leaderSocket(lease, socket);
  const remote = forwarding(leader);
  const passing = createPassing(leader);
  const answer = (call: Call) =>
    untilReached(call, {
      attempt: () =>
        operating || LOCAL_ROUTES.has(call.route.id) ? session.answer(call) : remote(call),
      isOver: () => stopping,
    });
  const endInTime = () => inTime(log, end());

  return {
    start: () => lease.start(),
    async stop() {
      stopping = true;
      if (operating) await endInTime();
      await lease.stop();
      // The session began while this was waiting.
      if (operating) await endInTime();
      rmSync(folder, { recursive: true, force: true });
    },
    operates: () => operating,
    session: () => session,
    upgrade: (request, client, head) =>
      operating ? session.upgrade(request, client, head) : passing.upgrade(request, client, head),
    leave() {
      if (operating) session.leave();
      passing.leave();
    },
    answer,
  };
}

/** Where the leader accepts calls, unless this process is the leader or there is none. */
const leaderSocket = (lease: Lease, own: string) => async () => {
  const holder = await lease.holder();
  if (holder && holder.host !== hostname())
    throw failure.unavailable(`Another server operates the apps: ${holder.host}`);
  return holder && holder.socket !== own ? holder.socket : null;
};

interface Attempts {
  readonly attempt: () => ReturnType<Handler>;
  readonly isOver: () => boolean;
}

/** Repeats a call until a leader has accepted it or `LEADER_TIMEOUT` is over. */
async function untilReached({ context }: Call, { attempt, isOver }: Attempts): Promise<Reply> {
  for (const until = Date.now() + LEADER_TIMEOUT; ; await sleep(RETRY_PAUSE)) {
    try {
      return await attempt();
    } catch (error) {
      const tooLate = isOver() || context.signal.aborted || Date.now() > until;
      if (!(error instanceof Unreachable) || tooLate) throw error;
    }
  }
}

/** A session that waits forever, for example for its engine, must not block the next leader. */
async function inTime(log: Logger, end: Promise<void>): Promise<void> {
  const late = sleep(END_TIMEOUT, 'late' as const, { ref: false });
  const ended = end.catch((error: Error) =>
    log.warn(`the leader session did not end cleanly: ${error.message}`),
  );
  if ((await Promise.race([ended, late])) === 'late')
    log.warn('the leader session did not end in time: the next server continues without waiting');
}
