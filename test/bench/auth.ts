/**
 * How fast auth is, as ratios against the same work without it, in one run on one machine. `npm run bench:auth`.
 * Nothing is asserted: the numbers are for people.
 */
import { execFile } from 'node:child_process';
import crypto from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { availableParallelism } from 'node:os';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import bcrypt from 'bcrypt';
import { reply } from '../../runtime/http/route.ts';
import type { ServerModule } from '../../runtime/module.ts';
import { bearer, GOOD, startServer, type TestServer, USER } from '../auth/server.ts';

const run = promisify(execFile);
const SECONDS = Number(process.env['BENCH_SECONDS'] ?? 4);
const COST = 10;

const spec = (id: string, access: string) => ({ id, method: 'GET' as const, path: `/bench/${id}`, access, tag: 'bench', summary: '', responses: {} });
const ROUTES: ServerModule = {
  name: 'bench',
  routes: [
    { spec: spec('open', 'public'), handle: () => reply(200, { fine: true }) },
    { spec: spec('guarded', 'user'), handle: () => reply(200, { fine: true }) },
    { spec: spec('file', 'public'), handle: async () => reply(200, { bytes: (await readFile(new URL(import.meta.url))).length }) },
  ],
};

const database = process.env['TEST_POSTGRES_URL'] && process.argv.includes('--postgres') ? 'PostgreSQL' : 'SQLite';
const server = await startServer({ database, entity: USER, modules: [ROUTES], options: { bcryptCost: COST } });
const { body } = await server.register('bench@x.test');

console.log(`${database}, ${availableParallelism()} CPUs, Node ${process.version}, bcrypt cost ${COST}, ${SECONDS} s each`);
await authenticatedGet(server, body.accessToken);
await loginThroughput(server);
await loginStorm(server);
await server.close();
process.exit(0);

/** A request with a bearer token, verified and checked against the store, beside the same route without one. */
async function authenticatedGet(on: TestServer, token: string): Promise<void> {
  const constructed = countKeyConstruction();
  const rounds: number[][] = [];
  for (let round = 0; round < 5; round += 1) rounds.push([await cost(`${on.url}/bench/open`), await cost(`${on.url}/bench/guarded`, bearer(token))]);
  const [open, guarded] = [0, 1].map((index) => median(rounds.map((round) => round[index]!))) as [number, number];
  console.log(`GET without auth ${open.toFixed(1)} µs of CPU, with a bearer token ${guarded.toFixed(1)} µs: ${((100 * open) / guarded).toFixed(1)} % of the speed (goal 85 %); public keys constructed: ${constructed()} (goal 0)`);
}

/** Logins of the server beside bcrypt alone, with as many at once as the server's semaphore lets in. */
async function loginThroughput(on: TestServer): Promise<void> {
  const hash = await bcrypt.hash(GOOD, COST);
  const width = Math.max(1, Math.min(availableParallelism(), 2));
  const raw = await perSecond(width, () => bcrypt.compare(GOOD, hash));
  const through = await perSecond(8, () => on.login('bench@x.test'));
  console.log(`bcrypt.compare alone ${raw.toFixed(1)}/s, logins ${through.toFixed(1)}/s: ${((100 * through) / raw).toFixed(1)} % (goal 90 %)`);
}

/** What a route that reads a file takes while 64 clients sign in. */
async function loginStorm(on: TestServer): Promise<void> {
  for (let index = 0; index < 64; index += 1) await on.kernel.store.db.insertInto('users').values({ name: 's', email: `storm${index}@x.test` }).execute();
  const storm = { running: true, logins: 0 };
  const clients = Array.from({ length: 64 }, async (_, index) => {
    while (storm.running) {
      await on.login(`storm${index}@nobody.test`, 'wrong');
      storm.logins += 1;
    }
  });
  const times: number[] = [];
  const until = Date.now() + SECONDS * 1000;
  while (Date.now() < until) {
    const begun = performance.now();
    await on.call('GET', '/bench/file');
    times.push(performance.now() - begun);
  }
  storm.running = false;
  await Promise.all(clients);
  times.sort((a, b) => a - b);
  console.log(`during a storm of 64 clients (${(storm.logins / SECONDS).toFixed(0)} answers/s): an unrelated route p50 ${at(times, 0.5).toFixed(1)} ms, p99 ${at(times, 0.99).toFixed(1)} ms (goal 150 ms)`);
}

/** Microseconds of this process's CPU for one request, sent by another process: what else the machine does hardly matters. */
async function cost(url: string, headers: Record<string, string> = {}): Promise<number> {
  const sent = Object.entries(headers).flatMap(([name, value]) => ['-H', `${name}=${value}`]);
  const before = process.cpuUsage();
  const { stdout } = await run(process.execPath, [fileURLToPath(import.meta.resolve('autocannon')), '--json', '-c', '20', '-d', String(SECONDS), ...sent, url], { maxBuffer: 1 << 24 });
  const { user, system } = process.cpuUsage(before);
  const { requests, non2xx } = JSON.parse(stdout) as { requests: { total: number }; non2xx: number };
  if (non2xx > 0) console.log(`${url}: ${non2xx} answers were no success`);
  return (user + system) / requests.total;
}

async function perSecond(width: number, work: () => Promise<unknown>): Promise<number> {
  const until = Date.now() + SECONDS * 1000;
  let count = 0;
  const worker = async () => {
    while (Date.now() < until) {
      await work();
      count += 1;
    }
  };
  await Promise.all(Array.from({ length: width }, worker));
  return count / SECONDS;
}

function countKeyConstruction(): () => number {
  let count = 0;
  const original = crypto.createPublicKey;
  crypto.createPublicKey = ((...args: Parameters<typeof original>) => {
    count += 1;
    return original(...args);
  }) as typeof original;
  return () => {
    crypto.createPublicKey = original;
    return count;
  };
}

function at(sorted: readonly number[], share: number): number {
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
}

function median(values: readonly number[]): number {
  return at(values.toSorted((a, b) => a - b), 0.5);
}
