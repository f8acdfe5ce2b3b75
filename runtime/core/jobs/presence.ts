import type { Kernel } from '../module.ts';
import type { Definitions } from './definitions.ts';
import { type Ask, askIn, askStore } from './dialect.ts';
import { RELEASE } from './queue.ts';

/** Milliseconds without a sign of life after which a process counts as dead, on PostgreSQL. */
const LEASE = 25_000;
const HEARTBEAT = 8_000;
/** Together with the lease it must stay below 35 s. */
const SWEEP = 5_000;

/**
 * Reports that this process is alive, and gives back the jobs of processes that are not. On
 * PostgreSQL each process reports every few seconds. On SQLite it holds the lock of a file, which
 * the system releases when the process ends in any way: the next process that starts notices at
 * once.
 */
export interface Presence {
  start(): Promise<void>;
  stop(): Promise<void>;
}

export interface PresenceParts {
  readonly kernel: Kernel;
  readonly definitions: Definitions;
  readonly owner: string;
  /** Called when jobs of a dead process were given back. */
  readonly onReturned: () => void;
  /** Called when this process was silent for too long, and its jobs were given to others. */
  readonly onLost: () => void;
}

export function createPresence(parts: PresenceParts): Presence {
  return parts.kernel.store.dialect === 'sqlite' ? byLock(parts) : byLease(parts);
}

function byLock({ kernel, definitions, owner, onReturned }: PresenceParts): Presence {
  const { store } = kernel;
  let release: (() => void) | undefined;
  const remove = () => askStore(store)('delete from twofold_job_workers where id = ?', [owner]);
  return {
    start: async () => {
      const slot = await takeSlot(kernel);
      release = slot.release;
      const returned = await store.transact(async (query) => {
        const ask = askIn(store, query);
        const rows = await ask<{ id: string; slot: number }>(
          'select id, slot from twofold_job_workers',
        );
        const dead = rows.filter((row) => row.slot === slot.number || isFree(kernel, row.slot));
        const count = await giveBackOf(
          ask,
          dead.map(({ id }) => id),
        );
        await register(ask, { owner, slot: slot.number, definitions });
        return count;
      });
      if (returned > 0) onReturned();
    },
    stop: async () => {
      if (!release) return;
      await remove();
      release();
      release = undefined;
    },
  };
}

const lockName = (slot: number) => `jobs-${slot}`;

/** The first slot whose lock is free. A process that has died leaves its own. */
async function takeSlot({ store }: Kernel): Promise<{ number: number; release: () => void }> {
  for (let number = 0; ; number += 1) {
    const release = store.tryLock!(lockName(number));
    if (release) return { number, release };
  }
}

function isFree({ store }: Kernel, slot: number): boolean {
  const release = store.tryLock!(lockName(slot));
  release?.();
  return release !== null;
}

function byLease({ kernel, definitions, owner, onReturned, onLost }: PresenceParts): Presence {
  const { store, log } = kernel;
  const ask = askStore(store);
  const timers: NodeJS.Timeout[] = [];
  const every = (milliseconds: number, work: () => Promise<void>) =>
    timers.push(
      setInterval(
        () =>
          void work().catch((error: unknown) =>
            log.warn({ error: String(error) }, 'a lease of jobs could not be renewed'),
          ),
        milliseconds,
      ),
    );
  const beat = async () => {
    const kept = await ask(
      `update twofold_job_workers set seen_at = $now where id = ? and seen_at > $now - ${LEASE} returning id`,
      [owner],
    );
    if (kept.length > 0) return;
    onLost();
    await register(ask, { owner, slot: null, definitions });
  };
  const sweep = async () => {
    if ((await store.transact((query) => giveBackOfDead(askIn(store, query)))) > 0) onReturned();
  };
  return {
    start: async () => {
      await register(ask, { owner, slot: null, definitions });
      await sweep();
      every(HEARTBEAT, beat);
      every(SWEEP, sweep);
    },
    stop: async () => {
      timers.splice(0).forEach((timer) => clearInterval(timer));
      await ask('delete from twofold_job_workers where id = ?', [owner]);
    },
  };
}

interface Registering {
  readonly owner: string;
  readonly slot: number | null;
  readonly definitions: Definitions;
}

const register = (ask: Ask, { owner, slot, definitions }: Registering) =>
  ask(
    `insert into twofold_job_workers (id, slot, names, seen_at)
     values (?, ?, ?, $now)
     on conflict (id) do update set seen_at = excluded.seen_at`,
    [owner, slot, JSON.stringify([...definitions.keys()])],
  );

async function giveBackOfDead(ask: Ask): Promise<number> {
  const rows = await ask<{ id: string }>(
    `select id from twofold_job_workers where seen_at <= $now - ${LEASE}`,
  );
  return giveBackOf(
    ask,
    rows.map(({ id }) => id),
  );
}

/** Running jobs always belong to a process that has said so. @returns how many wait again. */
async function giveBackOf(ask: Ask, dead: readonly string[]): Promise<number> {
  if (dead.length > 0)
    await ask('delete from twofold_job_workers where id in $texts', [JSON.stringify(dead)]);
  const returned = await ask(
    `update twofold_jobs set ${RELEASE}
     where state = 'running' and owner not in (select id from twofold_job_workers) returning id`,
  );
  return returned.length;
}

/** Whether a process runs that takes jobs of this name. */
export async function isServed({ store }: Pick<Kernel, 'store'>, name: string): Promise<boolean> {
  const alive = store.dialect === 'postgres' ? `where seen_at > $now - ${LEASE}` : '';
  const rows = await askStore(store)<{ slot: number; names: string }>(
    `select slot, names from twofold_job_workers ${alive}`,
  );
  return rows.some(
    ({ slot, names }) =>
      (JSON.parse(names) as string[]).includes(name) &&
      (store.dialect === 'postgres' || !isFree({ store } as Kernel, slot)),
  );
}
