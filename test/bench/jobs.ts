import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { JobOf } from '../../runtime/core/jobs/types.ts';
import { type JobServer, startJobs } from '../jobs/server.ts';
import { createDatabase, postgresUrl } from '../engines/available.ts';
import { requirePeers } from './peers.ts';

/**
 * The queue of jobs, on PostgreSQL beside graphile-worker and pg-boss. All take turns in one run, so
 * that a busy machine slows each of them.
 *
 * node test/bench/jobs.ts [--jobs 10000] [--rounds 3]
 */
const option = (name: string, otherwise: number) => {
  const at = process.argv.indexOf(`--${name}`);
  return at < 0 ? otherwise : Number(process.argv[at + 1]);
};
const JOBS = option('jobs', 10_000);
const ROUNDS = option('rounds', 3);
const PICKUPS = 100;
const CONCURRENCY = 100;
const BATCH = 1_000;

/** A queue that runs an empty job. */
interface Queue {
  readonly name: string;
  send(numbers: readonly number[]): Promise<unknown>;
  close(): Promise<void>;
}

type Open = (url: string, ran: (n: number) => void) => Promise<Queue>;

const ours =
  (concurrency = CONCURRENCY): Open =>
  async (url, ran) => {
    const jobs: Record<string, JobOf<number>> = { empty: { run: ({ data }) => ran(data) } };
    const manifest = `name: bench\njobs: { concurrency: ${concurrency} }\n`;
    const runner = await startJobs({ jobs, url, manifest });
    // On PostgreSQL another server sends, so that it has to tell the one that runs.
    const sender: JobServer = url.startsWith('file:')
      ? runner
      : await startJobs({ jobs, url, env: { JOBS: 'off' } });
    return {
      name: `twofold, ${concurrency} at a time`,
      send: (numbers) => sender.ctx.jobs.sendMany('empty', numbers),
      close: async () => {
        await runner.close();
        if (sender !== runner) await sender.close();
      },
    };
  };

const graphile: Open = async (connectionString, ran) => {
  const { run, makeWorkerUtils, Logger } = await import('graphile-worker');
  const logger = new Logger(() => () => {});
  const taskList = { empty: async (payload: any) => ran(payload.n) };
  const runner = await run({ connectionString, concurrency: CONCURRENCY, taskList, logger });
  const sender = await makeWorkerUtils({ connectionString, logger });
  return {
    name: 'graphile-worker',
    send: (numbers) =>
      sender.addJobs(numbers.map((n) => ({ identifier: 'empty', payload: { n } }))),
    close: async () => {
      await runner.stop();
      await sender.release();
    },
  };
};

const boss: Open = async (connectionString, ran) => {
  const { PgBoss } = await import('pg-boss');
  const made = new PgBoss({ connectionString, useListenNotify: true });
  made.on('error', () => {});
  await made.start();
  await made.createQueue('empty', { notify: true } as object);
  const work = {
    batchSize: CONCURRENCY,
    burstWhenBatchFull: true,
    pollingIntervalSeconds: 0.5,
    notifyPollingIntervalSeconds: 0.5,
  };
  await made.work('empty', work, async (list) => {
    for (const { data } of list) ran((data as { n: number }).n);
  });
  return {
    name: 'pg-boss',
    send: (numbers) => made.insert('empty', numbers.map((n) => ({ data: { n } })) as any),
    close: () => made.stop({ graceful: false }),
  };
};

interface Seen {
  /** Jobs a second, sent, run and done. */
  readonly rates: number[];
  /** Milliseconds from the commit of a job to its run. */
  readonly pickups: number[];
}

let made = 0;

async function throughput(queue: Queue, ran: Map<number, () => void>): Promise<number> {
  const since = performance.now();
  const all: Promise<void>[] = [];
  for (let left = JOBS; left > 0; left -= BATCH) {
    const numbers = Array.from({ length: Math.min(left, BATCH) }, () => (made += 1));
    for (const n of numbers) all.push(new Promise((resolve) => ran.set(n, resolve)));
    await queue.send(numbers);
  }
  await Promise.all(all);
  return JOBS / ((performance.now() - since) / 1000);
}

async function pickups(queue: Queue, ran: Map<number, () => void>): Promise<number[]> {
  const seen: number[] = [];
  for (let n = 0; n < PICKUPS; n += 1) {
    const number = (made += 1);
    let at = 0;
    const done = new Promise<void>((resolve) =>
      ran.set(number, () => {
        at = performance.now();
        resolve();
      }),
    );
    await queue.send([number]);
    const sent = performance.now();
    await done;
    seen.push(Math.max(0, at - sent));
    await sleep(5);
  }
  return seen;
}

async function measure(open: Open, url: string, seen: Map<string, Seen>): Promise<void> {
  const ran = new Map<number, () => void>();
  const queue = await open(url, (n) => {
    ran.get(n)?.();
    ran.delete(n);
  });
  const all = seen.get(queue.name) ?? { rates: [], pickups: [] };
  seen.set(queue.name, all);
  await throughput(queue, ran);
  all.rates.push(await throughput(queue, ran));
  await sleep(300);
  all.pickups.push(...(await pickups(queue, ran)));
  await queue.close();
}

const median = (numbers: readonly number[]) =>
  [...numbers].sort((a, b) => a - b)[Math.floor(numbers.length / 2)]!;

function print(database: string, seen: ReadonlyMap<string, Seen>): void {
  for (const [name, { rates, pickups: waits }] of seen) {
    const most = Math.max(...rates);
    console.log(
      `${database}  ${name}: ${Math.round(median(rates))} jobs/s (best of ${rates.length}: ${Math.round(most)}), pick-up p50 ${median(waits).toFixed(1)} ms`,
    );
  }
}

async function onSqlite(): Promise<void> {
  const seen = new Map<string, Seen>();
  for (let round = 0; round < ROUNDS; round += 1)
    for (const open of [ours(10), ours()]) {
      const folder = mkdtempSync(join(tmpdir(), 'twofold-bench-jobs-'));
      await measure(open, `file:${join(folder, 'app.db')}`, seen);
      rmSync(folder, { recursive: true, force: true });
    }
  print('SQLite (goal: 10,000 jobs/s, batched)', seen);
}

async function onPostgres(): Promise<void> {
  const seen = new Map<string, Seen>();
  for (let round = 0; round < ROUNDS; round += 1)
    for (const open of [ours(), graphile, boss]) {
      const { url, drop } = await createDatabase();
      await measure(open, url, seen);
      await drop();
    }
  print('PostgreSQL (goal: pick-up p50 5 ms)', seen);
}

requirePeers();
await onSqlite();
if (postgresUrl) await onPostgres();
else console.log('PostgreSQL is not there: eval "$(npx node test/engines/start.ts)"');
process.exit(0);
