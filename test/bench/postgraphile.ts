import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { isDeepStrictEqual, parseArgs } from 'node:util';
import { fileURLToPath } from 'node:url';
import { openDatabase } from './beside/database.ts';
import { CALLER, type Compared, COMPARED, type ServerName } from './beside/workloads.ts';
import { drive, requestBytes } from './load.ts';
import { median, ratio } from './measure.ts';
import { type Aside, printAsides } from './report.ts';

/**
 * A search, an aggregate and a list under a membership rule, whole requests over HTTP: this server,
 * PostGraphile and a handler by hand, over one database of PostgreSQL. They take turns in one run.
 * The time is that of one connection which waits for each answer, so the work of PostgreSQL is in it.
 *
 * node test/bench/more.ts postgraphile
 */
const { values } = parseArgs({
  options: { rounds: { type: 'string', default: '15' }, requests: { type: 'string' } },
  strict: false,
});
const ROUNDS = Number(values.rounds);
const WARMING = 300;
const SLICE = 40;

const NAMES: readonly ServerName[] = ['twofold', 'hand', 'postgraphile'];

interface Started {
  readonly name: ServerName;
  readonly child: ChildProcess;
  readonly port: number;
}

async function start(name: ServerName, url: string, role: string): Promise<Started> {
  const child = fork(
    fileURLToPath(new URL('beside/servers.ts', import.meta.url)),
    [name, url, role],
    {
      env: { ...process.env, NODE_ENV: 'production', GRAPHILE_ENV: 'production' },
      stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
    },
  );
  const [{ port }] = (await once(child, 'message')) as [{ port: number }];
  return { name, child, port };
}

const HEADERS = {
  'x-test-principal': JSON.stringify({
    kind: 'user',
    id: CALLER,
    role: null,
    permissions: [],
    sessionId: 's',
    extend: {},
  }),
};

const queryOf = (name: ServerName, { twofold, postgraphile }: Compared) =>
  name === 'postgraphile' ? postgraphile : twofold;

/** @throws TypeError when a server answers other rows than the one by hand. */
async function compareAnswers(servers: readonly Started[], compared: Compared): Promise<void> {
  const answers = new Map<ServerName, unknown>();
  for (const { name, port } of servers) {
    const response = await fetch(`http://127.0.0.1:${port}/graphql`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...HEADERS },
      body: JSON.stringify({ query: queryOf(name, compared) }),
    });
    const { data, errors } = (await response.json()) as any;
    if (errors) throw new TypeError(`${name}, ${compared.name}: ${errors[0].message}`);
    answers.set(name, compared.found(data));
  }
  const wanted = answers.get('hand');
  for (const [name, answer] of answers)
    if (!isDeepStrictEqual(answer, wanted))
      throw new TypeError(
        `${compared.name}: ${name} answers ${JSON.stringify(answer).slice(0, 300)}, by hand ${JSON.stringify(wanted).slice(0, 300)}`,
      );
}

/** Milliseconds of a request in a slice, and microseconds of the process's CPU for it. */
async function sample({ name, port, child }: Started, compared: Compared, count = SLICE) {
  const request = [requestBytes({ query: queryOf(name, compared) }, '/graphql', HEADERS)];
  const before = await cpuOf(child);
  const since = performance.now();
  await drive(port, request, count, 1, 0);
  const time = (performance.now() - since) / count;
  return { time, cpu: ((await cpuOf(child)) - before) / count };
}

async function cpuOf(child: ChildProcess): Promise<number> {
  child.send('cpu');
  const [{ cpu }] = (await once(child, 'message')) as [{ cpu: number }];
  return cpu;
}

type Samples = Readonly<Record<ServerName, { time: number[]; cpu: number[] }>>;

async function measure(servers: readonly Started[], compared: Compared): Promise<Samples> {
  const empty = () => ({ time: [] as number[], cpu: [] as number[] });
  const samples: Samples = { twofold: empty(), hand: empty(), postgraphile: empty() };
  for (const server of servers) await sample(server, compared, WARMING);
  for (let round = 0; round < ROUNDS; round += 1)
    for (let turn = 0; turn < servers.length; turn += 1) {
      const server = servers[(turn + round) % servers.length]!;
      const { time, cpu } = await sample(server, compared);
      samples[server.name].time.push(time);
      samples[server.name].cpu.push(cpu);
    }
  return samples;
}

/** Of the contract: what a request may take, times the one by hand. */
const MOST = 1.25;

function asidesOf({ title }: Compared, { twofold, hand, postgraphile }: Samples): Aside[] {
  const figures = [twofold, hand, postgraphile].map(
    ({ time, cpu }) => `${median(time).toFixed(2)} ms (${median(cpu).toFixed(0)} µs of its CPU)`,
  );
  const byHand = ratio(twofold.time, hand.time);
  const faster = ratio(postgraphile.time, twofold.time);
  return [
    {
      what: `${title}: Twofold ${figures[0]}, by hand ${figures[1]}`,
      seen: `${byHand.toFixed(2)} ×`,
      goal: `≤ ${MOST} ×`,
      met: byHand <= MOST,
    },
    {
      what: `${title}: PostGraphile ${figures[2]}, times ours`,
      seen: `${faster.toFixed(2)} ×`,
      goal: '≥ 1 ×',
      met: faster >= 1,
    },
  ];
}

export async function besidePostGraphile(): Promise<Aside[]> {
  if (!process.env['TEST_POSTGRES_URL']) return [];
  const database = await openDatabase();
  const servers: Started[] = [];
  const asides: Aside[] = [];
  try {
    for (const name of NAMES) servers.push(await start(name, database.url, database.role));
    for (const compared of COMPARED) {
      await compareAnswers(servers, compared);
      asides.push(...asidesOf(compared, await measure(servers, compared)));
    }
  } finally {
    for (const { child } of servers) child.disconnect();
    await database.drop();
  }
  return asides;
}

if (import.meta.main) printAsides(await besidePostGraphile());
