import { spawn } from 'node:child_process';
import { availableParallelism } from 'node:os';
import { fileURLToPath } from 'node:url';
import { parallelism } from './cores.ts';
import { sqliteDatabase } from './database.ts';
import { assertAnswered, drive, requestBytes } from './load.ts';
import { median } from './measure.ts';
import { cpuOf, ended, familyOf, portOf } from './program.ts';
import type { Aside } from './report.ts';

const GOAL = 1.8;
const ROUNDS = 5;
const REQUESTS = 1_000;

/** A search through the texts of all posts, from one file: much to look for and little to send, since the client needs a part of the same cores. */
const QUERY = '{ posts(limit: 3, where: { body: { contains: "post 9999." } }) { id title } }';
/** Many wait at a time, so that the client need not look often: a look costs it as much as an answer. */
const LOAD = [64, 5] as const;

interface Seen {
  /** Requests in a second. */
  readonly rate: number;
  /** Milliseconds of CPU for a request, of the server's processes and of the client. */
  readonly server: number;
  readonly client: number;
}

/** Requests in a second with one worker and with one for each core, in turns, beside what the cores gave to bare arithmetic. */
export async function workerScaling(): Promise<Aside[]> {
  const cores = availableParallelism();
  const seen = new Map<string, Seen[]>([['1', []], ['auto', []]]);
  const given: number[] = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    given.push(await parallelism(cores));
    for (const [count, list] of seen) list.push(await runWith(count));
  }
  const [one = [], all = []] = [...seen.values()];
  const of = (list: readonly Seen[], figure: keyof Seen) => median(list.map((each) => each[figure]));
  const times = of(all, 'rate') / of(one, 'rate');
  const free = median(given);
  const costs = `${of(one, 'server').toFixed(2)} and ${of(all, 'server').toFixed(2)} ms of server CPU a request, ${of(all, 'client').toFixed(2)} of the client's on the same cores; bare arithmetic ${free.toFixed(2)} ×`;
  // Where other work holds the cores, or they are halves of one, there is no more to be had.
  const isFree = cores >= 2 && free > 1.9;
  return [
    {
      what: `\`WORKERS=auto\` on ${cores} cores, one SQLite file`,
      seen: `${of(one, 'rate').toFixed(0)} and ${of(all, 'rate').toFixed(0)} requests a second, ${times.toFixed(2)} × (${costs})`,
      goal: `${GOAL} × on two free cores`,
      met: times >= GOAL ? true : isFree ? false : undefined,
    },
  ];
}

async function runWith(workers: string): Promise<Seen> {
  const database = await sqliteDatabase();
  const child = spawn(process.execPath, [fileURLToPath(new URL('workers.ts', import.meta.url)), database.url], { env: { ...process.env, WORKERS: workers } });
  try {
    const port = await portOf(child);
    const requests = [requestBytes({ query: QUERY })];
    await assertAnswered(port, QUERY);
    await drive(port, requests, REQUESTS / 2, ...LOAD);
    const pids = await familyOf(child.pid as number);
    const before = await usage(pids);
    const began = performance.now();
    await drive(port, requests, REQUESTS, ...LOAD);
    const rate = (REQUESTS * 1000) / (performance.now() - began);
    const after = await usage(pids);
    return { rate, server: (after.server - before.server) / REQUESTS, client: (after.client - before.client) / REQUESTS };
  } finally {
    await ended(child);
    await database.drop();
  }
}

async function usage(pids: readonly number[]): Promise<{ readonly server: number; readonly client: number }> {
  const { user, system } = process.cpuUsage();
  const costs = await Promise.all(pids.map(cpuOf));
  return { server: costs.reduce((sum, cost) => sum + cost, 0), client: (user + system) / 1000 };
}
