import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { createClient as createSocket } from 'graphql-ws';
import { afterAll, expect, it, vi } from 'vitest';
import { clientOf, startServer } from './server.ts';

const home = mkdtempSync(join(tmpdir(), 'client-socket-'));
afterAll(() => rmSync(home, { recursive: true, force: true }));

it('events over a socket: through a restart, until the loop is left, and until an abort', async () => {
  const delivery = null;
  for (const [name, text] of Object.entries(
    clientOf({ server: { graphql: '/graphql', delivery } }),
  ))
    writeFileSync(join(home, name), text);
  const module = await import(/* @vite-ignore */ pathToFileURL(join(home, 'index.ts')).href);
  const settings = {
    manifest: 'api: { access: public }\n',
    env: { DATABASE_URL: `file:${join(home, 'app.db')}` },
  };
  let server = await startServer(settings);
  const { url } = server;
  let sockets = 0;
  const socket = createSocket({
    url: `${url.replace('http', 'ws')}/graphql`,
    lazyCloseTimeout: 0,
    retryAttempts: 100,
    retryWait: () => new Promise((resolve) => setTimeout(resolve, 50)),
    on: { connected: () => (sockets += 1), closed: () => (sockets -= 1) },
  });
  const onReconnect = vi.fn();
  const api = module.createClient({ url, socket, onReconnect });
  const add = (title: string) => api.request(module.AddDocument, { title });
  /** Adds posts until the subscription, of which no answer says that it began, hears of one. */
  const heard = async (events: AsyncIterator<unknown>, title: string) => {
    const next = events.next();
    const added: Promise<unknown>[] = [];
    const timer = setInterval(() => void added.push(add(title)), 100);
    const { value } = await next.finally(() => clearInterval(timer));
    // A request that is still under way would meet a server that is closed next.
    await Promise.all(added);
    return value;
  };

  const events = api.subscribe(module.AddedDocument);
  expect(await heard(events, 'before')).toMatchObject({ postCreated: { title: 'before' } });
  await server.close();
  server = await startServer({ ...settings, at: new URL(url).host });
  await expect.poll(() => onReconnect.mock.calls.length, { timeout: 10_000 }).toBe(1);
  let after: any;
  do after = await heard(events, 'after');
  while (after.postCreated.title === 'before');
  expect(after).toMatchObject({ postCreated: { title: 'after' } });
  await events.return(undefined);
  await expect.poll(() => sockets).toBe(0);
  expect(onReconnect).toHaveBeenCalledTimes(1);

  const gone = new AbortController();
  const aborted = api.subscribe(module.AddedDocument, {}, { signal: gone.signal });
  await heard(aborted, 'again');
  const waiting = (async () => {
    for await (const event of aborted) void event;
  })();
  gone.abort();
  await expect(waiting).rejects.toMatchObject({ name: 'AbortError' });
  await expect.poll(() => sockets).toBe(0);

  const wrong = { ...module.AddedDocument, toString: () => 'subscription { nothing }', hash: 'x' };
  await expect(api.subscribe(wrong).next()).rejects.toMatchObject({
    name: 'ApiError',
    errors: [{ message: expect.any(String) }],
  });
  await server.close();
});
