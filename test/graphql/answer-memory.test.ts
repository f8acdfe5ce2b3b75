import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, describe, expect, it } from 'vitest';
import type { Asker } from '../../runtime/core/store/bounds.ts';
import { databases, startServer, type TestServer } from './harness.ts';

const SDL = `
  type Post { id: ID! title: String! }
  input PostFilter { title: TextFilter }
  input TextFilter { contains: String }
  type Query { posts(where: PostFilter): [Post!]! }
`;

let server: TestServer;
afterEach(() => server?.close());

async function start(database: 'sqlite' | 'postgres', time: number): Promise<void> {
  server = await startServer(SDL, {
    database,
    change: (project) => ({
      ...project,
      api: { ...project.api, limits: { ...project.api.limits, time } },
    }),
  });
  await server.store.db.insertInto('posts').values({ title: 'one' }).execute();
}

/** Another request, whose answer takes all the memory until it is sent. */
async function takeAll(): Promise<Asker> {
  const { limits } = server.project.api;
  const other = { cancelled: false };
  await server.store.memory.take({ asker: other, limits, sent: true }, limits.memory);
  return other;
}

const ask = () =>
  server.call('POST', '/graphql', {
    body: { query: '{ posts(where: { title: { contains: "o" } }) { title } }' },
  });

describe.each(databases)('an answer without memory on %s', (database) => {
  it('is refused after the time of an operation, with a time to try again', async () => {
    await start(database, 300);
    await takeAll();
    const { status, headers, body } = await ask();
    expect([status, headers.get('retry-after')]).toEqual([503, '1']);
    expect(body.errors).toMatchObject([
      { extensions: { code: 'UNAVAILABLE', limit: server.project.api.limits.memory } },
    ]);
  });

  it('waits until the other answer is sent', async () => {
    await start(database, 20_000);
    const other = await takeAll();
    let answered = false;
    const answer = ask().finally(() => (answered = true));
    await sleep(300);
    expect(answered).toBe(false);
    server.store.memory.end(other);
    expect(await answer).toMatchObject({
      status: 200,
      body: { data: { posts: [{ title: 'one' }] } },
    });
    await expect.poll(() => server.store.memory.held).toBe(0);
  });
});
