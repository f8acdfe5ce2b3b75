import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import type { Logger, Store } from '@twofold/runtime/kernel';
import { createLoop } from '../host/loop.ts';
import { createSettingsTable, type SettingsTable } from '../records/settings-table.ts';
import { isRunning } from '../running.ts';

/** The leader, as it is stored in the database. */
export interface LeaseHolder {
  readonly id: string;
  readonly host: string;
  readonly pid: number;
  /** When the process began, because process ids are reused, most of all in containers. */
  readonly born: number;
  /** The socket on which it accepts calls from other processes of its machine. */
  readonly socket: string;
  /** Milliseconds since 1970. Afterwards every process may take the lease. */
  readonly until: number;
}

/**
 * Makes one of the processes that share a database the leader, which operates the apps: two would
 * undo each other's work. The others forward their calls to it, and one of them takes the lease
 * when the leader ends.
 */
export interface Lease {
  /** Takes the lease if it is free, and repeats this. Resolves after the first attempt. */
  start(): Promise<void>;
  stop(): Promise<void>;
  holder(): Promise<LeaseHolder | null>;
}

export interface LeaderLeaseOptions {
  readonly store: Store;
  readonly now: () => number;
  readonly log: Logger;
  readonly socket: string;
  readonly onTake: () => Promise<void>;
  /** Called when another process has taken the lease, because this one did not renew it in time. */
  readonly onLose: () => Promise<void>;
}

const KEY = 'operator';
/** Milliseconds for which a lease is valid, and between two renewals. */
const LEASE_TIME = 10_000;
const RENEW_INTERVAL = 2000;
const TRY_INTERVAL = RENEW_INTERVAL / 4;

export function createLease(options: LeaderLeaseOptions): Lease {
  const { store, log, onTake, onLose, now } = options;
  const settings = createSettingsTable(store);
  const write = writer(settings, options);
  /** Our lease in the database, as text. Null while this process is not the leader. */
  let current: string | null = null;

  const release = async () => {
    if (current !== null) await settings.delete(KEY, current);
    current = null;
  };
  const renew = async (before: string) => {
    current = await write(before);
    if (current === null) await onLose();
  };
  const tryToTake = async () => {
    const before = await settings.get(KEY);
    if (before !== undefined && isAlive(JSON.parse(before) as LeaseHolder, now())) return;
    current = await write(before);
    if (current === null) return;
    try {
      await onTake();
    } catch (error) {
      await release();
      throw error;
    }
  };
  const attempt = () => (current === null ? tryToTake() : renew(current));
  const loop = createLoop({
    pause: () => (current === null ? TRY_INTERVAL : RENEW_INTERVAL),
    work: attempt,
    // When the database does not answer, nothing is known about the lease: the next attempt
    // decides.
    onError: (error) => log.warn(`the leader's lease: ${error.message}`),
  });

  return {
    async start() {
      await attempt();
      loop.start();
    },
    async stop() {
      await loop.stop();
      await release();
    },
    async holder() {
      const value = await settings.get(KEY);
      return value === undefined ? null : (JSON.parse(value) as LeaseHolder);
    },
  };
}

/**
 * @returns a function that takes or renews the lease if its text is still `before`. It returns the
 * new text, or null.
 */
function writer(settings: SettingsTable, { socket, now }: LeaderLeaseOptions) {
  const self = {
    id: randomUUID(),
    host: hostname(),
    pid: process.pid,
    born: startOfThisProcess,
    socket,
  };
  return async (before: string | undefined): Promise<string | null> => {
    const value = JSON.stringify({ ...self, until: now() + LEASE_TIME });
    const written =
      before === undefined
        ? await settings.insert(KEY, value)
        : await settings.replace(KEY, before, value);
    return written ? value : null;
  };
}

const startOfThisProcess = Math.round(performance.timeOrigin);

/** Checks processes of this machine directly, so that their lease does not have to expire first. */
function isAlive({ until, host, pid, born }: LeaseHolder, now: number): boolean {
  if (until <= now) return false;
  if (host !== hostname()) return true;
  return pid === process.pid ? born === startOfThisProcess : isRunning(pid);
}
