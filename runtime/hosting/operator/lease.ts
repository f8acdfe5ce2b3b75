import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from '@twofold/runtime/kernel';
import type { Store } from '@twofold/runtime/kernel';
import { isRunning } from '../running.ts';

/** The process that operates the engine, as the database has it. */
export interface LeaseHolder {
  readonly id: string;
  readonly host: string;
  readonly pid: number;
  /** When that process began: ids are used again, in containers always the same one. */
  readonly born: number;
  /** Socket on which it takes calls from processes of the same machine. */
  readonly socket: string;
  /** Milliseconds since 1970; afterwards anybody may take over. */
  readonly until: number;
}

/**
 * One process of all that share the database operates the engine: two would undo each other's work. The others pass
 * calls on to it, and one of them takes over when it ends.
 */
export interface Lease {
  /** Takes the lease if it is free, and goes on trying until `stop`. Resolves when it is known who has it. */
  start(): Promise<void>;
  stop(): Promise<void>;
  held(): boolean;
  holder(): Promise<LeaseHolder | null>;
}

export interface LeaseOptions {
  readonly store: Store;
  readonly now: () => number;
  readonly log: Logger;
  readonly socket: string;
  readonly onTake: () => Promise<void>;
  /** It could not be kept: this process was away for too long. */
  readonly onLose: () => Promise<void>;
}

const KEY = 'operator';
const LASTS = 10_000;
const RENEW = 2000;

export function createLease({
  store: { db },
  now,
  log,
  socket,
  onTake,
  onLose,
}: LeaseOptions): Lease {
  const self = {
    id: randomUUID(),
    host: hostname(),
    pid: process.pid,
    born: Math.round(performance.timeOrigin),
    socket,
  };
  const abort = new AbortController();
  let mine: string | null = null;
  let loop: Promise<void> = Promise.resolve();

  const read = async () =>
    (
      await db
        .selectFrom('hosting_settings')
        .select('value')
        .where('key', '=', KEY)
        .executeTakeFirst()
    )?.['value'] as string | undefined;
  /** Compares and sets, so that of several takers one has it. */
  const write = async (before: string | undefined): Promise<boolean> => {
    const value = JSON.stringify({ ...self, until: now() + LASTS });
    const written =
      before === undefined
        ? await db
            .insertInto('hosting_settings')
            .values({ key: KEY, value })
            .onConflict((conflict) => conflict.doNothing())
            .returning('key')
            .executeTakeFirst()
        : await db
            .updateTable('hosting_settings')
            .set({ value })
            .where('key', '=', KEY)
            .where('value', '=', before)
            .returning('key')
            .executeTakeFirst();
    if (written) mine = value;
    return written !== undefined;
  };
  const release = async () => {
    if (mine !== null)
      await db
        .deleteFrom('hosting_settings')
        .where('key', '=', KEY)
        .where('value', '=', mine)
        .execute();
    mine = null;
  };
  const turn = async () => {
    if (mine !== null) {
      if (await write(mine)) return;
      mine = null;
      return onLose();
    }
    const before = await read();
    if (before !== undefined && isAlive(JSON.parse(before) as LeaseHolder, now())) return;
    if (!(await write(before))) return;
    await onTake().catch(async (error: unknown) => {
      await release();
      throw error;
    });
  };

  return {
    async start() {
      await turn();
      loop = (async () => {
        while (!abort.signal.aborted) {
          await sleep(mine === null ? RENEW / 4 : RENEW, undefined, {
            signal: abort.signal,
            ref: false,
          }).catch(() => {});
          // A database that does not answer for a moment says nothing about who has the lease.
          if (!abort.signal.aborted)
            await turn().catch((error: Error) =>
              log.warn(`the operator's lease: ${error.message}`),
            );
        }
      })();
    },
    async stop() {
      abort.abort();
      await loop;
      await release();
    },
    held: () => mine !== null,
    async holder() {
      const value = await read();
      return value === undefined ? null : (JSON.parse(value) as LeaseHolder);
    },
  };
}

/** A process of this machine that is gone needs not be waited for. */
function isAlive({ until, host, pid, born }: LeaseHolder, now: number): boolean {
  if (until <= now) return false;
  if (host !== hostname()) return true;
  return pid === process.pid ? born === Math.round(performance.timeOrigin) : isRunning(pid);
}
