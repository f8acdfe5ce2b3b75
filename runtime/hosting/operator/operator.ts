import { mkdtempSync, rmSync } from 'node:fs';
import type { Server } from 'node:http';
import { hostname, tmpdir } from 'node:os';
import { join } from 'node:path';
import type { RouteSpec } from '@twofold/schema';
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
  /** The handlers for this process: run here, or passed on. */
  readonly handlers: <T extends Handlers>(handlers: T) => T;
}

export interface OperatorOptions {
  readonly kernel: Kernel;
  readonly specs: readonly RouteSpec[];
  /** Begins to operate. */
  readonly begin: () => Promise<void>;
  /** Leaves everything as it is, for the next. */
  readonly end: () => Promise<void>;
}

/** What every process can answer by itself. */
const ANYWHERE = new Set(['listTemplates']);

export function createOperator({ kernel, specs, begin, end }: OperatorOptions): Operator {
  const { store, now, log } = kernel;
  // A folder that only we may enter: whoever can reach the socket is believed to be who it says.
  const folder = mkdtempSync(join(tmpdir(), 'twofold-operator-'));
  const socket = join(folder, 'calls');
  let server: Server | undefined;
  let local: Handlers = {};
  let operating = false;
  const lease = createLease({
    ...{ store, now, log, socket },
    async onTake() {
      server = serveCalls(local, specs, log).listen(socket);
      await begin();
      operating = true;
    },
    async onLose() {
      log.error('another process operates the apps now');
      operating = false;
      close();
      await end();
    },
  });
  const close = () => {
    server?.close();
    server?.closeAllConnections();
    server = undefined;
  };
  const remote = forwarding(async () => {
    const holder = await lease.holder();
    return holder && holder.host === hostname() && holder.socket !== socket ? holder.socket : null;
  });

  return {
    start: () => lease.start(),
    async stop() {
      if (operating) await end();
      operating = false;
      close();
      await lease.stop();
      rmSync(folder, { recursive: true, force: true });
    },
    operates: () => operating,
    handlers(handlers) {
      local = handlers;
      const entries = Object.entries(handlers).map(([id, handle]) => [id, ANYWHERE.has(id) ? handle : (call: Parameters<typeof handle>[0]) => (operating ? handle(call) : remote(call))] as const);
      return Object.fromEntries(entries) as typeof handlers;
    },
  };
}
