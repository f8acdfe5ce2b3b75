import { join } from 'node:path';
import { createClient } from 'graphql-ws';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { WebSocket } from 'ws';
import type { Running } from '../../runtime/core/index.ts';
import { createDatabase } from '../engines/available.ts';
import { databases } from '../graphql/harness.ts';
import {
  families,
  folderOfFigures,
  post,
  query,
  scrape,
  startFigures,
  TRUSTED,
  valueOf,
  type Parsed,
} from './figures.ts';

// Acceptance 10 of "GraphQL, part two": a real parser scrapes, and 10,000 unknown operation names leave 201 series.

const folder = folderOfFigures();

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
  ['database_connections', 'GAUGE', ['address', 'state']],
  ['database_waiting', 'GAUGE', []],
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
    let url = `file:${join(folder.path, 'page.db')}`;
    if (database === 'postgres') ({ url, drop } = await createDatabase());
    server = await startFigures(folder, { url });
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
    expect(found.get('database_connections')!.metrics.map(({ labels }) => labels)).toEqual([
      { address: 'primary', state: 'used' },
      { address: 'primary', state: 'idle' },
    ]);
    expect(found.get('database_waiting')!.metrics).toMatchObject([{ value: '0' }]);
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
    });
});
