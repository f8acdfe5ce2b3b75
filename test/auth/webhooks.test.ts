import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Webhook } from 'standardwebhooks';
import { describe, expect, it } from 'vitest';
import { createPost } from '../../runtime/auth/webhooks/post.ts';
import { asRoot, describeEachDatabase, startServer, type TestServer } from './harness.ts';
import { startReceiver } from './receiver.ts';

const SECRET = `whsec_${Buffer.from('a webhook secret of the tests 12').toString('base64')}`;
const manifest = (url: string, types = ['*']) => ({
  auth: { events: { webhooks: [{ url, secretEnv: 'WEBHOOK_SECRET', types }] } },
  env: { WEBHOOK_SECRET: SECRET },
});
const hooks = '/api/auth/admin/webhooks';
const deliveries = (server: TestServer) => server.rows('auth_webhook_deliveries');

describeEachDatabase('§2.14 webhooks', (database) => {
  it('an independent implementation of Standard Webhooks verifies what arrives', async () => {
    const receiver = await startReceiver();
    const server = await startServer({ database, ...manifest(receiver.url) });
    const { body } = await server.register('hook@x.test');
    await expect
      .poll(() => receiver.deliveries.map(({ event }) => event['type']).sort())
      .toEqual(['auth.login.succeeded', 'email.verification_sent', 'user.registered']);
    const {
      headers,
      body: text,
      event,
    } = receiver.deliveries.find((each) => each.event['type'] === 'user.registered')!;
    expect(new Webhook(SECRET).verify(text, headers as Record<string, string>)).toEqual(event);
    expect(headers['webhook-id']).toBe(event['id']);
    expect(event).toMatchObject({ user_id: body.id, severity: 'info' });
    expect(() =>
      new Webhook(`whsec_${Buffer.alloc(32).toString('base64')}`).verify(
        text,
        headers as Record<string, string>,
      ),
    ).toThrow();
    await expect
      .poll(async () => (await deliveries(server)).map(({ status }) => status))
      .toEqual(['delivered', 'delivered', 'delivered']);
    await server.close();
    await receiver.close();
  });

  it('only the types asked for are sent, by name or by prefix', async () => {
    const receiver = await startReceiver();
    const server = await startServer({
      database,
      ...manifest(receiver.url, ['user.*', 'auth.logout']),
    });
    await server.register();
    await expect.poll(() => receiver.deliveries.length).toBe(1);
    await server.close();
    expect(receiver.deliveries.map(({ event }) => event['type'])).toEqual(['user.registered']);
    await receiver.close();
  });

  it('is tried again after 1 s, 5 s, 30 s … with the same id, until it arrives', async () => {
    const receiver = await startReceiver((count) => (count < 3 ? 500 : 200));
    const server = await startServer({ database, ...manifest(receiver.url, ['user.registered']) });
    await server.register();
    await expect.poll(() => receiver.deliveries.length).toBe(1);
    await expect
      .poll(async () => (await deliveries(server))[0])
      .toMatchObject({ status: 'pending', attempt: 1, last_code: 500 });
    expect(
      ((await deliveries(server))[0]!['next_at'] - server.kernel.now()) / 1000,
    ).toBeLessThanOrEqual(1);
    server.advance(1100);
    await server.login('nobody@x.test', 'x');
    await expect.poll(() => receiver.deliveries.length, { timeout: 7000 }).toBe(2);
    server.advance(5100);
    await expect.poll(() => receiver.deliveries.length, { timeout: 7000 }).toBe(3);
    expect(new Set(receiver.deliveries.map(({ headers }) => headers['webhook-id'])).size).toBe(1);
    await expect.poll(async () => (await deliveries(server))[0]!['status']).toBe('delivered');
    await server.close();
    await receiver.close();
  });

  it('410 disables the endpoint, a redirect is not followed', async () => {
    const gone = await startReceiver(() => 410);
    const moved = await startReceiver(() => 302);
    const server = await startServer({ database });
    const make = async (url: string) =>
      (await server.call('POST', hooks, { url, types: ['user.registered'] }, asRoot)).body;
    const [first] = [await make(gone.url), await make(moved.url)];
    await server.register();
    await expect.poll(() => [gone.deliveries.length, moved.deliveries.length]).toEqual([1, 1]);
    await expect
      .poll(
        async () =>
          (await server.call('GET', hooks, undefined, asRoot)).body.webhooks.find(
            ({ id }: any) => id === first.id,
          ).disabled_at,
      )
      .not.toBeNull();
    await expect.poll(async () => (await server.events('webhook.disabled')).length).toBe(1);
    await server.close();
    expect([
      gone.deliveries.length,
      moved.deliveries.every(({ event }) => event['type'] === 'user.registered'),
    ]).toEqual([1, true]);
    await gone.close();
    await moved.close();
  });

  it('made, listed without its secret, tested, rotated with two signatures, deleted', async () => {
    const receiver = await startReceiver();
    const server = await startServer({ database });
    const { body, status } = await server.call('POST', hooks, { url: receiver.url }, asRoot);
    expect(status).toBe(201);
    expect(body.secret).toMatch(/^whsec_[\w+/]{43}=$/);
    expect((await server.call('GET', hooks, undefined, asRoot)).text).not.toContain(body.secret);
    expect(JSON.stringify(await server.rows('auth_webhook_endpoints'))).not.toContain(
      body.secret.slice(6),
    );
    const test = () => server.call('POST', `${hooks}/${body.id}/test`, undefined, asRoot);
    expect((await test()).body).toEqual({ delivered: true, status: 204 });
    const rotated = (
      await server.call('POST', `${hooks}/${body.id}/rotate`, { overlap: '1h' }, asRoot)
    ).body;
    await test();
    const { body: text, headers } = receiver.deliveries.at(-1)!;
    for (const secret of [body.secret, rotated.secret])
      expect(new Webhook(secret).verify(text, headers as Record<string, string>)).toBeTruthy();
    expect((await server.call('DELETE', `${hooks}/${body.id}`, undefined, asRoot)).status).toBe(
      204,
    );
    expect((await test()).status).toBe(404);
    for (const url of ['http://hooks.test/x', 'nonsense', 'ftp://x.test'])
      expect((await server.call('POST', hooks, { url }, asRoot)).status).toBe(400);
    expect(
      (await server.call('POST', hooks, { url: receiver.url, types: ['no.such'] }, asRoot)).status,
    ).toBe(400);
    await server.close();
    await receiver.close();
  });

  it('a delivery survives the server: another one sends what the first could not', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'auth-outbox-'));
    const receiver = await startReceiver((count) => (count === 1 ? 503 : 200));
    const keep = await startServer({
      database,
      ...(database === 'SQLite' && { url: `file:${join(folder, 'outbox.db')}` }),
    });
    const first = await startServer({
      database,
      url: keep.databaseUrl,
      ...manifest(receiver.url, ['user.registered']),
    });
    await first.register();
    await expect.poll(() => receiver.deliveries.length).toBe(1);
    await expect.poll(async () => (await deliveries(keep))[0]!['attempt']).toBe(1);
    await first.close();
    await new Promise((resolve) => setTimeout(resolve, 1100));
    const second = await startServer({
      database,
      url: keep.databaseUrl,
      ...manifest(receiver.url, ['user.registered']),
    });
    await expect.poll(() => receiver.deliveries.length, { timeout: 7000 }).toBe(2);
    await second.close();
    await keep.close();
    await receiver.close();
    rmSync(folder, { recursive: true });
  });

  it('two servers send each event once while nothing fails', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'auth-outbox-'));
    const receiver = await startReceiver();
    const first = await startServer({
      database,
      ...manifest(receiver.url, ['user.registered']),
      ...(database === 'SQLite' && { url: `file:${join(folder, 'outbox.db')}` }),
    });
    const second = await startServer({
      database,
      url: first.databaseUrl,
      ...manifest(receiver.url, ['user.registered']),
    });
    await Promise.all(
      Array.from({ length: 20 }, (_, index) => (index % 2 ? first : second).register()),
    );
    await expect.poll(() => receiver.deliveries.length).toBe(20);
    await second.close();
    await first.close();
    expect(new Set(receiver.deliveries.map(({ event }) => event['id'])).size).toBe(20);
    expect(receiver.deliveries).toHaveLength(20);
    await receiver.close();
    rmSync(folder, { recursive: true });
  });
});

describeEachDatabase('§2.14 an address that a webhook is given', (database) => {
  const create = (server: TestServer, url: string) =>
    server.call('POST', '/api/auth/admin/webhooks', { url }, asRoot);

  it('is refused with 400 when it is private, in whatever form it is written', async () => {
    const server = await startServer({ database, env: { WEBHOOK_ALLOW_PRIVATE: 'off' } });
    for (const host of [
      '10.0.0.1',
      '2130706433',
      'localhost',
      'a.localhost.',
      '[::1]',
      '[::ffff:a00:1]',
      '[64:ff9b::10.0.0.1]',
      '[2002:a00:1::1]',
      '[2001:0:a00:1::1]',
    ]) {
      const { status, text } = await create(server, `https://${host}/hook`);
      expect([host, status, text]).toEqual([
        host,
        400,
        '{"error":"url must not be a private address: the setting WEBHOOK_ALLOW_PRIVATE=on allows it"}',
      ]);
    }
    for (const host of ['hooks.test', '8.8.8.8', '[64:ff9b::8.8.8.8]'])
      expect((await create(server, `https://${host}/hook`)).status, host).toBe(201);
    await server.close();
  });

  it('may be private where the setting allows it', async () => {
    const server = await startServer({ database, env: { WEBHOOK_ALLOW_PRIVATE: 'on' } });
    expect((await create(server, 'https://10.0.0.1/hook')).status).toBe(201);
    await server.close();
  });
});

describe('§2.14 where webhooks may go', () => {
  it('are refused there unless allowed, also by a name that resolves to them', async () => {
    const receiver = await startReceiver();
    const { post, close } = createPost(false);
    expect(await post(receiver.url, {}, '{}')).toEqual({ error: 'private address' });
    expect(await post(receiver.url.replace('127.0.0.1', 'localhost'), {}, '{}')).toEqual({
      error: 'private address',
    });
    expect(receiver.deliveries).toEqual([]);
    await close();
    await receiver.close();
  });

  it('a receiver that hangs is left after five seconds', async () => {
    const receiver = await startReceiver(() => 'hang');
    const { post, close } = createPost(true);
    const begun = Date.now();
    expect(await post(receiver.url, {}, '{}')).toHaveProperty('error');
    expect(Date.now() - begun).toBeLessThan(7000);
    await close();
    await receiver.close();
  });
});
