import http from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { createClient } from 'graphql-ws';
import { afterEach, describe, expect, it } from 'vitest';
import { WebSocket } from 'ws';
import { changesOf } from '../../runtime/core/data/changes/changes.ts';
import { createRest } from '../../runtime/core/rest/index.ts';
import { databases, startServer, type TestOptions, type TestServer } from './harness.ts';

const SDL = `
  type Author { id: ID! name: String! patient: String @computed }
  type Query { authors: [Author!]! author(id: ID!): Author wait: String ask: String later: String never: String }
  type Mutation { createAuthor(name: String!): Author! waitFirst: String updateAuthor(id: ID!, name: String!): Author }
  type Subscription { authorCreated: Author! ticks: Int! stuck: String }
`;

/** What a test's functions were told. */
interface Seen {
  readonly began: string[];
  readonly aborted: unknown[];
  readonly ended: string[];
}

let server: TestServer;
let seen: Seen;
afterEach(() => server?.close());

/** Waits for the signal and nothing else. */
const untilAborted =
  (name: string, told = seen) =>
  (_: unknown, __: unknown, { signal }: { signal: AbortSignal }) =>
    new Promise<string>((resolve) => {
      told.began.push(name);
      const done = () => {
        told.aborted.push(signal.reason);
        resolve('too late');
      };
      if (signal.aborted) done();
      else signal.addEventListener('abort', done, { once: true });
    });

async function start({
  time = 30_000,
  ...options
}: TestOptions & { readonly time?: number } = {}): Promise<void> {
  seen = { began: [], aborted: [], ended: [] };
  const resolvers = {
    Author: { patient: untilAborted('patient') },
    Query: {
      wait: untilAborted('wait'),
      ask: async (_: unknown, __: unknown, ___: unknown, info: { getAbortSignal(): AbortSignal }) =>
        untilAborted('ask')(_, __, { signal: info.getAbortSignal() }),
      later: async (_: unknown, __: unknown, context: { signal: AbortSignal }) => {
        seen.began.push('later');
        await sleep(150);
        return untilAborted('later')(_, __, context);
      },
    },
    Mutation: { waitFirst: untilAborted('waitFirst') },
    Subscription: {
      ticks: {
        subscribe: async function* (_: unknown, __: unknown, context: { signal: AbortSignal }) {
          try {
            yield 1;
            await untilAborted('ticks')(_, __, context);
          } finally {
            seen.ended.push('ticks');
          }
        },
        resolve: (tick: unknown) => tick,
      },
      stuck: {
        subscribe: async function* () {
          yield 1;
          yield 2;
        },
        resolve: (_: unknown, __: unknown, context: { signal: AbortSignal }) =>
          untilAborted('stuck')(_, __, context),
      },
    },
  };
  const change: TestOptions['change'] = (project) => ({
    ...project,
    api: { ...project.api, rest: true, limits: { ...project.api.limits, time, batch: 5 } },
  });
  server = await startServer(SDL, { resolvers, change, ...options });
}

async function until(holds: () => boolean): Promise<void> {
  while (!holds()) await sleep(10);
}

const names = (errors: readonly unknown[]) => errors.map((error) => (error as DOMException).name);

/** A client that leaves as soon as `when` says so. */
async function leave(body: object, when: () => boolean, path = '/graphql'): Promise<void> {
  const abort = new AbortController();
  const asked = fetch(server.url + path, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
    signal: abort.signal,
  }).catch(() => {});
  await until(when);
  abort.abort();
  await asked;
}

const complaints = () => server.lines.filter((line) => JSON.parse(line).level >= 50);

describe('the time limit', () => {
  it('aborts the signal of the functions that still work, and those below are not begun', async () => {
    await start({ time: 100 });
    await server.store.db
      .insertInto('authors')
      .values([{ name: 'Ada' }])
      .execute();
    const { errors } = await server.query('{ wait ask }');
    expect(errors?.[0]).toMatchObject({
      message: 'the operation took longer than 100 ms',
      extensions: { code: 'TIMEOUT', limit: 100 },
    });
    await until(() => seen.aborted.length === 2);
    expect(names(seen.aborted)).toEqual(['TimeoutError', 'TimeoutError']);
    expect(complaints()).toEqual([]);
  });

  it('lets no mutation go on that waits behind the one that took too long', async () => {
    await start({ time: 100 });
    const { errors } = await server.query(
      'mutation { waitFirst createAuthor(name: "late") { id } }',
    );
    expect(errors?.[0]?.extensions.code).toBe('TIMEOUT');
    await until(() => seen.aborted.length === 1);
    await sleep(50);
    expect(await server.store.db.selectFrom('authors').selectAll().execute()).toEqual([]);
  });

  it('is that of each operation of a batch', async () => {
    await start({ time: 100 });
    const { body } = await server.call('POST', '/graphql', {
      body: [
        { query: '{ wait }' },
        { query: '{ authors { id } }' },
        { query: 'mutation { createAuthor(name: "Ada") { id } }' },
      ],
    });
    expect(body).toMatchObject([
      { errors: [{ extensions: { code: 'TIMEOUT' } }] },
      { data: { authors: [] } },
      { data: { createAuthor: { id: '1' } } },
    ]);
  });

  it('is that of each event', async () => {
    await start({ time: 100 });
    const response = await fetch(`${server.url}/graphql`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', accept: 'text/event-stream' },
      body: JSON.stringify({ query: 'subscription { stuck }' }),
    });
    const events = [...(await response.text()).matchAll(/^data: (\{.*)$/gm)].map(([, data]) =>
      JSON.parse(data!),
    );
    expect(events).toMatchObject([
      { errors: [{ extensions: { code: 'TIMEOUT' } }] },
      { errors: [{ extensions: { code: 'TIMEOUT' } }] },
    ]);
    expect(names(seen.aborted)).toEqual(['TimeoutError', 'TimeoutError']);
  });

  it('holds for REST too', async () => {
    await start({
      time: 100,
      also: (kernel, { service: { engine } }) => createRest({ kernel, engine }),
    });
    await server.store.db
      .insertInto('authors')
      .values([{ name: 'Ada' }])
      .execute();
    expect(await server.call('GET', '/api/authors/1')).toMatchObject({
      status: 503,
      body: { error: 'the request took longer than 100 ms' },
    });
    await until(() => seen.aborted.length === 1);
    expect(names(seen.aborted)).toEqual(['TimeoutError']);
  });

  it.each(databases)(
    'leaves nothing of a mutation that was told to have taken too long, on %s',
    async (database) => {
      await start({ time: 200, database });
      await server.store.db
        .insertInto('authors')
        .values([{ name: 'Ada' }])
        .execute();
      const [kept, released] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
      const other = server.store.transaction(async (trx) => {
        await trx.updateTable('authors').set({ name: 'Eve' }).execute();
        kept.resolve();
        await released.promise;
      });
      await kept.promise;
      const { errors } = await server.query(
        'mutation { updateAuthor(id: 1, name: "late") { id } }',
      );
      expect(errors?.[0]?.extensions.code).toBe('TIMEOUT');
      released.resolve();
      await other;
      await sleep(100);
      expect(await server.store.db.selectFrom('authors').select('name').execute()).toEqual([
        { name: 'Eve' },
      ]);
      expect(
        await server.query('mutation { updateAuthor(id: 1, name: "in time") { name } }'),
      ).toEqual({ data: { updateAuthor: { name: 'in time' } } });
    },
  );
});

describe('a client that goes away', () => {
  it('aborts the signal, and nobody complains', async () => {
    await start();
    await leave({ query: '{ wait ask }' }, () => seen.began.length === 2);
    await until(() => seen.aborted.length === 2);
    expect(names(seen.aborted)).toEqual(['AbortError', 'AbortError']);
    await sleep(50);
    expect(complaints()).toEqual([]);
  });

  it('is known to a function that asks for the signal when it is gone', async () => {
    await start();
    await leave({ query: '{ later }' }, () => seen.began.length === 1);
    await until(() => seen.aborted.length === 1);
    expect(names(seen.aborted)).toEqual(['AbortError']);
  });

  it('has no further mutation done for it', async () => {
    await start();
    await leave(
      { query: 'mutation { waitFirst createAuthor(name: "unwanted") { id } }' },
      () => seen.began.length === 1,
    );
    await until(() => seen.aborted.length === 1);
    await sleep(50);
    expect(await server.store.db.selectFrom('authors').selectAll().execute()).toEqual([]);
  });

  it('has no further function called for it', async () => {
    await start();
    await server.store.db
      .insertInto('authors')
      .values([{ name: 'Ada' }])
      .execute();
    await leave({ query: '{ author(id: 1) { patient } }' }, () => seen.began.length === 1);
    await until(() => seen.aborted.length === 1);
    expect(seen.began).toEqual(['patient']);
  });

  it('leaves the others alone', async () => {
    await start();
    const staying = server.query('{ authors { id } never }');
    await leave({ query: '{ wait }' }, () => seen.began.length === 1);
    expect((await staying).data).toEqual({ authors: [], never: null });
  });
});

describe('a subscription that was ended', () => {
  /** How many listen for changes now. */
  function listeners(): () => number {
    const changes = changesOf(server.store) as {
      subscribe: ReturnType<typeof changesOf>['subscribe'];
    };
    const subscribe = changes.subscribe.bind(changes);
    let count = 0;
    changes.subscribe = (listener) => {
      const stop = subscribe(listener);
      count += 1;
      return () => void (stop(), (count -= 1));
    };
    return () => count;
  }

  it('is let go at once over a socket, whatever else the socket carries', async () => {
    await start();
    const listening = listeners();
    const client = createClient({
      url: `${server.url.replace('http', 'ws')}/graphql`,
      webSocketImpl: WebSocket,
      lazy: false,
      retryAttempts: 0,
    });
    const sink = { next: () => {}, error: () => {}, complete: () => {} };
    const stops = [1, 2, 3].map(() =>
      client.subscribe({ query: 'subscription { authorCreated { id } }' }, sink),
    );
    const stopTicks = client.subscribe({ query: 'subscription { ticks }' }, sink);
    const stopWait = client.subscribe({ query: '{ wait }' }, sink);
    await until(() => listening() === 3 && seen.began.length === 2);
    stops[0]?.();
    await until(() => listening() === 2);
    stopTicks();
    stopWait();
    await until(() => seen.aborted.length === 2 && seen.ended.length === 1);
    await client.dispose();
    await until(() => listening() === 0);
    expect(complaints()).toEqual([]);
  });

  it('is let go at once over server-sent events', async () => {
    await start();
    const listening = listeners();
    const request = http.request(`${server.url}/graphql`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', accept: 'text/event-stream' },
    });
    request.on('error', () => {});
    request.end(JSON.stringify({ query: 'subscription { authorCreated { id } }' }));
    await until(() => listening() === 1);
    request.destroy();
    await until(() => listening() === 0);
  });
});
