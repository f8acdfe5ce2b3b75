import { fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { sqliteDatabase } from './rows.ts';
import { assertAnswered, drive, requestBytes } from './load.ts';
import { median, ratio } from './measure.ts';
import type { Aside } from './report.ts';

const PAIRS = 5;
const WARM_UP = 10_000;
/** Short turns, many of them: what else the machine does falls on both of a pair. */
const ROUNDS = 40;
const REQUESTS = 400;
const QUERY = '{ posts(limit: 20) { id title author { id name } } }';

/**
 * The same query where the schema has 10 types and where it has 3,000. Two processes of the very same program can differ by
 * some percent, by what V8 has compiled and where it lies; so there are several pairs of them, and their median is judged.
 */
export async function growth(): Promise<Aside[]> {
  const database = await sqliteDatabase();
  try {
    const pairs: Pair[] = [];
    for (let pair = 0; pair < PAIRS; pair += 1)
      pairs.push(await measurePair(database.url, pair % 2 === 1));
    const more = pairs.map(({ few, many }) => ratio(many, few) - 1).toSorted((a, b) => a - b);
    const percent = (share = NaN) => `${(share * 100).toFixed(0)} %`;
    const costs = (side: keyof Pair) => median(pairs.map((pair) => median(pair[side]))).toFixed(1);
    return [
      {
        what: '20 posts with their authors, with 10 and with 3,000 types',
        seen: `${costs('few')} and ${costs('many')} µs, ${percent(median(more))} more (${PAIRS} pairs of processes: ${percent(more[0])} to ${percent(more.at(-1))})`,
        goal: 'below 10 %',
        met: median(more) < 0.1,
      },
    ];
  } finally {
    await database.drop();
  }
}

/** Microseconds of CPU for a request, in each round. */
interface Pair {
  readonly few: readonly number[];
  readonly many: readonly number[];
}

/** @param swapped whether the larger one starts first. */
async function measurePair(databaseUrl: string, swapped: boolean): Promise<Pair> {
  const servers: Grown[] = [];
  for (const types of swapped ? [3000, 10] : [10, 3000])
    servers.push(await startGrown(types, databaseUrl));
  const requests = [requestBytes({ query: QUERY })];
  for (const { port } of servers) await assertAnswered(port, QUERY);
  for (const { port } of servers) await drive(port, requests, WARM_UP);
  for (let round = 0; round < ROUNDS; round += 1) {
    for (const { port, cpu, samples } of round % 2 === 1 ? servers.toReversed() : servers) {
      const before = await cpu();
      await drive(port, requests, REQUESTS);
      samples.push(((await cpu()) - before) / REQUESTS);
    }
  }
  for (const { close } of servers) close();
  const [few = [], many = []] = (swapped ? servers.toReversed() : servers).map(
    ({ samples }) => samples,
  );
  return { few, many };
}

interface Grown {
  readonly port: number;
  readonly samples: number[];
  cpu(): Promise<number>;
  close(): void;
}

async function startGrown(types: number, databaseUrl: string): Promise<Grown> {
  const child = fork(
    fileURLToPath(new URL('grown.ts', import.meta.url)),
    [String(types), databaseUrl],
    { stdio: ['ignore', 'ignore', 'inherit', 'ipc'] },
  );
  const answer = <T>() =>
    new Promise<T>((resolve) => child.once('message', (message) => resolve(message as T)));
  const { port } = await answer<{ port: number }>();
  return {
    port,
    samples: [],
    cpu: () => {
      child.send('cpu');
      return answer<number>();
    },
    close: () => child.disconnect(),
  };
}
