/**
 * `npm run bench:observability`: the CPU time of a request with figures and with traces at 10 % sampling, as a share of that without
 * both. Servers on SQLite take turns in short slices of one run, so that a busy machine slows all of them.
 *
 * `-- --rounds 9` · `--groups 4` of processes · `--slice 1500` requests · `--before FOLDER` another checkout, whose server is measured too
 */
import { type ChildProcess, fork } from 'node:child_process';
import { on, once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { drive, requestBytes } from './load.ts';
import { median } from './measure.ts';
import { machineOf } from './report.ts';
import { register } from './credentials.ts';
import type { Observed } from './observed-server.ts';
import { type SpanShape, type SpanShapes, WORKLOAD_HEADER } from './observed-spans.ts';
import { ORIGIN } from './shape.ts';

const { values } = parseArgs({
  options: {
    rounds: { type: 'string', default: '9' },
    groups: { type: 'string', default: '4' },
    slice: { type: 'string', default: '1500' },
    before: { type: 'string' },
  },
});
const ROUNDS = Number(values.rounds);
/** Two processes of the same server differ for as long as they run, by up to a fifth. */
const GROUPS = Number(values.groups);
const SLICE = Number(values.slice);
/**
 * Slices before those that count. A server is compiled while it runs: after 7,500 requests one costs 75 µs, after
 * 60,000 it costs 45, and until then two processes differ by more than what is measured.
 */
const WARM_UP = 40;
const HERE = fileURLToPath(new URL('../..', import.meta.url));

interface Body {
  readonly query: string;
  readonly variables?: Readonly<Record<string, string>>;
}

type BodyOf = (turn: number) => Body;

const WORKLOADS: Readonly<Record<string, BodyOf>> = {
  'a row by its key': (turn) => ({
    query: 'query ById($id: ID!) { user(id: $id) { id name } }',
    variables: { id: String(1 + (turn % 100)) },
  }),
  '20 rows with 10 each': () => ({
    query: 'query List { users(limit: 20) { id name posts { id title } } }',
  }),
  'a function of its own': (turn) => ({
    query: 'query Own($id: ID!) { own(id: $id) }',
    variables: { id: String(1 + (turn % 100)) },
  }),
  'a row created': (turn) => ({
    query: 'mutation Make($id: ID!) { createPost(title: "t", authorId: $id) { id } }',
    variables: { id: String(1 + (turn % 100)) },
  }),
};

/** A kind of server that is measured. */
interface Kind {
  readonly name: string;
  /** What its manifest has more than that of `PLAIN`. */
  readonly manifest?: string;
  readonly checkout?: string;
  /** What makes the spans that it sends; nothing when it sends none. */
  readonly spans?: 'ours' | 'by hand' | 'recorded';
}

const PLAIN: Kind = { name: 'neither' };
const FIGURES: Kind = { name: 'figures', manifest: 'observability: { metrics: true }\n' };
const TRACES: Kind = {
  name: 'traces, 10 % sampled',
  manifest: 'observability: { traces: true }\n',
  spans: 'ours',
};
/** What the SDK costs by itself. */
const BY_HAND: Kind = { name: 'the same spans by hand', spans: 'by hand' };
const BEFORE: Kind = { name: 'before', checkout: values.before ?? HERE };

const KINDS = [PLAIN, FIGURES, TRACES, BY_HAND, ...(values.before ? [BEFORE] : [])];

/** The CPU time of one kind as a multiple of that of another, and the most that it may be. */
interface Comparison {
  readonly of: Kind;
  readonly to: Kind;
  readonly most?: number;
}

const COMPARISONS: readonly Comparison[] = [
  { of: FIGURES, to: PLAIN, most: 1.03 },
  { of: TRACES, to: PLAIN, most: 1.05 },
  { of: BY_HAND, to: PLAIN },
  { of: TRACES, to: BY_HAND, most: 1.05 },
  ...(values.before ? [{ of: PLAIN, to: BEFORE, most: 1.02 }] : []),
];

/** What a server says: its port when it listens, its CPU time when it is asked, the spans of a request. */
interface Said {
  readonly port: number;
  readonly cpu: number;
  readonly spans: readonly SpanShape[];
}

interface Server {
  readonly port: number;
  readonly child: ChildProcess;
  readonly folder: string;
  /** The access token of a user of this server. */
  readonly token: string;
}

async function start({ manifest = '', checkout = HERE, spans }: Kind): Promise<Server> {
  const folder = mkdtempSync(join(tmpdir(), 'observed-'));
  const program = fileURLToPath(new URL('observed-server.ts', import.meta.url));
  const observed: Observed = {
    manifest,
    ...(spans && { destination: spans === 'recorded' ? 'parent' : { collector: sink } }),
    ...(spans === 'by hand' && { byHand: shapes }),
  };
  const child = fork(program, [checkout, JSON.stringify(observed)], {
    cwd: folder,
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  });
  const port = await heard(child, 'port');
  const { token } = await register(`http://127.0.0.1:${port}`);
  return { port, child, folder, token };
}

/** The next message with this member. */
async function heard<K extends keyof Said>(child: ChildProcess, member: K): Promise<Said[K]> {
  for await (const [said] of on(child, 'message') as AsyncIterable<[Partial<Said>]>) {
    const value = said[member];
    if (value !== undefined) return value;
  }
  throw new Error('The server has ended.');
}

function cpuOf({ child }: Server): Promise<number> {
  const cpu = heard(child, 'cpu');
  child.send('cpu');
  return cpu;
}

const headersOf = ({ token }: Server, workload: string) => ({
  origin: ORIGIN,
  authorization: `Bearer ${token}`,
  [WORKLOAD_HEADER]: workload,
});

/** Microseconds of CPU for a request. */
async function slice(server: Server, workload: string): Promise<number> {
  const body = WORKLOADS[workload]!;
  const headers = headersOf(server, workload);
  const requests = Array.from({ length: 200 }, (_, turn) =>
    requestBytes(body(turn), '/graphql', headers),
  );
  const before = await cpuOf(server);
  await drive(server.port, requests, SLICE, 16);
  return ((await cpuOf(server)) - before) / SLICE;
}

/** The CPU time of each server in each round. */
async function measure(servers: readonly Server[], workload: string): Promise<readonly number[][]> {
  const seen: number[][] = servers.map(() => []);
  for (let round = -WARM_UP; round < ROUNDS; round += 1) {
    // Each one has each place in turn, as the first slice after a pause is slower.
    for (let place = 0; place < servers.length; place += 1) {
      const at = (place + Math.max(0, round)) % servers.length;
      const cost = await slice(servers[at]!, workload);
      if (round >= 0) seen[at]!.push(cost);
    }
  }
  return seen;
}

const collector = createServer((request, response) => {
  request.resume();
  request.once('end', () => response.end('{}'));
});
await new Promise<void>((resolve) => collector.listen(0, '127.0.0.1', resolve));
const sink = `http://127.0.0.1:${(collector.address() as AddressInfo).port}`;

async function end({ child, folder }: Server): Promise<void> {
  child.kill('SIGKILL');
  await once(child, 'exit');
  rmSync(folder, { recursive: true, force: true });
}

/** Medians of the rounds of one workload, for each kind of server. */
interface Costs {
  /** Microseconds of CPU for a request. */
  readonly costs: readonly number[];
  /** For each of `COMPARISONS`. */
  readonly times: readonly number[];
}

/** Measures a server of each kind. */
async function measureGroup(): Promise<readonly Costs[]> {
  const group: Server[] = [];
  try {
    for (const kind of KINDS) group.push(await start(kind));
    const all: Costs[] = [];
    for (const workload of Object.keys(WORKLOADS)) {
      const seen = await measure(group, workload);
      all.push({
        costs: seen.map(median),
        times: COMPARISONS.map(({ of, to }) => ratioOf(costsOf(seen, of), costsOf(seen, to))),
      });
    }
    return all;
  } finally {
    await Promise.all(group.map(end));
  }
}

const costsOf = (seen: readonly number[][], kind: Kind) => seen[KINDS.indexOf(kind)]!;

const ratioOf = (costs: readonly number[], others: readonly number[]): number =>
  median(costs.map((cost, round) => cost / others[round]!));

/** The spans that our server makes for each workload once it is warm, inside of the one of the request. */
async function recordShapes(): Promise<SpanShapes> {
  const server = await start({ ...TRACES, spans: 'recorded' });
  try {
    const recorded: Record<string, readonly SpanShape[]> = {};
    for (const workload of Object.keys(WORKLOADS))
      for (let turn = 0; turn < 3; turn += 1) recorded[workload] = await record(server, workload);
    return recorded;
  } finally {
    await end(server);
  }
}

async function record(server: Server, workload: string): Promise<readonly SpanShape[]> {
  const spans = heard(server.child, 'spans');
  await fetch(`http://127.0.0.1:${server.port}/graphql`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headersOf(server, workload) },
    body: JSON.stringify(WORKLOADS[workload]!(0)),
  });
  return spans;
}

const shapes = await recordShapes();

const groups: (readonly Costs[])[] = [];
for (let group = 0; group < GROUPS; group += 1) groups.push(await measureGroup());
collector.close();
collector.closeAllConnections();

console.log(
  `${machineOf()}; medians of ${GROUPS} groups of processes, each of ${ROUNDS} interleaved rounds of ${SLICE} requests, µs of CPU a request.`,
);
const heads = [
  ...KINDS.map(({ name }) => name),
  ...COMPARISONS.map(({ of, to }) => `${of.name} / ${to.name}`),
];
console.log(`| | ${heads.join(' | ')} |\n|---|${heads.map(() => '---:|').join('')}`);
for (const [row, title] of Object.keys(WORKLOADS).entries()) {
  const costs = KINDS.map((_, at) => median(groups.map((group) => group[row]!.costs[at]!)));
  const judged = COMPARISONS.map(({ most }, at) => {
    const times = median(groups.map((group) => group[row]!.times[at]!));
    const met = most === undefined ? '' : ` ≤ ${most}: ${times <= most ? 'met' : 'not met'}`;
    return `${times.toFixed(3)}${met}`;
  });
  const cells = [...costs.map((cost) => cost.toFixed(1)), ...judged];
  console.log(`| ${title} | ${cells.join(' | ')} |`);
}
