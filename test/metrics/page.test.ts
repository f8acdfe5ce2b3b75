import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer as createHttp } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { createClient } from 'graphql-ws';
import parsePrometheus from 'parse-prometheus-text-format';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { WebSocket } from 'ws';
import { createServer, defineApp, type Running } from '../../runtime/core/index.ts';
import { auth } from '../../runtime/auth/index.ts';
import { createDatabase } from '../engines/available.ts';
import { databases, projectOf } from '../graphql/harness.ts';
import { end, run } from '../server/program.ts';

// Acceptance 10 of "GraphQL, part two": a real parser scrapes, and 10,000 unknown operation names leave 201 series.

const TOKEN = 'a-token-of-prometheus';
const KEY = 'k'.repeat(32);
const SDL = `
  type User { id: ID! email: String! }
  type Note @auth(allow: [PUBLIC]) { id: ID! text: String! }
  type Query { notes: [Note!]! note(id: ID!): Note bug: String }
  type Mutation { createNote(text: String!): Note! }
  type Subscription { noteCreated: Note! }
`;
const MANIFEST = `name: figures
auth: {}
api: { rest: true, access: public, limits: { batch: 500 }, trusted_documents: { file: listed.json, required: false } }
observability: { metrics: true }
`;
const TRUSTED = 'query Trusted { notes { id } }';

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'figures-'));
  writeFileSync(join(folder, 'listed.json'), JSON.stringify([TRUSTED]));
});
afterAll(() => rmSync(folder, { recursive: true }));

interface StartOptions {
  readonly manifest?: string;
  readonly url?: string;
  readonly env?: Record<string, string>;
  readonly capabilities?: boolean;
}

function start({ manifest = MANIFEST, url = ':memory:', env, capabilities = true }: StartOptions) {
  return createServer(
    defineApp({
      project: projectOf(SDL, manifest),
      root: pathToFileURL(`${folder}/`),
      capabilities: capabilities ? [auth()] : [],
      resolvers: {
        Query: {
          bug: () => {
            throw new RangeError('a secret');
          },
        },
      },
      jobs: { mail: { run: () => {} } },
      routes: (router) => void router.get('/hello/:name', () => ({ hello: true })),
    }),
  ).start('127.0.0.1:0', {
    env: {
      DATABASE_URL: url,
      METRICS_TOKEN: TOKEN,
      API_KEY: KEY,
      JWT_SECRET: 's'.repeat(40),
      RATE_LIMIT_ENABLED: 'false',
      ...env,
    },
    logTo: { write: () => {} },
  });
}

const bearer = (token: string) => ({ authorization: `Bearer ${token}` });

async function scrape(
  url: string,
  headers: Record<string, string> = bearer(TOKEN),
  path = '/metrics',
) {
  const response = await fetch(url + path, { headers });
  const text = await response.text();
  return { status: response.status, type: response.headers.get('content-type'), text };
}

interface Parsed {
  readonly name: string;
  readonly type: string;
  readonly metrics: readonly {
    readonly labels?: Record<string, string>;
    readonly value?: string;
    readonly buckets?: Record<string, string>;
    readonly count?: string;
    readonly sum?: string;
  }[];
}

/** The families of a page, as a parser of Prometheus' format reads them. */
async function families(
  url: string,
  headers?: Record<string, string>,
): Promise<Map<string, Parsed>> {
  const { status, text } = await scrape(url, headers);
  expect(status).toBe(200);
  const parsed = parsePrometheus(text) as readonly Parsed[];
  return new Map(parsed.map((family) => [family.name, family]));
}

async function valueOf(url: string, name: string, labels: Record<string, string> = {}) {
  const found = (await families(url))
    .get(name)
    ?.metrics.filter((each) =>
      Object.entries(labels).every(([label, value]) => each.labels?.[label] === value),
    );
  return found?.reduce((sum, { value, count }) => sum + Number(value ?? count), 0);
}

/** On a connection of its own, so that any of several workers may answer. */
const post = (url: string, body: unknown) =>
  fetch(`${url}/graphql`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', connection: 'close' },
    body: JSON.stringify(body),
    signal: AbortSignal.timeout(5000),
  }).then((response) => response.json() as Promise<any>);

const query = (url: string, text: string, more: Record<string, unknown> = {}) =>
  post(url, { query: text, ...more });

/** The table of the contract: each family with its labels and its type. */
const FAMILIES: readonly [name: string, type: string, labels: readonly string[]][] = [
  ['http_requests_total', 'COUNTER', ['route', 'method', 'status']],
  ['http_request_duration_seconds', 'HISTOGRAM', ['route', 'method', 'status']],
  ['graphql_operations_total', 'COUNTER', ['name', 'type', 'outcome']],
  ['graphql_operation_duration_seconds', 'HISTOGRAM', ['name', 'type', 'outcome']],
  ['graphql_refusals_total', 'COUNTER', ['code']],
  ['graphql_subscriptions', 'GAUGE', ['transport']],
  ['db_statements_total', 'COUNTER', ['kind']],
  ['db_statement_duration_seconds', 'HISTOGRAM', ['kind']],
  ['db_connections', 'GAUGE', ['state']],
  ['jobs', 'GAUGE', ['name', 'state']],
  ['auth_attempts_total', 'COUNTER', ['outcome']],
  ['auth_sessions', 'GAUGE', []],
  ['process_cpu_seconds_total', 'COUNTER', []],
  ['process_resident_memory_bytes', 'GAUGE', []],
  ['nodejs_eventloop_delay_seconds', 'GAUGE', []],
];

describe.each(databases)('the page of figures on %s', (database) => {
  let server: Running;
  let drop = async () => {};
  beforeAll(async () => {
    let url = `file:${join(folder, 'page.db')}`;
    if (database === 'postgres') ({ url, drop } = await createDatabase());
    server = await start({ url });
  });
  afterAll(async () => {
    await server.close();
    await drop();
  });

  it('has every family of the table, with its labels and its type', async () => {
    await query(server.url, 'query First { notes { id } }');
    await query(server.url, '{');
    await query(server.url, 'mutation Make { createNote(text: "x") { id } }');
    const post = { method: 'POST', headers: { 'content-type': 'application/json' } };
    const registered = await fetch(`${server.url}/api/auth/register`, {
      ...post,
      body: JSON.stringify({ email: 'a@example.com', password: 'correct horse battery' }),
    });
    expect(registered.status).toBe(201);
    await fetch(`${server.url}/api/auth/login`, {
      ...post,
      body: JSON.stringify({ email: 'a@example.com', password: 'wrong' }),
    });
    const client = createClient({
      url: `${server.url.replace('http', 'ws')}/graphql`,
      webSocketImpl: WebSocket,
    });
    client.subscribe(
      { query: 'subscription Told { noteCreated { id } }' },
      { next: () => {}, error: () => {}, complete: () => {} },
    );
    await vi.waitFor(async () =>
      expect(await valueOf(server.url, 'graphql_subscriptions', { transport: 'websocket' })).toBe(
        1,
      ),
    );
    const found = await families(server.url);
    const { text } = await scrape(server.url);
    // The parser drops the labels of histograms, so they are read from the line of the count.
    const labelsOf = ({ name, type, metrics }: Parsed) =>
      type === 'HISTOGRAM'
        ? [...new RegExp(`^${name}_count{(.*)}`, 'm').exec(text)![1]!.matchAll(/(\w+)="/g)].map(
            ([, each]) => each,
          )
        : Object.keys(metrics[0]?.labels ?? {});
    expect(
      [...found.values()].map((family) => [family.name, family.type, labelsOf(family)]).toSorted(),
    ).toEqual(FAMILIES.toSorted());
    await client.dispose();
    await vi.waitFor(async () =>
      expect(await valueOf(server.url, 'graphql_subscriptions')).toBe(0),
    );
  });

  it('counts requests by the pattern of their route', async () => {
    const { url } = server;
    const count = (route: string, status: number, method = 'GET') =>
      valueOf(url, 'http_requests_total', { route, method, status: String(status) });
    for (const path of [
      '/hello/a',
      '/hello/b',
      '/api/notes',
      '/api/notes/1',
      '/api/notes/77',
      '/nowhere',
      '/also/nowhere',
      '/api/health',
    ])
      await (await fetch(url + path)).text();
    await fetch(`${url}/api/notes`, { headers: { 'x-api-key': 'wrong' } });
    expect(await count('/hello/:name', 200)).toBe(2);
    expect(await count('/api/notes', 200)).toBe(1);
    expect(await count('/api/notes/:id', 200)).toBe(1);
    expect(await count('/api/notes/:id', 404)).toBe(1);
    expect(await count('other', 404)).toBe(2);
    expect(await count('/api/health', 200)).toBe(1);
    expect(await count('/graphql', 200, 'POST')).toBeGreaterThan(0);
    const { text } = await scrape(url);
    const own = text
      .split('\n')
      .filter((line) => line.includes('_seconds') && line.includes('/hello/:name'));
    const counts = own.flatMap((line) =>
      / le="|,le="/.test(line) ? Number(line.split(' ').at(-1)) : [],
    );
    expect([counts.length, counts.at(-1), counts.toSorted((a, b) => a - b)]).toEqual([
      15,
      2,
      counts,
    ]);
    expect(own.at(-1)).toMatch(/^http_request_duration_seconds_count{.*} 2$/);
    // The opening request of a socket runs through all middleware, and is none of a client.
    expect(await count('/graphql', 204)).toBe(0);
  });

  it('counts operations by outcome, and refusals by code', async () => {
    const { url } = server;
    const before = (await valueOf(url, 'graphql_refusals_total')) ?? 0;
    await query(url, 'query Broken { bug }');
    await query(url, 'query Deep { notes { nope } }');
    await query(url, 'query Typed ($id: ID!) { note(id: $id) { id } }', { variables: {} });
    const of = (name: string, outcome: string) =>
      valueOf(url, 'graphql_operations_total', { name, outcome });
    expect(await of('Broken', 'error')).toBe(1);
    expect(await of('Deep', 'refused')).toBe(0);
    expect(await of('Typed', 'refused')).toBe(1);
    expect(
      await valueOf(url, 'graphql_refusals_total', { code: 'GRAPHQL_VALIDATION_FAILED' }),
    ).toBe(1);
    expect(await valueOf(url, 'graphql_refusals_total')).toBe(before + 2);
  });

  it('counts statements, connections, jobs, attempts and sessions', async () => {
    const { url } = server;
    const reads = (await valueOf(url, 'db_statements_total', { kind: 'read' }))!;
    for (let left = 3; left > 0; left -= 1)
      await query(url, `query R${left} { note(id: 1) { id } }`);
    expect(await valueOf(url, 'db_statements_total', { kind: 'read' })).toBeGreaterThanOrEqual(
      reads + 3,
    );
    const writes = (await valueOf(url, 'db_statements_total', { kind: 'write' }))!;
    await query(url, 'mutation Make { createNote(text: "y") { id } }');
    expect(await valueOf(url, 'db_statements_total', { kind: 'write' })).toBeGreaterThan(writes);
    const found = await families(url);
    expect(found.get('db_connections')!.metrics.map(({ labels }) => labels!['state'])).toEqual([
      'used',
      'idle',
      'waiting',
    ]);
    expect(found.get('jobs')!.metrics[0]).toEqual({
      labels: { name: 'mail', state: 'waiting' },
      value: '0',
    });
    // A wrong password, and a wrong key.
    expect(await valueOf(url, 'auth_attempts_total', { outcome: 'failure' })).toBe(2);
    expect(await valueOf(url, 'auth_sessions')).toBe(1);
    expect(await valueOf(url, 'process_resident_memory_bytes')).toBeGreaterThan(10_000_000);
    expect(await valueOf(url, 'process_cpu_seconds_total')).toBeGreaterThan(0.1);
  });

  // The names are kept in memory, whatever the database is.
  if (database === 'sqlite')
    it('has 201 names after 10,000 that clients invented, and that of each trusted document', async () => {
      const { url } = server;
      for (let at = 0; at < 10_000; at += 500)
        await post(
          url,
          Array.from({ length: 500 }, (_, more) => ({
            query: `query N${at + more} { __typename }`,
          })),
        );
      await query(url, TRUSTED);
      const { metrics } = (await families(url)).get('graphql_operations_total')!;
      const names = new Set(metrics.map(({ labels }) => labels!['name']));
      expect(names.has('Trusted')).toBe(true);
      names.delete('Trusted');
      expect([names.size, names.has('other')]).toEqual([201, true]);
    }, 120_000);
});

describe('who may read the page', () => {
  it('is whoever has the token, or an API key with the scope; nobody else, from loopback neither', async () => {
    const server = await start({});
    try {
      const { url } = server;
      const made = async (scopes: string[]) => {
        const response = await fetch(`${url}/api/auth/admin/api-keys`, {
          method: 'POST',
          headers: { 'content-type': 'application/json', 'x-api-key': KEY },
          body: JSON.stringify({ name: 'prometheus', scopes }),
        });
        return ((await response.json()) as any).key;
      };
      const good = await made(['metrics:read']);
      const status = async (headers: Record<string, string>) => (await scrape(url, headers)).status;
      expect(await status(bearer(TOKEN))).toBe(200);
      expect(await status({ 'x-api-key': good })).toBe(200);
      expect(await status({ 'x-api-key': await made(['*:read']) })).toBe(200);
      expect(await status({ 'x-api-key': await made(['notes:read', 'system:read']) })).toBe(401);
      for (const headers of [
        {},
        bearer(`${TOKEN}x`),
        bearer('short'),
        { 'x-api-key': TOKEN },
        { authorization: TOKEN },
      ])
        expect([headers, await status(headers as never)]).toEqual([headers, 401]);
      const { type } = await scrape(url);
      expect(type).toBe('text/plain; version=0.0.4; charset=utf-8');
      const posted = await fetch(`${url}/metrics`, { method: 'POST', headers: bearer(TOKEN) });
      expect(posted.status).toBe(401);
    } finally {
      await server.close();
    }
  });

  it('is nobody when it is off: 404', async () => {
    const server = await start({ manifest: 'name: figures\nauth: {}\n' });
    try {
      expect((await scrape(server.url, {})).status).toBe(404);
      expect((await scrape(server.url, { 'x-api-key': KEY })).status).toBe(404);
    } finally {
      await server.close();
    }
  });

  it('has to be possible: the start names both ways', async () => {
    const manifest = 'name: figures\nobservability: { metrics: true }\n';
    const without = { manifest, capabilities: false };
    const failed = async (options: StartOptions) =>
      String(await start(options).catch((error) => error));
    expect(await failed({ ...without, env: { METRICS_TOKEN: '' } })).toMatch(
      /METRICS_TOKEN .*auth: .*metrics:read/,
    );
    expect(await failed({ env: { METRICS_TOKEN: 'short' } })).toContain(
      'METRICS_TOKEN must have at least 16 characters',
    );
    const server = await start(without);
    expect((await scrape(server.url)).status).toBe(200);
    await server.close();
  });
});

it('stands alone on its port, on loopback', async () => {
  const port = await freePort();
  const server = await start({
    manifest: `name: figures\nauth: {}\nobservability: { metrics: { path: /figures, port: ${port} } }\n`,
  });
  try {
    const own = `http://127.0.0.1:${port}`;
    expect((await scrape(server.url, bearer(TOKEN), '/figures')).status).toBe(401);
    expect((await scrape(server.url, { 'x-api-key': KEY }, '/figures')).status).toBe(404);
    expect((await scrape(own, bearer(TOKEN), '/figures')).status).toBe(200);
    expect((await scrape(own, { 'x-api-key': KEY }, '/figures')).status).toBe(200);
    expect((await scrape(own, {}, '/figures')).status).toBe(401);
    expect((await scrape(own, bearer(TOKEN), '/metrics')).status).toBe(401);
    expect((await scrape(own, {}, '/api/health')).status).toBe(404);
  } finally {
    await server.close();
  }
});

it('sums all workers, and what one had counted that ended stays', async () => {
  const program = run(
    `import { createServer } from '@twofold/runtime';
     import { pid } from 'node:process';
     await createServer().schema('type Query { pid: Int! }', 'name: many\\nobservability: { metrics: true }')
       .plugin({ name: 'pid', resolvers: { Query: { pid: () => pid } } }).serve('127.0.0.1:0');`,
    { WORKERS: '2', DATABASE_URL: 'file:many.db', METRICS_TOKEN: TOKEN, LOG_LEVEL: 'info' },
  );
  try {
    const url = await program.listening;
    const seen = new Map<number, number>();
    const ask = async () => {
      const { data } = await query(url, 'query Pid { pid }');
      seen.set(data.pid, (seen.get(data.pid) ?? 0) + 1);
    };
    const asked = () => [...seen.values()].reduce((sum, count) => sum + count, 0);
    const counted = () => valueOf(url, 'graphql_operations_total', { name: 'Pid' });
    await vi.waitFor(async () => {
      await ask();
      expect(seen.size).toBe(2);
    }, 20_000);
    const began = performance.now();
    for (let left = 10; left > 0; left -= 1)
      expect([await ask(), await counted()]).toEqual([undefined, asked()]);
    // A worker that ends within five seconds of its start ends the server.
    await new Promise((resolve) => setTimeout(resolve, began + 5500 - performance.now()));
    process.kill([...seen.keys()][0]!, 'SIGKILL');
    await new Promise((resolve) => setTimeout(resolve, 200));
    await vi.waitFor(async () => {
      await ask();
      expect(seen.size).toBe(3);
    }, 30_000);
    expect(await counted()).toBe(asked());
  } finally {
    await end(program);
  }
}, 60_000);

async function freePort(): Promise<number> {
  const server = createHttp();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}
