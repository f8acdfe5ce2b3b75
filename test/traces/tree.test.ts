import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createClient } from 'graphql-ws';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { WebSocket } from 'ws';
import { withoutLiterals } from '../../runtime/core/traces/otel.ts';
import { createDatabase } from '../engines/available.ts';
import { databases } from '../graphql/harness.ts';
import { end, query, run, type Program } from '../server/program.ts';
import { type Collected, type Collector, startCollector } from './collector.ts';
import { program } from './program.ts';

// Acceptance 10 of "GraphQL, part two": a collector receives the tree of traces.

/** A span with those below it, by their names. */
interface Tree {
  readonly [name: string]: Tree;
}

describe.each(databases)('the spans of a server on %s', (database) => {
  let collector: Collector;
  let server: Program;
  let url: string;
  let drop = async () => {};
  let address = `file:${join(mkdtempSync(join(tmpdir(), 'traced-')), 'traced.db')}`;
  beforeAll(async () => {
    collector = await startCollector();
    if (database === 'postgres') ({ url: address, drop } = await createDatabase());
    server = run(program({ traces: true, collector: collector.url }), {
      DATABASE_URL: address,
      LOG_LEVEL: 'info',
    });
    url = await server.listening;
  });
  afterAll(async () => {
    await end(server);
    await collector.close();
    await drop();
  });

  const TRACE = () =>
    [...crypto.getRandomValues(new Uint8Array(16))]
      .map((byte) => byte.toString(16).padStart(2, '0'))
      .join('');
  const PARENT = '00f067aa0ba902b7';

  /**
   * Asks as a part of a trace, and waits for the spans of that trace. Each is sent on its own, so a job
   * may be heard of before the request that sent it.
   */
  async function traced(text: string, variables = {}, last = 'POST /graphql') {
    const traceId = TRACE();
    const answer = await query(url, text, variables, {
      traceparent: `00-${traceId}-${PARENT}-01`,
      authorization: 'Bearer credential-secret',
    });
    const own = () => collector.spans.filter((span) => span.traceId === traceId);
    const names = [last, 'POST /graphql'];
    await vi.waitFor(
      () => expect(own().map(({ name }) => name)).toEqual(expect.arrayContaining(names)),
      10_000,
    );
    return { traceId, answer, spans: own() };
  }

  const below = (spans: readonly Collected[], parent: string): Tree =>
    Object.fromEntries(
      spans
        .filter(({ parentSpanId }) => parentSpanId === parent)
        .map(({ name, spanId }) => [name, below(spans, spanId)]),
    );

  const spanOf = (spans: readonly Collected[], name: string) =>
    spans.find((span) => span.name === name)!;

  it('are a tree: request, operation, function and statement, below the caller of traceparent', async () => {
    await query(url, 'mutation { createNote(text: "a") { id } }');
    const { spans, answer } = await traced(
      'query Posts ($text: String!) { search(text: $text) { id shout } notes { id } }',
      { text: 'a' },
    );
    expect(answer.data.search).toEqual([{ id: '1', shout: 'A' }]);
    expect(below(spans, PARENT)).toEqual({
      'POST /graphql': {
        'query Posts': { 'Query.search': { SELECT: {} }, 'Note.shout': {}, SELECT: {} },
      },
    });
    expect(spanOf(spans, 'POST /graphql')).toMatchObject({
      kind: 2,
      attributes: { 'http.request.method': 'POST', 'http.route': '/graphql' },
    });
    expect(Number(spanOf(spans, 'POST /graphql').attributes['http.response.status_code'])).toBe(
      200,
    );
    expect(spanOf(spans, 'query Posts')).toMatchObject({
      kind: 1,
      attributes: { 'graphql.operation.name': 'Posts', 'graphql.operation.type': 'query' },
    });
    expect(spanOf(spans, 'Query.search').attributes).toEqual({
      'code.function.name': 'Query.search',
    });
    const { spanId } = spanOf(spans, 'Query.search');
    expect(spans.find(({ parentSpanId }) => parentSpanId === spanId)).toMatchObject({
      kind: 3,
      attributes: {
        'db.system.name': database === 'postgres' ? 'postgresql' : 'sqlite',
        'db.query.text': expect.stringMatching(/"text" = (\?|\$1)/),
      },
    });
    const [span] = spans;
    expect(Number((span as any).endTimeUnixNano)).toBeGreaterThanOrEqual(
      Number((span as any).startTimeUnixNano),
    );
  });

  it('go on in the job that a function sends, and write their ids into the log', async () => {
    const { spans, traceId } = await traced('mutation Mail { mail(to: "x") }', {}, 'job mail');
    const tree = below(spans, PARENT)['POST /graphql']!['mutation Mail']!['Mutation.mail']!;
    expect(Object.keys(tree)).toContain('job mail');
    expect(Object.keys(tree['job mail']!)).toContain('SELECT');
    expect(spanOf(spans, 'job mail').kind).toBe(5);
    const lines = () =>
      server
        .output()
        .split('\n')
        .filter((line) => line.startsWith('{') && line.endsWith('}'))
        .map((line) => JSON.parse(line));
    const isMailed = ({ msg, trace_id }: Record<string, unknown>) =>
      msg === 'mailed' && trace_id === traceId;
    // The server's log comes by another way than its spans.
    await vi.waitFor(() => expect(lines().some(isMailed)).toBe(true), { timeout: 15_000 });
    const mailed = lines().find(isMailed);
    expect(mailed.span_id).toBe(spanOf(spans, 'job mail').spanId);
    expect(lines().find(({ msg }) => msg === 'searching')).toMatchObject({
      trace_id: expect.stringMatching(/^[0-9a-f]{32}$/),
      span_id: expect.stringMatching(/^[0-9a-f]{16}$/),
    });
    expect(lines().find(({ msg }) => msg.startsWith('listening')).trace_id).toBeUndefined();
  });

  it('have the hooks of an entity and the functions of own routes', async () => {
    const { spans } = await traced('mutation Hooked { createNote(text: "h") { id } }');
    const tree = below(spans, PARENT)['POST /graphql']!['mutation Hooked']!;
    expect(Object.keys(tree)).toEqual(
      expect.arrayContaining(['Note.resolveInput', 'Note.afterOperation']),
    );
    const traceId = TRACE();
    const headers = { traceparent: `00-${traceId}-${PARENT}-01` };
    expect((await fetch(`${url}/api/notes/path-secret`, { headers })).status).toBe(200);
    const own = () => collector.spans.filter((span) => span.traceId === traceId);
    await vi.waitFor(() => expect(own()).toHaveLength(3), 10_000);
    const route = 'GET /api/notes/:id';
    expect(below(own(), PARENT)).toEqual({ [route]: { [route]: { SELECT: {} } } });
  });

  it('are joined in a job that another process runs', async () => {
    const other = run(program({ traces: true, collector: collector.url }), {
      DATABASE_URL: address,
      JOBS: 'off',
    });
    const place = await other.listening;
    const traceId = TRACE();
    await query(
      place,
      'mutation Far { mail(to: "x") }',
      {},
      {
        traceparent: `00-${traceId}-${PARENT}-01`,
      },
    );
    const own = () => collector.spans.filter((span) => span.traceId === traceId);
    const names = () => own().map(({ name }) => name);
    await vi.waitFor(
      () => expect(names()).toEqual(expect.arrayContaining(['job mail', 'POST /graphql'])),
      20_000,
    );
    const sent = below(own(), PARENT)['POST /graphql']!['mutation Far']!['Mutation.mail']!;
    expect(Object.keys(sent)).toContain('job mail');
    await end(other);
  });

  it('say that something failed: a masked error with its cause, others with their code', async () => {
    const { spans, answer } = await traced('query Broken { bug }');
    expect(answer.errors[0].message).toBe('Internal server error');
    for (const name of ['query Broken', 'Query.bug']) {
      const { status, events } = spanOf(spans, name);
      expect([name, status.code, status.message]).toEqual([name, 2, 'the cause of it']);
      expect(events[0]!.attributes).toMatchObject({
        'exception.type': 'RangeError',
        'exception.message': 'the cause of it',
      });
    }
    const { spans: refused } = await traced(
      'query Wrong ($id: ID!) { notes { id @include(if: $id) } }',
    );
    expect(Object.keys(below(refused, PARENT))).toEqual(['POST /graphql']);
  });

  it('hold no variable, no value, no credential and no literal of a document', async () => {
    await traced(
      'query Quiet ($text: String!) { search(text: $text) { text } raw aliased: search(text: "literal-secret") { id } }',
      { text: 'variable-secret' },
    );
    await traced('mutation Keep { createNote(text: "value-secret") { text } }');
    await fetch(`${url}/nowhere/path-secret?token=query-secret`);
    await vi.waitFor(() => {
      expect(collector.spans.some(({ name }) => name === 'GET')).toBe(true);
      expect(collector.text()).toContain('where text = ? and id > ?');
    }, 10_000);
    // As a word: the digits of a time or of an id may contain it.
    expect(collector.text()).not.toMatch(/[a-z]+-secret|raw-literal|\b4242\b/);
  });

  it('are those of an operation over a WebSocket too, and of each event', async () => {
    const client = createClient({
      url: `${url.replace('http', 'ws')}/graphql`,
      webSocketImpl: WebSocket,
    });
    const heard = new Promise((resolve, reject) =>
      client.subscribe(
        { query: 'subscription Told { noteCreated { id } }' },
        { next: resolve, error: reject, complete: () => {} },
      ),
    );
    for await (const _ of client.iterate({ query: 'query Socket { notes { id } }' }));
    await query(url, 'mutation { createNote(text: "b") { id } }');
    await heard;
    const named = (name: string) => collector.spans.find((span) => span.name === name)!;
    await vi.waitFor(() =>
      expect([named('query Socket'), named('subscription Told')]).not.toContain(undefined),
    );
    expect(named('query Socket').parentSpanId).toBeUndefined();
    const [event] = collector.spans.filter(({ name }) => name === 'subscription Told');
    expect(Object.keys(below(collector.spans, event!.spanId))).toEqual(['SELECT']);
    await client.dispose();
  });
});

it('needs no context manager of the project', async () => {
  const collector = await startCollector();
  const server = run(program({ traces: true, collector: collector.url, manager: false }), {
    DATABASE_URL: ':memory:',
  });
  try {
    await query(await server.listening, 'query Search { search(text: "x") { id } }');
    await vi.waitFor(() =>
      expect(collector.spans.map(({ name }) => name)).toContain('POST /graphql'),
    );
    const byName = new Map(collector.spans.map((span) => [span.name, span]));
    expect(byName.get('query Search')!.parentSpanId).toBe(byName.get('POST /graphql')!.spanId);
    expect(byName.get('Query.search')!.parentSpanId).toBe(byName.get('query Search')!.spanId);
  } finally {
    await end(server);
    await collector.close();
  }
});

it.each([
  ['off, beside a provider', false, true],
  ['on, without a provider', true, false],
])('makes no span and loads nothing when traces are %s', async (_, traces, registered) => {
  const collector = await startCollector();
  const server = run(program({ traces, ...(registered && { collector: collector.url }) }), {
    DATABASE_URL: ':memory:',
  });
  try {
    const { data } = await query(await server.listening, '{ loaded search(text: "x") { id } }');
    expect(data.loaded).toEqual([]);
    await new Promise((resolve) => setTimeout(resolve, 300));
    expect(collector.spans).toEqual([]);
  } finally {
    await end(server);
    await collector.close();
  }
});

it('shows statements without the values that are written into them', () => {
  expect(
    withoutLiterals(
      `select t1."a1", 'it''s' as x from t1 where id = 42 and b = $1 and c in (?, 1.5e3) and d = $tag$secret$tag$`,
    ),
  ).toBe('select t1."a1", ? as x from t1 where id = ? and b = $1 and c in (?, ?) and d = ?');
  const secrets = [
    `select 1 -- it's why\n from t where a = 'secret'`,
    `select /* don't */ a from t where a = 'secret'`,
    `select a from t where a = E'it\\'s secret'`,
    `select "it's" from t where a = 'secret'`,
    `select a from t -- a = 'secret'`,
  ];
  for (const sql of secrets) expect(withoutLiterals(sql), sql).not.toContain('secret');
  expect(withoutLiterals(secrets[3]!)).toBe(`select "it's" from t where a = ?`);
});
