import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { Agent, request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { requirePeers } from './peers.ts';

/**
 * What own code costs, as ratios: the two sides take turns in one run, so that a busy machine slows
 * both. Payload's hooks take part. `--baseline DIR` also compares a project without own code with an
 * older checkout.
 *
 * npm run bench:own-code -- [--rounds 15] [--baseline DIR] [--cpu]
 *
 * `--cpu` compares the processor time of the servers in place of the time that passes, for a machine
 * that has other work to do.
 */
const option = (name: string) => {
  const at = process.argv.indexOf(`--${name}`);
  return at < 0 ? undefined : process.argv[at + 1];
};
const ROUNDS = Number(option('rounds') ?? 15);
const REQUESTS = 400;
const BY_CPU = process.argv.includes('--cpu');
/** The inferred creates of clients at the same time share a commit; one client's cannot. */
const CLIENTS = 8;

interface Served {
  readonly port: number;
  /** The statement of @count and @exists beside one by hand. */
  counts(): Promise<number>;
  /** Milliseconds of processor time so far. */
  cpu(): Promise<number>;
  close(): void;
}

/** Starts the server of a checkout in a process of its own. */
const serve = (root: string, env: Record<string, string> = {}) =>
  serveProgram('own-code-server.ts', root, env);

async function serveProgram(
  program: string,
  root: string,
  env: Record<string, string>,
): Promise<Served> {
  const folder = mkdtempSync(join(tmpdir(), 'twofold-own-code-'));
  const child = fork(join(import.meta.dirname, program), [], {
    env: {
      ...process.env,
      TWOFOLD_ROOT: root,
      DATABASE_URL: `file:${join(folder, 'app.db')}`,
      JWT_SECRET: 'a secret of the benchmark that is long enough',
      APP_URL: 'http://127.0.0.1',
      RATE_LIMIT_ENABLED: 'false',
      ...env,
    },
    cwd: folder,
    stdio: ['ignore', 2, 'inherit', 'ipc'],
  });
  const [port] = (await once(child, 'message')) as [number];
  return {
    port,
    counts: () => ask(child, { counts: ROUNDS * 3 }),
    cpu: () => ask(child, 'cpu'),
    close: () => {
      child.kill();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

async function ask(child: ChildProcess, question: object | string): Promise<number> {
  child.send(question);
  const [answer] = (await once(child, 'message')) as [number];
  return answer;
}

const agent = new Agent({ keepAlive: true, maxSockets: CLIENTS });

function post(port: number, path: string, body: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const headers = {
      'Content-Type': 'application/json',
      'Content-Length': Buffer.byteLength(body),
    };
    const sent = request(
      { port, host: '127.0.0.1', path, method: 'POST', agent, headers },
      (answer) => {
        let text = '';
        answer.setEncoding('utf8').on('data', (part) => (text += part));
        answer.on('end', () => resolve(text));
      },
    );
    sent.on('error', reject).end(body);
  });
}

/** One side of a comparison. */
interface Side {
  readonly server: Served;
  /** GraphQL with the variable `title`; absent for a sign-in. */
  readonly query?: string;
  /** A path that takes a title as JSON, in place of GraphQL. */
  readonly path?: string;
  /** Requests of a block. */
  readonly requests?: number;
  readonly variables?: object;
}

let made = 0;

async function send(side: Side): Promise<void> {
  const text = await answerOf(side);
  if (text.includes('"errors"') || text.startsWith('{"error"')) throw new Error(text);
}

function answerOf({ server: { port }, query, path, variables }: Side): Promise<string> {
  const title = `title ${(made += 1)}`;
  if (query) return graphql(port, query, { title, ...variables });
  if (path) return post(port, path, JSON.stringify({ title }));
  return post(port, '/api/auth/login', JSON.stringify(USER));
}

const graphql = (port: number, query: string, variables: object = {}) =>
  post(port, '/graphql', JSON.stringify({ query, variables }));

const clock = async ({ server }: Side) => (BY_CPU ? server.cpu() : performance.now());

/** Milliseconds of one block of requests. */
async function block(side: Side, clients: number): Promise<number> {
  const since = await clock(side);
  const client = async () => {
    for (let left = (side.requests ?? REQUESTS) / clients; left > 0; left -= 1) await send(side);
  };
  await Promise.all(Array.from({ length: clients }, client));
  return (await clock(side)) - since;
}

/** The median of the ratios of neighbouring blocks. */
async function ratio(one: Side, other: Side, clients = CLIENTS): Promise<number> {
  const ratios: number[] = [];
  for (let round = -3; round < ROUNDS; round += 1) {
    const first = await block(one, clients);
    const second = await block(other, clients);
    const third = await block(one, clients);
    if (round >= 0) ratios.push(second / ((first + third) / 2));
  }
  return ratios.sort((a, b) => a - b)[Math.floor(ratios.length / 2)]!;
}

const create = (field: string) =>
  `mutation ($title: String!) { ${field}(title: $title) { id title } }`;
const QUERY = '{ note(id: 1) { id title } }';
const MANY = 'mutation ($input: [NewNote!]!) { createNotes(input: $input) }';
const UPSERT =
  'mutation ($title: String!) { upsertTag(where: { title: $title }, create: { title: $title }, update: { text: "again" }) { id title } }';
const TOPICS = '{ topics(limit: 100) { id name marksCount marked } }';
const USER = { email: 'ada@example.com', password: 'a long sentence nobody guesses' };

function report(what: string, measured: number, most?: number): void {
  const limit = most === undefined ? ' '.repeat(15) : `(at most ${most})`.padEnd(15);
  console.log(`${measured.toFixed(3)}  ${limit}  ${what}`);
}

/** What own code costs beside what is inferred. */
async function compareOwn(server: Served): Promise<void> {
  const inferred = { server, query: create('createNote') };
  const hooked = { server, query: create('createMemo') };
  const own = { server, query: create('ownNote') };
  for (const clients of [1, CLIENTS]) {
    const at = `${clients} at a time`;
    report(
      `create with a resolveInput / without, ${at}`,
      await ratio(inferred, hooked, clients),
      1.15,
    );
    report(
      `a function of Mutation with one ctx.data create / the inferred mutation, ${at}`,
      await ratio(inferred, own, clients),
      1.5,
    );
    report(`upsert / create, ${at}`, await ratio(inferred, { server, query: UPSERT }, clients));
  }
  const input = Array.from({ length: 1000 }, (_, index) => ({ title: `many ${index}` }));
  const thousand = { ...inferred, requests: 1000 };
  const many = { server, query: MANY, requests: 1, variables: { input } };
  report('createMany of 1,000 / 1,000 creates, 1 at a time', await ratio(thousand, many, 1), 0.1);
  await graphql(server.port, 'mutation { fillTopics }');
  await graphql(server.port, TOPICS);
  report('@count and @exists on 100 rows / the statement by hand', await server.counts(), 1.15);
}

/** Hooks of Payload, beside its own creates and ours. */
async function comparePayload(server: Served): Promise<void> {
  const payload = await serveProgram('servers/payload.ts', here, {});
  const side = (path: string) => ({ server: payload, path, requests: 80 });
  const [plain, hooked] = [side('/api/notes'), side('/api/memos')];
  try {
    for (const clients of [1, CLIENTS]) {
      const at = `${clients} at a time`;
      report(`Payload: create with a hook / without, ${at}`, await ratio(plain, hooked, clients));
      report(
        `create with a resolveInput / Payload's create with a hook, ${at}`,
        await ratio(hooked, { server, query: create('createMemo'), requests: 80 }, clients),
      );
    }
  } finally {
    payload.close();
  }
}

/** A project without own code beside an older checkout. */
async function compareBaseline(now: Served, baseline: string): Promise<void> {
  const old = await serve(baseline, { BENCH_BASELINE: '1' });
  try {
    const query = create('createNote');
    report(
      'create without own code / the baseline',
      await ratio({ server: old, query }, { server: now, query }),
      1.02,
    );
    report(
      'query without own code / the baseline',
      await ratio({ server: old, query: QUERY }, { server: now, query: QUERY }),
      1.02,
    );
  } finally {
    old.close();
  }
}

async function compareLogin(baseline: string): Promise<void> {
  const servers = [
    await serve(baseline, { BENCH_AUTH: '1', BENCH_BASELINE: '1' }),
    await serve(here, { BENCH_AUTH: '1' }),
  ];
  try {
    const [old, now] = servers as [Served, Served];
    for (const { port } of servers) await post(port, '/api/auth/register', JSON.stringify(USER));
    const requests = 16;
    report(
      'sign-in / the baseline',
      await ratio({ server: old, requests }, { server: now, requests }),
      1.02,
    );
  } finally {
    servers.forEach((each) => each.close());
  }
}

requirePeers();
const here = join(import.meta.dirname, '../..');
const baseline = option('baseline');
try {
  const server = await serve(here);
  try {
    await compareOwn(server);
    await comparePayload(server);
  } finally {
    server.close();
  }
  if (baseline) {
    const plain = await serve(here, { BENCH_BASELINE: '1' });
    try {
      await compareBaseline(plain, baseline);
    } finally {
      plain.close();
    }
    await compareLogin(baseline);
  }
} finally {
  agent.destroy();
}
