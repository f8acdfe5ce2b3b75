import { fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { Agent, request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/**
 * What own code costs, as ratios: the two sides take turns in one run, so that a busy machine slows
 * both. `--baseline DIR` also compares a project without own code with an older checkout.
 *
 * npm run bench:own-code -- [--rounds 15] [--baseline DIR]
 */
const option = (name: string) => {
  const at = process.argv.indexOf(`--${name}`);
  return at < 0 ? undefined : process.argv[at + 1];
};
const ROUNDS = Number(option('rounds') ?? 15);
const REQUESTS = 400;
/** The inferred creates of clients at the same time share a commit; one client's cannot. */
const CLIENTS = 8;

interface Served {
  readonly port: number;
  close(): void;
}

/** Starts the server of a checkout in a process of its own. */
async function serve(root: string): Promise<Served> {
  const folder = mkdtempSync(join(tmpdir(), 'twofold-own-code-'));
  const child = fork(join(import.meta.dirname, 'own-code-server.ts'), [], {
    env: { ...process.env, TWOFOLD_ROOT: root, DATABASE_URL: `file:${join(folder, 'app.db')}` },
    cwd: folder,
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  });
  const [port] = (await once(child, 'message')) as [number];
  return {
    port,
    close: () => {
      child.kill();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

const agent = new Agent({ keepAlive: true, maxSockets: CLIENTS });

function post(port: number, body: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const headers = { 'Content-Type': 'application/json', 'Content-Length': body.length };
    const sent = request(
      { port, host: '127.0.0.1', path: '/graphql', method: 'POST', agent, headers },
      (answer) => {
        let text = '';
        answer.setEncoding('utf8').on('data', (part) => (text += part));
        answer.on('end', () => resolve(text));
      },
    );
    sent.on('error', reject).end(body);
  });
}

let made = 0;

/** Milliseconds of one block of requests. */
async function block(port: number, query: string, clients: number): Promise<number> {
  const since = performance.now();
  const client = async () => {
    for (let left = REQUESTS / clients; left > 0; left -= 1) {
      const variables = { title: `title ${(made += 1)}` };
      const text = await post(port, JSON.stringify({ query, variables }));
      if (text.includes('"errors"')) throw new Error(text);
    }
  };
  await Promise.all(Array.from({ length: clients }, client));
  return performance.now() - since;
}

interface Side {
  readonly port: number;
  readonly query: string;
}

/** The median of the ratios of neighbouring blocks. */
async function ratio(one: Side, other: Side, clients = CLIENTS): Promise<number> {
  const ratios: number[] = [];
  for (let round = -3; round < ROUNDS; round += 1) {
    const first = await block(one.port, one.query, clients);
    const second = await block(other.port, other.query, clients);
    const third = await block(one.port, one.query, clients);
    if (round >= 0) ratios.push(second / ((first + third) / 2));
  }
  return ratios.sort((a, b) => a - b)[Math.floor(ratios.length / 2)]!;
}

const create = (field: string) =>
  `mutation ($title: String!) { ${field}(title: $title) { id title } }`;
const QUERY = '{ note(id: 1) { id title } }';

function report(what: string, measured: number, most: number): void {
  console.log(`${measured.toFixed(3)}  (at most ${most})  ${what}`);
}

const here = join(import.meta.dirname, '../..');
const server = await serve(here);
const baseline = option('baseline');
try {
  const { port } = server;
  const inferred = { port, query: create('createNote') };
  const own = { port, query: create('ownNote') };
  for (const clients of [1, CLIENTS])
    report(
      `a function of Mutation with one ctx.data create / the inferred mutation, ${clients} at a time`,
      await ratio(inferred, own, clients),
      1.5,
    );
  if (baseline) {
    const old = await serve(baseline);
    try {
      const before = { port: old.port, query: create('createNote') };
      report('create without own code / the baseline', await ratio(before, inferred), 1.02);
      const asked = { port: old.port, query: QUERY };
      report(
        'query without own code / the baseline',
        await ratio(asked, { port, query: QUERY }),
        1.02,
      );
    } finally {
      old.close();
    }
  }
} finally {
  server.close();
  agent.destroy();
}
