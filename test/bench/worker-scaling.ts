import { spawn } from 'node:child_process';
import { availableParallelism } from 'node:os';
import { fileURLToPath } from 'node:url';
import { sqliteDatabase } from './rows.ts';
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
const CONNECTIONS = 64;
/** Milliseconds between two looks. */
const BURST = 5;

interface Seen {
  /** Requests in a second. */
  readonly rate: number;
  /** Milliseconds of CPU for a request, of the server's processes and of the client. */
  readonly server: number;
  readonly client: number;
}

/** How many servers there are, each over a file of its own, and how many workers each has. */
interface Setting {
  readonly servers: number;
  readonly workers: string;
}

/**
 * Requests in a second with one worker and with one for each core, in turns, beside as many servers as there are cores, that
 * share nothing: more than those get is not to be had. Cores that are halves of one, or share a cache, give them less than
 * their number.
 */
export async function workerScaling(): Promise<Aside[]> {
  const cores = availableParallelism();
  const settings: Readonly<Record<'one' | 'auto' | 'apart', Setting>> = {
    one: { servers: 1, workers: '1' },
    auto: { servers: 1, workers: 'auto' },
    apart: { servers: cores, workers: '1' },
  };
  const seen = { one: [] as Seen[], auto: [] as Seen[], apart: [] as Seen[] };
  for (let round = 0; round < ROUNDS; round += 1)
    for (const name of ['one', 'auto', 'apart'] as const)
      seen[name].push(await runWith(settings[name]));
  const of = (name: keyof typeof seen, figure: keyof Seen) =>
    median(seen[name].map((each) => each[figure]));
  const times = of('auto', 'rate') / of('one', 'rate');
  const bound = of('apart', 'rate') / of('one', 'rate');
  const costs = `${of('one', 'server').toFixed(2)} and ${of('auto', 'server').toFixed(2)} ms of server CPU a request, ${of('auto', 'client').toFixed(2)} of the client's on the same cores`;
  return [
    {
      what: `\`WORKERS=auto\` on ${cores} cores, one SQLite file`,
      seen: `${of('one', 'rate').toFixed(0)} and ${of('auto', 'rate').toFixed(0)} requests a second, ${times.toFixed(2)} × (${costs}; ${cores} servers that share nothing ${bound.toFixed(2)} ×, ${of('apart', 'server').toFixed(2)} ms)`,
      goal: `${GOAL} × on two free cores`,
      // Where servers that share nothing stay below the goal, other work holds the cores, or they are not whole ones.
      met: times >= GOAL ? true : bound < GOAL ? undefined : false,
    },
  ];
}

async function runWith({ servers, workers }: Setting): Promise<Seen> {
  const running: Searched[] = [];
  try {
    for (let count = 0; count < servers; count += 1) running.push(await startSearched(workers));
    const ask = (requests: number) =>
      Promise.all(
        running.map(({ port }) =>
          drive(
            port,
            [requestBytes({ query: QUERY })],
            requests / servers,
            CONNECTIONS / servers,
            BURST,
          ),
        ),
      );
    await ask(REQUESTS / 2);
    const pids = (await Promise.all(running.map(({ pid }) => familyOf(pid)))).flat();
    const before = await usage(pids);
    const began = performance.now();
    await ask(REQUESTS);
    const rate = (REQUESTS * 1000) / (performance.now() - began);
    const after = await usage(pids);
    return {
      rate,
      server: (after.server - before.server) / REQUESTS,
      client: (after.client - before.client) / REQUESTS,
    };
  } finally {
    for (const { close } of running) await close();
  }
}

interface Searched {
  readonly port: number;
  readonly pid: number;
  close(): Promise<void>;
}

async function startSearched(workers: string): Promise<Searched> {
  const database = await sqliteDatabase();
  const child = spawn(
    process.execPath,
    [fileURLToPath(new URL('workers.ts', import.meta.url)), database.url],
    { env: { ...process.env, WORKERS: workers } },
  );
  const port = await portOf(child);
  await assertAnswered(port, QUERY);
  return {
    port,
    pid: child.pid as number,
    close: async () => (await ended(child), database.drop()),
  };
}

async function usage(
  pids: readonly number[],
): Promise<{ readonly server: number; readonly client: number }> {
  const { user, system } = process.cpuUsage();
  const costs = await Promise.all(pids.map(cpuOf));
  return { server: costs.reduce((sum, cost) => sum + cost, 0), client: (user + system) / 1000 };
}
