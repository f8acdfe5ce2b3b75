/**
 * `node test/bench/more.ts [cold] [memory] [growth] [workers]`: what the table of `run.ts` does not show. Without a name,
 * all of them, in this order.
 */
import { type ChildProcess, fork, spawn } from 'node:child_process';
import { cpSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { startContender } from './contender.ts';
import { sqliteDatabase } from './database.ts';
import { drive, requestBytes } from './load.ts';
import { median } from './measure.ts';
import { contenders, type Contender } from './servers/index.ts';
import { workloads, type Workload } from './workloads.ts';

const print = (line: string) => process.stdout.write(`${line}\n`);
const root = fileURLToPath(new URL('../../', import.meta.url));
const workload = (name: string) => workloads.find((candidate) => candidate.name === name) as Workload;
const ours = contenders[0] as Contender;
const asked = process.argv.slice(2);
const parts: Record<string, () => Promise<void>> = { cold, memory, growth, workers };
for (const [name, part] of Object.entries(parts)) if (asked.length === 0 || asked.includes(name)) await part();

/** From `node src/server.ts` of the emitted blog to its first answer, database made and migrated on the way. */
async function cold(): Promise<void> {
  const times: number[] = [];
  const costs: number[] = [];
  for (let round = 0; round < 7; round += 1) {
    const folder = mkdtempSync(join(tmpdir(), 'twofold-cold-'));
    cpSync(join(root, 'examples/blog'), folder, { recursive: true, filter: (path) => !path.includes('/data') });
    symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'));
    const began = performance.now();
    const child = spawn(process.execPath, ['src/server.ts'], { cwd: folder, env: { ...process.env, PORT: '0', HOST: '127.0.0.1', DATABASE_URL: 'file:data/app.db', LOG_LEVEL: 'info' } });
    const port = await portOf(child);
    await firstAnswer(port);
    times.push(performance.now() - began);
    costs.push(await cpuOf(child.pid as number));
    await ended(child);
    rmSync(folder, { recursive: true });
  }
  print(`cold start to the first answer: ${median(times).toFixed(0)} ms, of them ${median(costs).toFixed(0)} ms of CPU (goal: 400 ms)`);
}

function portOf(child: ChildProcess): Promise<number> {
  return new Promise((resolve, reject) => {
    let text = '';
    child.stdout?.on('data', (chunk) => {
      text += chunk;
      const port = /listening on http:\/\/[^:]+:(\d+)/.exec(text)?.[1];
      if (port) resolve(Number(port));
    });
    child.stderr?.on('data', (chunk) => void (text += chunk));
    child.once('exit', () => reject(new Error(`the server ended: ${text}`)));
  });
}

async function firstAnswer(port: number): Promise<void> {
  await drive(port, [requestBytes({ query: '{ __typename }' })], 1, 1);
}

/** Milliseconds of CPU, from `/proc` (in ticks of 10 ms). */
async function cpuOf(pid: number): Promise<number> {
  const { readFile } = await import('node:fs/promises');
  const fields = (await readFile(`/proc/${pid}/stat`, 'utf8')).split(') ')[1]?.split(' ') ?? [];
  return (Number(fields[11]) + Number(fields[12])) * 10;
}

function ended(child: ChildProcess): Promise<void> {
  return new Promise((resolve) => {
    child.once('exit', () => resolve());
    child.kill('SIGTERM');
  });
}

/** Resident memory while requests go on, with as many documents as a hostile client could think of among them. */
async function memory(): Promise<void> {
  const database = await sqliteDatabase();
  const server = await startContender(ours, database.url);
  const figures: string[] = [];
  for (let step = 0; step <= 5; step += 1) {
    await server.load(workload('byId'), 20_000);
    await server.load(workload('posts'), 2_000);
    const distinct = Array.from({ length: 2_000 }, (_, index) => requestBytes({ query: `{ a${step}x${index}: posts(limit: 1) { id b${index}: title } }` }));
    await drive(server.port, distinct, distinct.length);
    figures.push(`${((await server.figures()).memory / 1024 / 1024).toFixed(0)}`);
  }
  print(`resident memory after each 24,000 requests, 2,000 of them new documents: ${figures.join(', ')} MB`);
  await server.close();
  await database.drop();
}

/** The same query where the schema has 10 types and where it has 3,000. */
async function growth(): Promise<void> {
  const servers = [];
  const database = await sqliteDatabase();
  for (const types of [10, 3000]) servers.push({ types, child: await startGrown(types, database.url), samples: [] as number[] });
  const requests = [requestBytes({ query: '{ posts(limit: 20) { id title author { id name } } }' })];
  for (const { child } of servers) await drive(child.port, requests, 15_000);
  for (let round = 0; round < 9; round += 1) {
    for (const { child, samples } of servers) {
      const before = await child.cpu();
      await drive(child.port, requests, 3_000);
      samples.push(((await child.cpu()) - before) / 3_000);
    }
  }
  const [few = NaN, many = NaN] = servers.map(({ samples }) => median(samples));
  print(`20 posts with their authors: ${few.toFixed(1)} µs with 10 types, ${many.toFixed(1)} µs with 3,000: ${((many / few - 1) * 100).toFixed(0)} % (goal: below 10 %)`);
  for (const { child } of servers) child.close();
  await database.drop();
}

interface Grown {
  readonly port: number;
  cpu(): Promise<number>;
  close(): void;
}

async function startGrown(types: number, databaseUrl: string): Promise<Grown> {
  const child = fork(fileURLToPath(new URL('grown.ts', import.meta.url)), [String(types), databaseUrl], { stdio: ['ignore', 'ignore', 'inherit', 'ipc'] });
  const answer = <T>() => new Promise<T>((resolve) => child.once('message', (message) => resolve(message as T)));
  const { port } = await answer<{ port: number }>();
  return {
    port,
    cpu: () => {
      child.send('cpu');
      return answer<number>();
    },
    close: () => child.disconnect(),
  };
}

/** Requests in a second with one worker and with one for each core, in turns. The client needs a core as well. */
async function workers(): Promise<void> {
  const rates = new Map<string, number[]>([['1', []], ['auto', []]]);
  for (let round = 0; round < 3; round += 1) {
    for (const [count, list] of rates) {
      const database = await sqliteDatabase();
      const child = spawn(process.execPath, [fileURLToPath(new URL('workers.ts', import.meta.url)), database.url], { env: { ...process.env, WORKERS: count } });
      const port = await portOf(child);
      const requests = [requestBytes({ query: workload('users').query })];
      await drive(port, requests, 1500);
      const began = performance.now();
      await drive(port, requests, 2500);
      list.push(2_500_000 / (performance.now() - began));
      await ended(child);
      await database.drop();
    }
  }
  const [one = NaN, all = NaN] = [...rates.values()].map(median);
  print(`100 users with their posts, requests a second: ${one.toFixed(0)} with one worker, ${all.toFixed(0)} with WORKERS=auto: ${(all / one).toFixed(2)} × (goal: 1.8 × on two free cores)`);
}
