import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { Webhook } from 'standardwebhooks';
import { startMailbox } from '../auth/mailbox.ts';
import { createDatabase, describeEachEngine, describeWith } from '../engines/available.ts';
import { importImage } from '../engines/import-image.ts';
import { createLog } from '../../runtime/core/config/log.ts';
import { createSettings } from '../../runtime/core/config/settings.ts';
import { migrate } from '../../runtime/database/migrations/migrate.ts';
import { openStore } from '../../runtime/core/store/open-store.ts';
import type { Store } from '../../runtime/core/store/store.ts';
import type { Observation } from '../../runtime/hosting/notifications/conditions.ts';
import { createNotifications } from '../../runtime/hosting/notifications/notifications.ts';
import type { Receiver } from '../../runtime/hosting/notifications/receiver.ts';
import { hostingMigrations } from '../../runtime/hosting/records/migrations.ts';
import { createSeal } from '../../runtime/hosting/records/seal.ts';
import { startReceiver } from './notification-receiver.ts';
import { startServer, type TestServer } from './server.ts';

const SECRET = `whsec_${Buffer.from('a secret of a receiver of messages').toString('base64')}`;
const MINUTE = 60_000;
const seal = createSeal(['a secret of thirty-two bytes or more']);

/** The parts that decide and send, on a clock of the test. */
async function startWorld(store: Store, answers: number[] = []) {
  const receiver = await startReceiver(answers);
  await migrate(store, hostingMigrations);
  const clock = { at: Date.parse('2026-01-01T00:00:00Z') };
  const make = () =>
    createNotifications(
      {
        ...{ store, now: () => clock.at, settings: createSettings({}) },
        log: createLog({ level: 'silent' }, process.stderr),
      },
      seal,
    );
  let notifications = make();
  const put = (fields: Partial<Receiver>) =>
    notifications.receivers.save(fields.name ?? 'ops', {
      ...{ name: 'ops', kind: 'webhook', url: receiver.url, secret: SECRET },
      ...{ events: ['*'], apps: ['*'], created_at: '', updated_at: '', ...fields },
    });
  notifications.start();
  return {
    ...{ receiver, put },
    at: () => clock.at,
    observe: (failing: boolean, more: Partial<Observation> = {}) => {
      const about = { topic: 'app', subject: 'shop', app: 'shop' } as const;
      const text = failing ? 'It ended.' : 'It answers.';
      notifications.observe({ ...about, failing, title: 'shop', text, ...more });
    },
    /** Stops and starts again `time` milliseconds later, as a restart of the server does. */
    async later(time: number) {
      await notifications.stop(5000);
      clock.at += time;
      notifications = make();
      notifications.start();
      await notifications.stop(5000);
      notifications = make();
      notifications.start();
    },
    types: () => receiver.deliveries.map(({ body }) => body['type']),
    async stop() {
      await notifications.stop(5000);
      await receiver.close();
    },
  };
}

function describeMessages(open: () => Promise<{ store: Store; end(): Promise<void> }>) {
  let world: Awaited<ReturnType<typeof startWorld>>;
  let opened: Awaited<ReturnType<typeof open>>;
  const begin = async (answers?: number[]) => {
    opened = await open();
    world = await startWorld(opened.store, answers);
  };
  afterEach(async () => {
    await world.stop();
    await opened.end();
  });

  it('one message when it fails, one when it works again, none between, over restarts', async () => {
    await begin();
    await world.put({});
    world.observe(false);
    for (let times = 0; times < 3; times += 1) world.observe(true);
    await world.later(0);
    expect(world.types()).toEqual(['app.crashed']);
    world.observe(true);
    await world.later(6 * MINUTE);
    world.observe(false);
    world.observe(false);
    await world.later(0);
    expect(world.types()).toEqual(['app.crashed', 'app.recovered']);
  });

  it('what fails again within five minutes is told after them, unless it works by then', async () => {
    await begin();
    await world.put({});
    for (const failing of [true, false, true, false, true]) {
      world.observe(failing);
      await world.later(1000);
    }
    expect(world.types()).toEqual(['app.crashed', 'app.recovered']);
    await world.later(5 * MINUTE);
    expect(world.types()).toEqual(['app.crashed', 'app.recovered', 'app.crashed']);
    world.observe(false);
    await world.later(1000);
    world.observe(true);
    world.observe(false);
    await world.later(10 * MINUTE);
    expect(world.types().length).toBe(4);
  });

  it('a message is signed, and sent again with the same id until it is accepted', async () => {
    await begin([500, 302, 200]);
    await world.put({});
    world.observe(true);
    for (const wait of [0, 1000, 5000, 30_000]) await world.later(wait);
    const { deliveries } = world.receiver;
    expect(deliveries.length).toBe(3);
    expect(new Set(deliveries.map(({ headers }) => headers['webhook-id']))).toEqual(
      new Set([deliveries[0]!.body['id']]),
    );
    const { headers, text } = deliveries[0]!;
    const id = String(headers['webhook-id']);
    expect(headers['webhook-signature']).toBe(
      new Webhook(SECRET).sign(id, new Date(Number(headers['webhook-timestamp']) * 1000), text),
    );
    expect(Object.keys(deliveries[0]!.body)).toEqual(
      expect.arrayContaining(['id', 'type', 'at', 'app', 'title', 'text', 'url']),
    );
  });

  it('a receiver that answers 410 gets no more, and one that never accepts is given up', async () => {
    await begin([410]);
    await world.put({});
    world.observe(true);
    await world.later(MINUTE);
    world.observe(false);
    await world.later(MINUTE);
    expect(world.types()).toEqual(['app.crashed']);
    expect(await opened.store.db.selectFrom('hosting_messages').selectAll().execute()).toEqual([]);
  });

  it('a receiver gets what its events and apps name', async () => {
    await begin();
    await world.put({ events: ['app.*', 'disk.low'], apps: ['shop'] });
    world.observe(true, { subject: 'other', app: 'other' });
    world.observe(true, { topic: 'disk', subject: 'host', app: null });
    world.observe(true, { topic: 'deploy' });
    world.observe(true);
    await world.later(0);
    expect(world.types()).toEqual(['app.crashed']);
  });
}

describe('messages on SQLite', () => {
  describeMessages(async () => {
    const folder = mkdtempSync(join(tmpdir(), 'tf-notify-'));
    const store = openStore(`file:${join(folder, 'app.db')}`, folder);
    const end = async () => (await store.close(), rmSync(folder, { recursive: true }));
    return { store, end };
  });
});

describeWith('postgres', 'messages on PostgreSQL', () => {
  describeMessages(async () => {
    const { url, drop } = await createDatabase();
    const store = openStore(url, '.');
    return { store, end: async () => (await store.close(), await drop()) };
  });
});

describe('the calls for notifications', () => {
  let server: TestServer;
  let mailbox: Awaited<ReturnType<typeof startMailbox>>;
  beforeAll(async () => {
    mailbox = await startMailbox();
    server = await startServer({ socket: '/nowhere', env: { SMTP_URL: mailbox.url } });
  });
  afterAll(async () => {
    await server.end();
    await mailbox.close();
  });
  const put = (name: string, body: unknown) =>
    server.api('PUT', `/api/notifications/${name}`, body);

  it('a webhook gets a secret once, and its address is masked', async () => {
    const first = await put('ops', { kind: 'webhook', url: 'https://ops.example/in?token=hush' });
    expect(first.status).toBe(200);
    expect(first.body).toMatchObject({ url: 'https://ops.example/********', events: ['*'] });
    expect(first.body.secret).toMatch(/^whsec_/);
    const again = await put('ops', { kind: 'webhook', url: 'https://ops.example/in' });
    expect(again.body.secret).toBeUndefined();
    const list = await server.api('GET', '/api/notifications');
    expect(list.body.total).toBe(1);
    const rows = await server.kernel.store.db
      .selectFrom('hosting_notifications')
      .selectAll()
      .execute();
    expect(JSON.stringify([list.body, rows])).not.toMatch(/hush|whsec_/);
    expect((await server.api('DELETE', '/api/notifications/ops')).status).toBe(200);
    expect((await server.api('GET', '/api/notifications/ops')).status).toBe(404);
    expect((await server.api('DELETE', '/api/notifications/ops')).status).toBe(404);
  });

  it('wrong bodies are 400 and keep nothing', async () => {
    const url = 'https://ops.example/in';
    const wrong: readonly (readonly [unknown, RegExp])[] = [
      [{ kind: 'pager', url }, /kind/],
      [{ kind: 'webhook' }, /webhook needs url/],
      [{ kind: 'mail', url }, /mail needs to/],
      [{ kind: 'webhook', url, to: 'a@b.example' }, /does not take to/],
      [{ kind: 'slack', url, secret: 'sixteen-letters-x' }, /only webhooks are signed/],
      [{ kind: 'mail', to: 'a@b.example, c@d.example' }, /one address/],
      [{ kind: 'webhook', url: 'ftp://ops.example' }, /https/],
      [{ kind: 'webhook', url: 'http://ops.example' }, /https/],
      [{ kind: 'webhook', url, events: ['deploy.exploded'] }, /deploy.exploded/],
      [{ kind: 'webhook', url, secret: 'whsec_!!!!!!!!!!!!!!!!!!' }, /base64/],
      [{ kind: 'webhook', url, more: 1 }, /more/],
    ];
    for (const [body, message] of wrong) {
      const answer = await put('ops', body);
      expect([body, answer.status, answer.body.error]).toEqual([
        body,
        400,
        expect.stringMatching(message),
      ]);
    }
    expect((await put('Ops', { kind: 'webhook', url })).status).toBe(400);
    expect((await server.api('GET', '/api/notifications')).body.total).toBe(0);
  });

  it('a test says what the receiver answered', async () => {
    const receiver = await startReceiver([200, 503]);
    await put('hook', { kind: 'slack', url: receiver.url });
    await put('post', { kind: 'mail', to: 'ops@shop.example' });
    const test = async (name: string) =>
      (await server.api('POST', `/api/notifications/${name}/test`)).body;
    expect(await test('hook')).toEqual({ ok: true, status: 200 });
    expect(receiver.deliveries[0]!.body).toEqual({ text: expect.stringContaining('works') });
    expect(await test('hook')).toEqual({ ok: false, status: 503 });
    await receiver.close();
    expect(await test('hook')).toEqual({ ok: false, error: 'ECONNREFUSED' });
    expect(await test('post')).toEqual({ ok: true, status: 250 });
    expect((await mailbox.find('ops@shop.example', 'works')).text).toContain('A test of');
    await server.api('DELETE', '/api/notifications/hook');
    await server.api('DELETE', '/api/notifications/post');
  });
});

it('without SMTP_URL mail is refused, and in production a private address', async () => {
  const server = await startServer({ socket: '/nowhere', env: { WEBHOOK_ALLOW_PRIVATE: 'false' } });
  const put = (body: unknown) => server.api('PUT', '/api/notifications/ops', body);
  const mail = await put({ kind: 'mail', to: 'ops@shop.example' });
  expect([mail.status, mail.body.error]).toEqual([409, expect.stringContaining('SMTP_URL')]);
  for (const url of ['https://10.0.0.1/x', 'http://localhost/x', 'https://[64:ff9b::a00:1]/x'])
    expect((await put({ kind: 'webhook', url })).status).toBe(400);
  await server.end();
});

describeEachEngine('an app that fails', ({ socket }) => {
  it('is told to a webhook and by mail, once, and once when it works again', async () => {
    const mailbox = await startMailbox();
    const receiver = await startReceiver();
    const web = await importImage(socket, 'twofold-test/web:1');
    const server = await startServer({ socket, env: { SMTP_URL: mailbox.url } });
    const events = ['deploy.*'];
    const hook = { kind: 'webhook', url: receiver.url, events };
    await server.api('PUT', '/api/notifications/hook', hook);
    await server.api('PUT', '/api/notifications/mail', { kind: 'mail', to: 'ops@x.test', events });
    const deploy = (image: string) => server.api('POST', '/api/apps/shop/deploy', { image });
    const env = { WORD: 'open-sesame' };
    await server.api('POST', '/api/apps', { name: 'shop', image: web, env });
    await server.api('PATCH', '/api/apps/shop', {
      command: ['sh', '-c', 'echo "the word is $WORD"; exit 7'],
    });
    expect((await deploy(web)).status).toBe(502);
    expect((await deploy(web)).status).toBe(502);
    await server.api('PATCH', '/api/apps/shop', { command: null });
    expect((await deploy(web)).status).toBe(200);
    await expect.poll(() => receiver.deliveries.length, { timeout: 10_000 }).toBe(2);
    const [failed, recovered] = receiver.deliveries.map(({ body }) => body);
    expect(failed).toMatchObject({ type: 'deploy.failed', app: 'shop', title: expect.any(String) });
    expect(failed!['text']).toMatch(/exit code 7/);
    expect(failed!['text']).not.toContain('the word is');
    expect(recovered).toMatchObject({ type: 'deploy.recovered', app: 'shop' });
    await mailbox.find('ops@x.test', 'failed');
    await mailbox.find('ops@x.test', 'succeeded');
    const test = await server.api('POST', '/api/notifications/hook/test');
    expect(test.body).toEqual({ ok: true, status: 200 });
    expect(receiver.deliveries.pop()!.body).toMatchObject({ type: 'test', app: null });
    expect((await server.api('GET', '/api/notifications/hook')).body.events).toEqual(events);
    expect((await server.api('DELETE', '/api/notifications/mail')).status).toBe(200);
    expect((await server.api('GET', '/api/notifications')).body.total).toBe(1);
    expect(mailbox.received).toEqual([]);
    expect(JSON.stringify(receiver.deliveries)).not.toContain('open-sesame');
    await server.end();
    await mailbox.close();
    await receiver.close();
  });
});
