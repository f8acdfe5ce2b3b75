import { mkdtempSync, rmSync } from 'node:fs';
import type { Server } from 'node:http';
import { hostname, tmpdir } from 'node:os';
import { join } from 'node:path';
import type { RouteSpec } from '@twofold/schema';
import type { Call, Handler } from '../../http/route.ts';
import type { Kernel } from '../../module.ts';
import type { Handlers } from '../routes/bind.ts';
import { forwarding, serveCalls } from './forward.ts';
import { createLease } from './lease.ts';

/** Joins the processes that share a database: one of them operates, every one can be called. */
export interface Operator {
  start(): Promise<void>;
  stop(): Promise<void>;
  /** Whether this process operates. */
  operates(): boolean;
  /** What operates here, or would. */
  term(): Term;
  /** The handlers for this process: run here, or passed on. */
  readonly handlers: Handlers;
}

/** What operates the apps for as long as this process is the one that does. */
export interface Term {
  readonly handlers: Handlers;
  begin(): Promise<void>;
  /** Leaves everything as it is, for the next. */
  end(): Promise<void>;
  engineState(): Promise<{ readonly podman: string; readonly engine: string | null }>;
}

export interface OperatorOptions {
  readonly kernel: Kernel;
  readonly specs: readonly RouteSpec[];
  /** A fresh one for each time that this process becomes the one that operates. */
  readonly createTerm: () => Term;
}

/** What every process can answer by itself. */
const ANYWHERE = new Set(['listTemplates']);

export function createOperator({ kernel, specs, createTerm }: OperatorOptions): Operator {
  const { store, now, log } = kernel;
  // A folder that only we may enter: whoever can reach the socket is believed to be who it says.
  const folder = mkdtempSync(join(tmpdir(), 'twofold-operator-'));
  const socket = join(folder, 'calls');
  let server: Server | undefined;
  let term = createTerm();
  let operating = false;
  const end = async () => {
    operating = false;
    server?.close();
    server?.closeAllConnections();
    server = undefined;
    await term.end();
  };
  /** What has ended cannot begin again. */
  const renew = async () => {
    await end().catch((error: Error) =>
      log.warn(`the apps' operation did not end well: ${error.message}`),
    );
    term = createTerm();
  };
  const lease = createLease({
    ...{ store, now, log, socket },
    async onTake() {
      try {
        server = serveCalls(term.handlers, specs, log).listen(socket);
        await term.begin();
        operating = true;
      } catch (error) {
        await renew();
        throw error;
      }
    },
    async onLose() {
      log.error('another process operates the apps now');
      await renew();
    },
  });
  const remote = forwarding(async () => {
    const holder = await lease.holder();
    return holder && holder.host === hostname() && holder.socket !== socket ? holder.socket : null;
  });

  return {
    start: () => lease.start(),
    async stop() {
      if (operating) await end();
      await lease.stop();
      rmSync(folder, { recursive: true, force: true });
    },
    operates: () => operating,
    term: () => term,
    handlers: Object.fromEntries(
      specs.map(({ id }) => [
        id,
        (call: Call) =>
          operating || ANYWHERE.has(id) ? (term.handlers[id] as Handler)(call) : remote(call),
      ]),
    ),
  };
}
