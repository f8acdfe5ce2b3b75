import { spawn } from 'node:child_process';
import { availableParallelism, loadavg } from 'node:os';
import { fileURLToPath } from 'node:url';
import { sqliteDatabase } from './database.ts';
import { drive, requestBytes } from './load.ts';
import { median } from './measure.ts';
import { ended, portOf } from './program.ts';
import type { Aside } from './report.ts';

const GOAL = 1.8;
/** Much to look for and little to send: the client needs a part of the same cores. */
const QUERY = '{ users(limit: 100) { id posts(limit: 1) { id } } }';

/** Requests in a second with one worker and with one for each core, in turns. */
export async function workerScaling(): Promise<Aside[]> {
  const rates = new Map<string, number[]>([['1', []], ['auto', []]]);
  const load = loadavg()[0] ?? 0;
  for (let round = 0; round < 5; round += 1) for (const [count, list] of rates) list.push(await rateWith(count));
  const [one = NaN, all = NaN] = [...rates.values()].map(median);
  const cores = availableParallelism();
  const times = all / one;
  // Where other work holds the cores there is nothing to be had of a second one.
  const isFree = cores >= 2 && load < 2.5;
  return [{ what: `\`WORKERS=auto\` on ${cores} cores`, seen: `${one.toFixed(0)} and ${all.toFixed(0)} requests a second, ${times.toFixed(2)} ×`, goal: `${GOAL} × on two free cores`, met: times >= GOAL ? true : isFree ? false : undefined }];
}

async function rateWith(workers: string): Promise<number> {
  const database = await sqliteDatabase();
  const child = spawn(process.execPath, [fileURLToPath(new URL('workers.ts', import.meta.url)), database.url], { env: { ...process.env, WORKERS: workers } });
  const port = await portOf(child);
  const requests = [requestBytes({ query: QUERY })];
  await drive(port, requests, 4_000);
  const began = performance.now();
  await drive(port, requests, 5_000);
  const rate = 5_000_000 / (performance.now() - began);
  await ended(child);
  await database.drop();
  return rate;
}
