import { createHash } from 'node:crypto';
import type { Entity } from '@twofold/schema';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { authFlows } from '../../runtime/auth/flows/index.ts';
import { createSemaphore } from '../../runtime/core/store/transactions/semaphore.ts';
import { describeWith } from '../engines/available.ts';
import {
  asRoot,
  bearer,
  BETTER,
  describeEachDatabase,
  GOOD,
  startServer,
  type TestServer,
  USER,
} from './harness.ts';

describeEachDatabase('§2.0 conventions', (database) => {
  let server: TestServer;
  beforeAll(async () => {
    server = await startServer({ database, hosting: {}, env: { HOST_PASSWORD: 'x' } });
  });
  afterAll(() => server.close());

  it('every route of the table answers, and whatever is wrong is exactly {"error": text}', async () => {
    for (const { method, path } of authFlows) {
      for (const body of [
        undefined,
        '{',
        '[]',
        'null',
        '{"email":[],"password":{}}',
        '{"__proto__":{"admin":true}}',
      ]) {
        if (body !== undefined && method === 'GET') continue;
        const answer = await server.call(
          method,
          path.replace(':id', 'x').replace(':provider', 'nope').replace(':name', 'a:b'),
          body,
        );
        expect(answer.status, `${method} ${path} ${body}`).toBeLessThan(500);
        if (answer.status >= 400) {
          expect(Object.keys(answer.body), `${method} ${path} ${body}`).toEqual(['error']);
          expect(answer.body.error).toBeTypeOf('string');
        }
        expect(answer.headers.get('cache-control'), `${method} ${path}`).toBe('no-store');
        expect(answer.headers.get('x-request-id')).toMatch(/^[\w.-]{1,64}$/);
      }
    }
  });

  it('the same with the root key: no input makes a 500', async () => {
    const hostile = [
      '',
      'x',
      "'",
      '\u0000',
      'é',
      '../..',
      '%',
      '9'.repeat(30),
      'a'.repeat(300),
      '\ud83d',
      '{}',
    ];
    for (const { method, path } of authFlows.filter((route) => route.path.includes('/admin/'))) {
      for (const text of hostile) {
        const body =
          method === 'GET' || method === 'DELETE'
            ? undefined
            : {
                name: text,
                scopes: [text],
                url: text,
                token: text || 'x',
                jti: text,
                user_id: text,
                role_id: 0,
                types: [text],
                overlap: text,
                expires_in: text,
              };
        const target = path.replaceAll(/:\w+/g, encodeURIComponent(text.toWellFormed()) || 'y');
        const answer = await server.call(
          method,
          method === 'GET'
            ? `${target}?cursor=${encodeURIComponent(text.toWellFormed())}&since=${encodeURIComponent(text.toWellFormed())}&ip=%00&type=%00`
            : target,
          body,
          asRoot,
        );
        expect(
          answer.status,
          `${method} ${path} ${JSON.stringify(text)} ${answer.text}`,
        ).toBeLessThan(500);
      }
    }
  });

  it('an unknown path is 404 and a known one with another method 405 with Allow', async () => {
    const unknown = await server.call('POST', '/api/auth/nothing', {});
    expect([unknown.status, unknown.text]).toEqual([404, '{"error":"Not found"}']);
    const wrong = await server.call('GET', '/api/auth/login');
    expect([wrong.status, wrong.headers.get('allow'), wrong.text]).toEqual([
      405,
      'POST',
      '{"error":"Method not allowed"}',
    ]);
  });

  it('a request id of the client is kept when it is plain, and replaced when it is not', async () => {
    const id = async (given: string) =>
      (
        await server.call('GET', '/api/auth/password-policy', undefined, { 'X-Request-Id': given })
      ).headers.get('x-request-id');
    expect(await id('abc.DEF-1_2')).toBe('abc.DEF-1_2');
    for (const bad of ['a b', 'x'.repeat(65), '<script>']) expect(await id(bad)).not.toBe(bad);
  });

  it('a semaphore lets no more in than it may and takes no more than it can hold', async () => {
    const semaphore = createSemaphore(2, 3);
    let [running, most] = [0, 0];
    const job = async () => {
      running += 1;
      most = Math.max(most, running);
      await new Promise((resolve) => setTimeout(resolve, 5));
      running -= 1;
    };
    const results = await Promise.allSettled(Array.from({ length: 7 }, () => semaphore.run(job)));
    expect(most).toBe(2);
    expect(results.filter(({ status }) => status === 'rejected')).toHaveLength(2);
    await expect(semaphore.run(() => Promise.reject(new Error('job')))).rejects.toThrow('job');
    await expect(semaphore.run(async () => 'free again')).resolves.toBe('free again');
  });
});

describeEachDatabase('§2.0 hostile input', (database) => {
  it('no text in any field of any open route makes a 500', async () => {
    const server = await startServer({ database, entity: USER });
    const { body: user } = await server.register('fuzz@x.test');
    const texts = [
      '',
      '\u0000',
      'a\u0000b',
      "' or 1=1",
      '"; drop table users; --',
      '\ud800',
      '\u202e',
      'x'.repeat(256),
      '${jndi}',
      '{{7*7}}',
      '%n%n',
      '-1',
      'NaN',
    ];
    for (const text of texts) {
      const json = {
        email: text,
        password: text || 'x',
        token: text || 'x',
        new_password: text,
        current_password: text,
        refreshToken: text,
        code: text || 'x',
        first_name: text,
        last_name: text,
        name: text,
        scopes: [text],
        provider: text,
      };
      for (const { method, path } of authFlows.filter((route) => !route.path.includes('/admin/'))) {
        const target = path.replaceAll(/:\w+/g, encodeURIComponent(text.toWellFormed()) || 'y');
        const answer = await server.call(
          method,
          target,
          method === 'GET' || method === 'DELETE' ? undefined : json,
          path.endsWith('logout') || path.endsWith('logout-all') ? {} : bearer(user.accessToken),
        );
        expect(
          answer.status,
          `${method} ${path} ${JSON.stringify(text)} ${answer.text}`,
        ).toBeLessThan(500);
      }
      for (const name of ['User-Agent', 'X-API-Key', 'X-Device-Token', 'Cookie']) {
        const printable = text.replaceAll(/[^\x20-\x7e]/g, '?') || 'x';
        expect(
          (await server.login('fuzz@x.test', 'x', { [name]: printable })).status,
          name,
        ).toBeLessThan(500);
      }
    }
    await server.close();
  });
});

describeEachDatabase('§2.1 the entity and the side tables', (database) => {
  it('a user that a soft delete removed is gone for auth: token, login, reset', async () => {
    const entity: Entity = {
      ...USER,
      softDelete: 'deletedAt',
      columns: [
        ...USER.columns,
        {
          name: 'deletedAt',
          type: 'timestamp',
          required: false,
          unique: false,
          scalar: 'DateTime',
          list: false,
        },
      ],
    };
    const server = await startServer({ database, entity });
    const { body } = await server.register('soft@x.test');
    await server.kernel.store.db
      .updateTable('users')
      .set({ deletedAt: new Date().toISOString() })
      .where('id', '=', body.id)
      .execute();
    expect(
      (await server.call('GET', '/api/auth/me', undefined, bearer(body.accessToken))).status,
    ).toBe(401);
    expect((await server.login('soft@x.test')).status).toBe(401);
    expect(
      (await server.call('POST', '/api/auth/refresh', { refreshToken: body.refreshToken })).status,
    ).toBe(401);
    const other = await server.register('soft2@x.test');
    expect(
      (await server.call('DELETE', `/api/auth/admin/users/${other.body.id}`, undefined, asRoot))
        .status,
    ).toBe(204);
    expect(
      (await server.rows('users')).find(({ id }) => id === other.body.id)!['deletedAt'],
    ).not.toBeNull();
    await server.close();
  });

  it('a user that other records need is not deleted, and nothing of him is', async () => {
    const posts: Entity = {
      ...USER,
      name: 'Post',
      table: 'posts',
      columns: [
        USER.columns[0]!,
        {
          name: 'author_id',
          type: 'id',
          required: true,
          unique: false,
          scalar: 'ID',
          list: false,
          references: { entity: 'User', onDelete: 'restrict' },
        },
      ],
    };
    const server = await startServer({ database, entity: USER, more: [posts] });
    const { body } = await server.register('author@x.test');
    await server.kernel.store.db.insertInto('posts').values({ author_id: body.id }).execute();
    const answer = await server.call(
      'DELETE',
      `/api/auth/admin/users/${body.id}`,
      undefined,
      asRoot,
    );
    expect([answer.status, answer.text]).toEqual([
      409,
      '{"error":"Other records refer to this user"}',
    ]);
    expect((await server.login('author@x.test')).status).toBe(200);
    expect(
      (await server.call('GET', '/api/auth/me', undefined, bearer(body.accessToken))).status,
    ).toBe(200);
    await server.close();
  });

  it('the next user who gets a deleted key inherits nothing', async () => {
    const server = await startServer({ database, entity: USER });
    const { body } = await server.register('first@x.test');
    await server.kernel.store.db.deleteFrom('users').where('id', '=', body.id).execute();
    await server.kernel.store.db
      .insertInto('users')
      .values({ id: body.id, name: 'Second', email: 'second@x.test' })
      .execute();
    expect((await server.login('second@x.test')).status).toBe(401);
    expect(
      (await server.call('GET', '/api/auth/me', undefined, bearer(body.accessToken))).status,
    ).toBe(401);
    await server.close();
  });
});

describeWith('postgres', '§2.1 two servers on one database', () => {
  it('starting twice on one database is fine', async () => {
    const first = await startServer({
      database: 'PostgreSQL',
      entity: USER,
      auth: { roles: { list: ['A', 'B'], default: 'B', first: null } },
    });
    const second = await startServer({
      database: 'PostgreSQL',
      entity: USER,
      url: first.databaseUrl,
      auth: { roles: { list: ['A', 'B', 'C'], default: 'B', first: null } },
    });
    expect((await second.rows('auth_roles')).map(({ name }) => name)).toEqual(['A', 'B', 'C']);
    expect((await first.register()).body.role_name).toBe('B');
    await second.close();
    await first.close();
  });
});

describeEachDatabase('§2.7 a list of breached passwords', (database) => {
  it('is asked with five digits of the hash, and one that is away refuses nobody', async () => {
    const asked: string[] = [];
    const hash = createHash('sha1').update(BETTER).digest('hex').toUpperCase();
    const server = await startServer({
      database,
      options: {
        hooks: {
          breachedPasswords: ({ prefix }) => (
            asked.push(prefix),
            prefix === hash.slice(0, 5) ? [hash.slice(5)] : Promise.reject(new Error('away'))
          ),
        },
      },
    });
    expect((await server.register('a@x.test', { password: BETTER })).body).toEqual({
      error: 'Password is too common',
    });
    expect((await server.register('b@x.test', { password: GOOD })).status).toBe(201);
    expect(asked.every((prefix) => /^[0-9A-F]{5}$/.test(prefix))).toBe(true);
    await server.close();
  });
});

describeEachDatabase('§2.12 stale data', (database) => {
  it('invalidateExtend ends the access tokens, and a refresh brings the new data', async () => {
    let company = 1;
    const server = await startServer({
      database,
      options: { extend: (userId) => ({ user_id: userId, company }) },
    });
    const { body } = await server.register();
    company = 2;
    await (
      server.module as unknown as { invalidateExtend(id: number): Promise<void> }
    ).invalidateExtend(body.id);
    expect(
      (await server.call('GET', '/api/auth/me', undefined, bearer(body.accessToken))).status,
    ).toBe(401);
    const next = await server.call('POST', '/api/auth/refresh', {
      refreshToken: body.refreshToken,
    });
    expect(next.body.extend).toEqual({ user_id: body.id, company: 2 });
    expect(
      (await server.call('GET', '/api/auth/me', undefined, bearer(next.body.accessToken))).status,
    ).toBe(200);
    await server.close();
  });
});

describeEachDatabase('§2.13 keys that manage', (database) => {
  it('nobody hands out more than he has, and a wrong key is in the attempts', async () => {
    const server = await startServer({ database });
    const make = (scopes: string[], headers: Record<string, string> = asRoot) =>
      server.call('POST', '/api/auth/admin/api-keys', { name: 'k', scopes }, headers);
    const manager = { 'X-API-Key': (await make(['auth:manage', 'posts:*'])).body.key };
    expect((await make(['posts:read'], manager)).status).toBe(201);
    expect((await make(['*'], manager)).text).toBe('{"error":"Forbidden"}');
    expect((await make(['host:manage'], manager)).status).toBe(403);
    for (let index = 0; index < 20; index += 1)
      await server.call('GET', '/api/auth/me', undefined, { 'X-API-Key': `gk_aaaaaaaa_${index}` });
    expect(
      (await server.rows('auth_login_attempts')).filter(({ reason }) => reason === 'bad_api_key'),
    ).toHaveLength(20);
    await expect.poll(async () => (await server.events('alert.ip_bruteforce')).length).toBe(1);
    await server.close();
  });
});
