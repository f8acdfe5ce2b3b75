import { once } from 'node:events';
import net from 'node:net';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { openStore } from '../../runtime/core/store/open-store.ts';
import { LargeText } from '../../runtime/core/store/large-text.ts';
import type { Store } from '../../runtime/core/store/store.ts';
import { databases, type TestDatabase } from './databases.ts';

const limits = { time: 60_000, result: 50_000_000, memory: 400_000_000 };
const found = databases.find(({ name }) => name === 'PostgreSQL');

const SOON = { timeout: 30_000 };

const ONE = 'select $1::text';
const PART = 'select (10 / $1::int)::text';
const SLEEP = 'select pg_sleep($1)::text || $2';
const REPEAT = `select repeat('é', $1::int)`;

describe.skipIf(found?.missing)('short statements of many requests', () => {
  let database: TestDatabase;
  let store: Store;

  beforeAll(async () => {
    database = await (found as NonNullable<typeof found>).create();
    ({ store } = database);
  });
  afterAll(async () => database.drop());

  const text = (
    sql: string,
    values: readonly unknown[],
    asker = { cancelled: false },
    on = store,
  ) =>
    on.answer({ text: sql }, values, {
      asker,
      sent: false,
      limits,
      large: true,
    }) as Promise<string>;

  /** Only a statement that was quick the last time shares a connection. */
  async function knowAsQuick(on = store): Promise<void> {
    const calls = [
      [ONE, ['a']],
      [PART, [1]],
      [SLEEP, [0, 'a']],
      [REPEAT, [1]],
    ] as const;
    for (const [sql, values] of calls)
      for (let quick = 0, since = 0; quick < 2; quick += performance.now() - since < 20 ? 1 : 0) {
        since = performance.now();
        await text(sql, values, undefined, on);
      }
  }

  /** The process that sleeps, if there is one. */
  async function sleeping(): Promise<unknown> {
    const sql = `select pid from pg_stat_activity
      where datname = current_database() and wait_event = 'PgSleep'`;
    return (await store.query(sql, []))[0]?.['pid'];
  }

  it('are all on their way before the first one is answered', async () => {
    const proxy = await holdingProxy(database.url);
    const behind = openStore(`${proxy.url}?sslmode=disable`, '.', { connections: 3 });
    try {
      await knowAsQuick(behind);
      proxy.holdUntil(50);
      const asked = Array.from({ length: 50 }, (_, index) => String(index));
      const answers = asked.map((each) => text(ONE, [each], undefined, behind));
      expect(await Promise.all(answers)).toEqual(asked);
      expect(proxy.connections()).toBeLessThanOrEqual(3);
    } finally {
      await behind.close();
      proxy.close();
    }
  });

  it('have their own answers, errors and large texts, in whatever order', async () => {
    await knowAsQuick();
    const calls = Array.from({ length: 300 }, (_, index) => index);
    const answers = await Promise.all(
      calls.map(async (index) => {
        if (index % 5 === 1) return text(PART, [0]).catch(({ code }) => code as string);
        if (index % 40 === 3) return text(REPEAT, [300_000 + index]);
        return text(ONE, [index]);
      }),
    );
    for (const index of calls) {
      const answer = answers[index] as string | LargeText;
      if (index % 5 === 1) expect(answer).toBe('22012');
      else if (index % 40 === 3) expect((answer as LargeText).bytes).toBe(2 * (300_000 + index));
      else expect(answer).toBe(String(index));
    }
  });

  it('share no name that failed', async () => {
    await store.query('create table named (id int)', []);
    const sql = 'select max(id)::text from named';
    for (const _ of [1, 2, 3]) await text(sql, []);
    await store.query('drop table named', []);
    const failed = Array.from({ length: 20 }, () => text(sql, []).catch(({ code }) => code));
    expect(new Set(await Promise.all(failed))).toEqual(new Set(['42P01']));
    await store.query('create table named (id int)', []);
    await store.query('insert into named values (7)', []);
    const answers = await Promise.all(Array.from({ length: 20 }, () => text(sql, [])));
    expect(new Set(answers)).toEqual(new Set(['7']));
  });

  it('are answered when one before them is cancelled, even if the request hits them', async () => {
    await knowAsQuick();
    const asker = { cancelled: false };
    const leaving = text(SLEEP, [600, 'never'], asker).catch((error) => error as Error);
    let done = false;
    const staying = text(SLEEP, [2, 'b']).finally(() => (done = true));
    const behind = Array.from({ length: 30 }, (_, index) => text(ONE, [index]));
    const shared = await vi.waitUntil(sleeping, SOON);
    asker.cancelled = true;
    expect(await leaving).toBeInstanceOf(Error);
    // The request of `leaving` may come again before `staying` sleeps: it has left the connection then.
    await vi.waitUntil(async () => done || (await sleeping()) === shared, SOON);
    await store.query('select pg_cancel_backend($1)', [shared]);
    expect(await staying).toBe('b');
    expect(await Promise.all(behind)).toEqual(behind.map((_, index) => String(index)));
  });

  it('are asked again when their connection is lost', async () => {
    await knowAsQuick();
    const all = [text(SLEEP, [1, 'a']), ...[0, 1, 2, 3, 4].map((index) => text(ONE, [index]))];
    await store.query('select pg_terminate_backend($1)', [await vi.waitUntil(sleeping, SOON)]);
    expect(await Promise.all(all)).toEqual(['a', '0', '1', '2', '3', '4']);
  });

  it('leave no connection behind', async () => {
    await knowAsQuick();
    await Promise.all(Array.from({ length: 100 }, (_, index) => text(ONE, [index])));
    await expect.poll(() => store.connections?.()).toMatchObject({ used: 0, waiting: 0 });
  });
});

/** A proxy that can keep back what the database says until enough statements have come by. */
async function holdingProxy(address: string) {
  const { hostname, port } = new URL(address);
  let wanted = 0;
  let seen = 0;
  let connections = 0;
  const held: (() => void)[] = [];
  const sockets: net.Socket[] = [];
  const server = net.createServer((client) => {
    connections += 1;
    const upstream = net.connect(Number(port), hostname);
    sockets.push(client, upstream);
    const count = countExecutes(() => {
      seen += 1;
      if (seen >= wanted) for (const pass of held.splice(0)) pass();
    });
    client.on('data', (bytes) => (count(bytes), upstream.write(bytes)));
    upstream.on('data', (bytes) => {
      if (seen < wanted) held.push(() => client.write(bytes));
      else client.write(bytes);
    });
    for (const [one, other] of [
      [client, upstream],
      [upstream, client],
    ] as const)
      one.on('error', () => {}).on('close', () => other.destroy());
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: Object.assign(new URL(address), {
      host: `127.0.0.1:${(server.address() as net.AddressInfo).port}`,
    }).href,
    connections: () => connections,
    holdUntil: (count: number) => {
      seen = 0;
      wanted = count;
    },
    close: () => {
      server.close();
      for (const socket of sockets) socket.destroy();
    },
  };
}

/** Counts the messages "Execute" of what a client sends: a byte of kind, then the length. */
function countExecutes(found: () => void): (bytes: Buffer) => void {
  let rest: Buffer = Buffer.alloc(0);
  let started = false;
  return (bytes) => {
    rest = Buffer.concat([rest, bytes]);
    for (;;) {
      const header = started ? 5 : 4;
      if (rest.length < header) return;
      const length = rest.readUInt32BE(header - 4) + header - 4;
      if (rest.length < length) return;
      if (started && rest[0] === 'E'.charCodeAt(0)) found();
      started = true;
      rest = rest.subarray(length);
    }
  };
}
