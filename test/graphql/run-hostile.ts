import { execFileSync, fork } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { loadavg } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { createDatabase } from '../engines/available.ts';
import { end, type Program } from '../server/program.ts';
import { attack, bystander, type Hit } from './hostile/load.ts';
import { serve } from './hostile/server.ts';

/**
 * Two hundred hostile operations from eight clients, and what others see of the server meanwhile:
 * `node test/graphql/run-hostile.ts [sqlite | postgres] [rows] [rounds]`.
 */
const LARGE = { posts: 50, characters: 500_000 };
const SECOND = 1000;

if (process.send) await standBy();
else await main();

/** The child: it measures what a bystander sees. */
async function standBy(): Promise<void> {
  const abort = new AbortController();
  process.once('message', () => abort.abort());
  const times = await bystander(process.argv[2] as string, abort.signal);
  process.send?.(times, () => process.disconnect());
}

async function main(): Promise<void> {
  const [kind = 'sqlite', rows = '100000', rounds = '3'] = process.argv.slice(2);
  const database = kind === 'postgres' ? await createDatabase() : undefined;
  const program = await serve({ rows: Number(rows), large: LARGE }, database?.url);
  try {
    const url = await program.listening;
    const report = await measure(program, url, Number(rounds), database?.url);
    console.log(JSON.stringify({ database: kind, rows: Number(rows), ...report }, null, 1));
  } finally {
    await end(program);
    await database?.drop();
  }
}

async function measure(program: Program, url: string, rounds: number, database?: string) {
  const calm = await watched(program, url, () => sleep(3 * SECOND));
  const hits: Hit[] = [];
  const under = await watched(program, url, async () => {
    for (let round = 0; round < rounds; round += 1) hits.push(...(await attack(url, 8)));
  });
  await sleep(SECOND);
  const alive = database ? await active(database) : await busy(program);
  const codes: Record<string, number> = {};
  for (const { code } of hits) codes[code] = (codes[code] ?? 0) + 1;
  const slowest = hits.toSorted((a, b) => b.milliseconds - a.milliseconds).slice(0, 5);
  return {
    load: loadavg().map((each) => Number(each.toFixed(1))),
    calm,
    under,
    hits: hits.length,
    codes,
    slowest: slowest.map(
      ({ shot, code, milliseconds }) => `${Math.round(milliseconds)} ms ${code} ${shot.name}`,
    ),
    [database ? 'statements a second later' : 'CPU a second later, %']: alive,
  };
}

/** What a bystander sees while `work` goes on, and the most memory that the server has. */
async function watched(program: Program, url: string, work: () => Promise<unknown>) {
  const child = fork(import.meta.filename, [url]);
  const answer = new Promise<Awaited<ReturnType<typeof bystander>>>((resolve) =>
    child.once('message', resolve as never),
  );
  let most = 0;
  const timer = setInterval(() => (most = Math.max(most, resident(program))), 100);
  await work();
  clearInterval(timer);
  child.send('end');
  const { health, byId, failed } = await answer;
  return {
    asked: health.length,
    failed,
    'health p50, p99, max': figures(health),
    'by id p50, p99, max': figures(byId),
    'resident MiB': Math.round(most / 2 ** 20),
  };
}

function figures(values: readonly number[]): number[] {
  const sorted = values.toSorted((a, b) => a - b);
  return [0.5, 0.99, 1].map((share) =>
    Number(
      (sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0).toFixed(1),
    ),
  );
}

function resident({ process: { pid } }: Program): number {
  const pages = readFileSync(`/proc/${pid}/statm`, 'utf8').split(' ')[1];
  return Number(pages) * 4096;
}

/** Of a second in which no request is made: what of it the process worked. */
async function busy({ process: { pid } }: Program): Promise<number> {
  const ticks = () => {
    const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? [];
    return Number(fields[11]) + Number(fields[12]);
  };
  const perSecond = Number(execFileSync('getconf', ['CLK_TCK'], { encoding: 'utf8' }));
  const before = ticks();
  await sleep(SECOND);
  return Math.round((100 * (ticks() - before)) / perSecond);
}

async function active(url: string): Promise<number> {
  const client = new pg.Client(url);
  await client.connect();
  const { rows } = await client.query(
    `select count(*)::int as count from pg_stat_activity where datname = current_database() and state <> 'idle' and backend_type = 'client backend' and pid <> pg_backend_pid()`,
  );
  await client.end();
  return rows[0].count;
}
