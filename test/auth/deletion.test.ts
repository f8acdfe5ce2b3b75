import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Entity } from '@twofold/schema';
import { bearer, describeEachDatabase, GOOD, startServer, type TestServer, USER } from './harness.ts';
import { type Mailbox, startMailbox } from './mailbox.ts';

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
    column('nick', { required: true, unique: true, default: { kind: 'value', value: 'x' } }),
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
  const purge = async () => {
    const { purge: run } = await import('../../runtime/auth/account/purge.ts').then((it) => ({
      purge: it.purgeAccounts,
    }));
    await run(server.parts);
  };

  it('ends tokens, refresh tokens, keys and links at once, login is 403, and the link of the mail restores', async () => {
    const { body } = await server.register('bye@x.test');
    const { key } = (await call('POST', '/api-keys', body.accessToken, { name: 'k', scopes: [] })).body;
    await server.call('POST', '/api/auth/forgot-password', { email: 'bye@x.test' });
    const reset = await mailbox.find('bye@x.test', 'reset-password?token=');
    const gone = await call('DELETE', '/me', body.accessToken);
    expect(gone.status).toBe(200);
    expect(Math.abs(Date.parse(gone.body.deletion_at) - Date.now() - 14 * DAY)).toBeLessThan(60_000);
    expect((await call('GET', '/me', body.accessToken)).status).toBe(401);
    expect(
      (await server.call('GET', '/api/auth/me', undefined, { 'X-API-Key': key })).status,
    ).toBe(401);
    const refresh = { refreshToken: body.refreshToken };
    expect((await server.call('POST', '/api/auth/refresh', refresh)).status).toBe(401);
    const use = { token: reset.token, new_password: 'purple monkey dishwasher' };
    expect((await server.call('POST', '/api/auth/reset-password', use)).status).toBe(400);
    expect((await server.login('bye@x.test')).text).toBe('{"error":"Account deleted"}');
    expect((await server.login('bye@x.test', 'wrong')).text).toBe('{"error":"Invalid credentials"}');
    expect((await server.register('bye@x.test')).status).toBe(409);
    const { token } = await mailbox.find('bye@x.test', 'restore?token=');
    expect((await server.call('POST', '/api/auth/restore', { token })).status).toBe(200);
    expect((await server.call('POST', '/api/auth/restore', { token })).status).toBe(400);
    expect((await server.login('bye@x.test')).body.id).toBe(body.id);
    expect((await call('GET', '/me', body.accessToken)).status).toBe(401);
    for (const type of ['user.deletion_requested', 'user.restored'])
      expect((await server.events(type)).map(({ user_id }) => user_id)).toContain(body.id);
  });
});
