import type { Cluster } from 'node:cluster';
import { availableParallelism } from 'node:os';
import { readEnvironment } from './config/environment.ts';
import { relayChanges } from './data/changes/worker-announcements.ts';
import { relayReports } from './dev-report.ts';
import { ConfigError } from './errors.ts';
import { handOver } from './hand-over.ts';
import { relayMetrics } from './metrics/worker-metrics.ts';
import { relayRecords } from './recorder/relay.ts';
import type { Running } from './running.ts';
import { whenToldToEnd } from './when-told-to-end.ts';

const GIVE_UP_WITHIN = 5_000;

/**
 * Runs `begin` in as many processes as `WORKERS` says (`auto`: one for each core), or here when it
 * says one or nothing. A worker that dies is started again, unless it died at its start.
 */
export async function runWorkers(begin: () => Promise<Running>): Promise<Running> {
  const count = workerCount(readEnvironment(process.cwd(), process.env)['WORKERS']);
  if (count === 1) return begin();
  // Loaded only here, because it loads `node:child_process` too, which most servers do not need.
  const { default: cluster } = await import('node:cluster');
  return cluster.isWorker ? begin() : supervise(cluster, count);
}

/** @throws ConfigError when it is neither a number from 1 to 256 nor `auto`. */
export function workerCount(text: string | undefined): number {
  if (text === undefined || text === '') return 1;
  if (text === 'auto') return availableParallelism();
  const count = Number(text);
  if (Number.isInteger(count) && count >= 1 && count <= 256) return count;
  throw new ConfigError(['WORKERS must be a number from 1 to 256, or auto']);
}

async function supervise(cluster: Cluster, count: number): Promise<Running> {
  await handOver();
  relayChanges(cluster);
  relayMetrics(cluster);
  relayRecords(cluster);
  relayReports(cluster);
  let stopping = false;
  const fork = () => {
    const born = Date.now();
    cluster.fork().once('exit', (code) => {
      if (stopping) return;
      if (Date.now() - born < GIVE_UP_WITHIN) process.exit(code || 1);
      fork();
    });
  };
  const close = async () => {
    stopping = true;
    const workers = Object.values(cluster.workers ?? {}).filter((worker) => worker !== undefined);
    await Promise.all(
      workers.map(
        (worker) =>
          new Promise((resolve) => (worker.once('exit', resolve), worker.process.kill('SIGTERM'))),
      ),
    );
  };
  whenToldToEnd(() => void (stopping || close().finally(() => process.exit(0))));
  const first = new Promise<string>((resolve) =>
    cluster.once('listening', (_worker, { port }) => resolve(`http://127.0.0.1:${port}`)),
  );
  for (let started = 0; started < count; started += 1) fork();
  return { url: await first, close };
}
