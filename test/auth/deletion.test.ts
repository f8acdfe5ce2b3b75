import { sql } from 'kysely';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Entity } from '@twofold/schema';
import {
  asRoot,
  bearer,
  describeEachDatabase,
  GOOD,
  startServer,
  type TestOptions,
  type TestServer,
  USER,
} from './harness.ts';
import { type Mailbox, startMailbox } from './mailbox.ts';
import { startProcesses } from './processes.ts';

const DAY = 24 * 60 * 60_000;

const column = (name: string, more: Partial<Entity['columns'][number]> = {}) => ({
  name,
  field: name,
  type: 'text' as const,
  required: false,
  unique: false,
  scalar: 'String',
  list: false,
  ...more,
});

/** A user with data of every kind, most of it required. */
const PERSON: Entity = {
  ...USER,
  columns: [
    ...USER.columns,
    column('bio'),
    column('nick', { required: true, unique: true, default: { kind: 'uuid' } }),
    column('motto', { required: true, default: { kind: 'value', value: 'none' } }),
    column('age', { type: 'integer', scalar: 'Int' }),
    column('vegan', { type: 'boolean', scalar: 'Boolean' }),
  ],
};

/** Orders keep their customer. */
const ORDER: Entity = {
  ...USER,
  name: 'Order',
  singular: 'order',
  plural: 'orders',
  table: 'orders',
  columns: [
    USER.columns[0]!,
    column('customer_id', {
      type: 'id',
      required: true,
      references: { entity: 'User', onDelete: 'restrict' },
    }),
  ],
};

describeEachDatabase("auth-2 §8 deleting one's own account", (database) => {
  let mailbox: Mailbox;
  let server: TestServer;
  beforeAll(async () => {
    mailbox = await startMailbox();
    server = await startServer({
      database,
      entity: PERSON,
      more: [ORDER],
      env: { SMTP_URL: mailbox.url },
      auth: { roles: { list: ['Owner', 'Member'], default: 'Member', first: 'Owner' } },
    });
  });
  afterAll(async () => {
    await server.close();
    await mailbox.close();
  });

  const call = (method: string, path: string, token: string, body?: unknown) =>
    server.call(method, `/api/auth${path}`, body, bearer(token));
  it('ends tokens, refresh tokens, keys and links at once, login is 403, and the link of the mail restores', async () => {
    const { body } = await server.register('bye@x.test');
    const { key } = (await call('POST', '/api-keys', body.accessToken, { name: 'k', scopes: [] }))
      .body;
    await server.call('POST', '/api/auth/forgot-password', { email: 'bye@x.test' });
    const reset = await mailbox.find('bye@x.test', 'reset-password?token=');
    const gone = await call('DELETE', '/me', body.accessToken);
    expect(gone.status).toBe(200);
    expect(Math.abs(Date.parse(gone.body.deletion_at) - Date.now() - 14 * DAY)).toBeLessThan(
      60_000,
    );
    expect((await call('GET', '/me', body.accessToken)).status).toBe(401);
    expect((await server.call('GET', '/api/auth/me', undefined, { 'X-API-Key': key })).status).toBe(
      401,
    );
    const refresh = { refreshToken: body.refreshToken };
    expect((await server.call('POST', '/api/auth/refresh', refresh)).status).toBe(401);
    const use = { token: reset.token, new_password: 'purple monkey dishwasher' };
    expect((await server.call('POST', '/api/auth/reset-password', use)).status).toBe(400);
    expect((await server.login('bye@x.test')).text).toBe('{"error":"Account deleted"}');
    expect((await server.login('bye@x.test', 'wrong')).text).toBe(
      '{"error":"Invalid credentials"}',
    );
    expect((await server.register('bye@x.test')).status).toBe(409);
    const { token } = await mailbox.find('bye@x.test', 'restore?token=');
    expect((await server.call('POST', '/api/auth/restore', { token })).status).toBe(200);
    expect((await server.call('POST', '/api/auth/restore', { token })).status).toBe(400);
    expect((await server.login('bye@x.test')).body.id).toBe(body.id);
    expect((await call('GET', '/me', body.accessToken)).status).toBe(401);
    for (const type of ['user.deletion_requested', 'user.restored'])
      expect((await server.events(type)).map(({ user_id }) => user_id)).toContain(body.id);
  });

  it('the last owner cannot go, and a deleted owner does not count', async () => {
    const token = /setup\?token=([\w-]+)/.exec(server.logs.join())![1];
    const first = (
      await server.call('POST', '/api/auth/setup', { token, email: 'one@x.test', password: GOOD })
    ).body;
    const refused = await call('DELETE', '/me', first.accessToken);
    expect([refused.status, refused.body.error]).toEqual([409, 'Cannot remove the last owner']);
    expect((await call('GET', '/me', first.accessToken)).status).toBe(200);
    const second = (await server.register('two@x.test')).body;
    const role = { role_id: 1 };
    const path = `/api/auth/admin/users/${second.id}/role`;
    expect((await server.call('PUT', path, role, asRoot)).status).toBe(200);
    const both = (await server.login('two@x.test')).body;
    const answers = await Promise.all([
      call('DELETE', '/me', first.accessToken),
      call('DELETE', '/me', both.accessToken),
    ]);
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 409]);
  });

  it('of ten deletions and ten restores at once one each does something', async () => {
    const { accessToken } = (await server.register('ten@x.test')).body;
    const ten = <T>(work: () => Promise<T>) => Promise.all(Array.from({ length: 10 }, work));
    const deleted = await ten(() => call('DELETE', '/me', accessToken));
    expect(deleted.filter(({ status }) => status === 200).length).toBe(1);
    const { token } = await mailbox.find('ten@x.test', 'restore?token=');
    const restored = await ten(() => server.call('POST', '/api/auth/restore', { token }));
    expect(restored.map(({ status }) => status).sort()).toEqual([200, ...Array(9).fill(400)]);
  });
});

describeEachDatabase('auth-2 §8 when the grace is over', (database) => {
  const start = (more: Partial<TestOptions> = {}) =>
    startServer({
      database,
      entity: PERSON,
      more: [ORDER],
      auth: { account: { delete: true, grace: 0 } },
      ...more,
    });
  const gone = (server: TestServer, count: number) =>
    expect
      .poll(async () => (await server.events('user.deleted')).length, { timeout: 10_000 })
      .toBe(count);
  const remove = (server: TestServer, { accessToken }: { accessToken: string }) =>
    server.call('DELETE', '/api/auth/me', undefined, bearer(accessToken));

  it('the row goes, with everything of the module, and its names are free again', async () => {
    const server = await start();
    const user = (await server.register('go@x.test', { username: 'goer', phone: '+1 5550111' }))
      .body;
    expect((await remove(server, user)).status).toBe(200);
    await gone(server, 1);
    expect((await server.rows('users')).filter(({ id }) => id === user.id)).toEqual([]);
    for (const table of ['auth_users', 'auth_sessions', 'auth_one_time_tokens'])
      expect(await server.rows(table), table).toEqual([]);
    expect((await server.events('user.deleted'))[0]).toMatchObject({
      user_id: user.id,
      actor: { kind: 'system' },
      data: { emptied: false },
    });
    const again = await server.register('GO@x.test', { username: 'Goer', phone: '+15550111' });
    expect(again.status).toBe(201);
    await server.close();
  });

  it('a row that RESTRICT keeps stays, emptied of everything personal, and nobody signs in to it', async () => {
    const server = await start();
    const user = (await server.register('keep@x.test', { username: 'keeper', first_name: 'Kim' }))
      .body;
    const { db } = server.kernel.store;
    await db
      .updateTable('users')
      .set({ bio: 'born in Bern', nick: 'kimmy', motto: 'carpe diem', age: 44 })
      .where('id', '=', user.id)
      .execute();
    await db.insertInto('orders').values({ customer_id: user.id }).execute();
    await remove(server, user);
    await gone(server, 1);
    expect(await server.rows('users')).toEqual([
      {
        id: user.id,
        name: '',
        email: `deleted-${user.id}@deleted.invalid`,
        bio: null,
        nick: `deleted-${user.id}`,
        motto: 'none',
        age: null,
        vegan: null,
      },
    ]);
    const text = JSON.stringify([
      await server.rows('auth_users'),
      await server.rows('auth_sessions'),
      await server.rows('auth_identities'),
    ]);
    expect(text).not.toMatch(/keep|Kim|\$2/);
    expect(await server.rows('orders')).toHaveLength(1);
    expect((await server.login('keep@x.test')).text).toBe('{"error":"Invalid credentials"}');
    expect((await server.register('keep@x.test', { username: 'keeper' })).status).toBe(201);
    const shown = await server.call('GET', `/api/auth/admin/users/${user.id}`, undefined, asRoot);
    expect(shown.status).toBe(200);
    await server.close();
  });

  it('until then nothing goes; a server that starts after it deletes, and no link restores', async () => {
    const cluster = await startProcesses(database, 0, {
      entity: PERSON,
      more: [ORDER],
      auth: { account: { delete: true, grace: 2000 } },
    });
    const { watcher } = cluster;
    const user = (await watcher.register('later@x.test')).body;
    await remove(watcher, user);
    const token = () => /restore\?token=([\w-]+)/.exec(watcher.logs.join())?.[1];
    await expect.poll(token).toBeDefined();
    const early = await start({ url: watcher.databaseUrl });
    expect(await watcher.events('user.deleted')).toEqual([]);
    await early.close();
    await new Promise((resolve) => setTimeout(resolve, 2100));
    const late = await watcher.call('POST', '/api/auth/restore', { token: token() });
    expect([late.status, late.body.error]).toEqual([400, 'Invalid or expired token']);
    const next = await start({ url: watcher.databaseUrl });
    await gone(watcher, 1);
    await next.close();
    await cluster.close();
  });

  it('an account that cannot go is logged and does not keep the others, a hundred and more', async () => {
    const server = await start();
    const { db, dialect } = server.kernel.store;
    const users = Array.from({ length: 120 }, (_, index) => ({
      name: 'Due',
      email: `due${index}@x.test`,
      nick: `due${index}`,
    }));
    const made = await db.insertInto('users').values(users).returning('id').execute();
    const due = made.map(({ id }) => ({
      user_id: id,
      deletion_at: 1,
      created_at: 1,
      updated_at: 1,
    }));
    await db.insertInto('auth_users').values(due).execute();
    const stuck = made[3]!['id'];
    await sql
      .raw(
        dialect === 'postgres'
          ? `create function refuse() returns trigger language plpgsql as $$ begin if old.id = ${stuck} then raise exception 'not this one'; end if; return old; end $$; create trigger refuse before delete on users for each row execute function refuse()`
          : `create trigger refuse before delete on users when old.id = ${stuck} begin select raise(abort, 'not this one'); end`,
      )
      .execute(db);
    await remove(server, (await server.register('starts@x.test')).body);
    await gone(server, 120);
    expect((await server.rows('users')).map(({ id }) => id)).toEqual([stuck]);
    expect(server.logs.join()).toContain('not this one');
    await server.close();
  });

  it('delete: false has no deletion, and without a mail there is none with a grace', async () => {
    const off = await start({ auth: { account: { delete: false, grace: 0 } } });
    expect((await remove(off, (await off.register()).body)).status).toBe(404);
    await off.close();
    const mute = await start({
      auth: { account: { delete: true, grace: 1000 } },
      env: { NODE_ENV: 'production', APP_URL: 'https://shop.test', RATE_LIMIT_ENABLED: 'true' },
    });
    expect((await remove(mute, (await mute.register()).body)).status).toBe(503);
    await mute.close();
  });
});
