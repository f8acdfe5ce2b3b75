import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { hasScope } from '../../runtime/core/context/scopes.ts';
import {
  asRoot,
  bearer,
  describeEachDatabase,
  startServer,
  type TestServer,
  USER,
} from './harness.ts';

const ROLES = { list: ['Owner', 'Member'], default: 'Member', first: 'Owner' };
const ADMIN = '/api/auth/admin';

describeEachDatabase('§2.13 API keys and management', (database) => {
  let server: TestServer;
  const call = (
    method: string,
    path: string,
    body?: unknown,
    headers: Record<string, string> = asRoot,
  ) => server.call(method, ADMIN + path, body, headers);
  const makeKey = async (more: object = {}) =>
    (await call('POST', '/api-keys', { name: 'a key', scopes: ['users:read'], ...more })).body;
  const me = (key: string) => server.call('GET', '/api/auth/me', undefined, { 'X-API-Key': key });
  beforeAll(async () => {
    server = await startServer({ database, entity: USER, auth: { roles: ROLES } });
  });
  afterAll(() => server.close());

  it('nothing without a key, nothing with a wrong one, nothing without the scope', async () => {
    const { body } = await server.register('plain@x.test');
    const other = await makeKey();
    for (const [method, path] of [
      ['GET', '/api-keys'],
      ['GET', '/login-attempts'],
      ['POST', '/users/1/disable'],
      ['GET', '/roles'],
      ['GET', '/webhooks'],
    ] as const) {
      expect((await call(method, path, undefined, {})).text).toBe('{"error":"API key required"}');
      expect((await call(method, path, undefined, { 'X-API-Key': 'gk_aaaaaaaa_wrong' })).text).toBe(
        '{"error":"Invalid API key"}',
      );
      expect((await call(method, path, undefined, { 'X-API-Key': other.key })).text).toBe(
        '{"error":"Forbidden"}',
      );
      expect((await call(method, path, undefined, bearer(body.accessToken))).status).toBe(403);
    }
    expect(
      (await call('GET', '/api-keys?api_key=root-key-of-the-tests-0123456789', undefined, {}))
        .status,
    ).toBe(401);
  });

  it('a key is shown once, stored as a hash, listed without it', async () => {
    const made = await call('POST', '/api-keys', {
      name: 'shown once',
      scopes: ['posts:write', 'posts:read'],
      expires_in: '30d',
    });
    expect(made.status).toBe(201);
    expect(Object.keys(made.body)).toEqual(['id', 'name', 'prefix', 'key', 'scopes', 'expires_at']);
    expect(made.body.key).toMatch(/^gk_[\w-]{8}_[\w-]{43}$/);
    expect(made.body.scopes).toEqual(['posts:read', 'posts:write']);
    const secret = made.body.key.slice(12);
    expect((await call('GET', '/api-keys')).text).not.toContain(secret);
    expect(JSON.stringify(await server.rows('auth_api_keys'))).not.toContain(secret);
    expect(JSON.stringify(await server.rows('auth_permission_changes'))).not.toContain(secret);
    expect(server.logs.join()).not.toContain(secret);
  });

  it('a key ends within a hundred years, and the list of keys can always be read', async () => {
    for (const expires_in of [
      1e13,
      1e300,
      -1,
      0,
      1e-9,
      1.5,
      3_153_600_001,
      '999999999d',
      '36501d',
      'NaN',
      {},
      true,
    ])
      expect([
        expires_in,
        (await call('POST', '/api-keys', { name: 'k', scopes: [], expires_in })).status,
      ]).toEqual([expires_in, 400]);
    for (const limit_per_min of [1e300, 2 ** 53, -1, 1.5])
      expect([
        limit_per_min,
        (await call('POST', '/api-keys', { name: 'k', scopes: [], limit_per_min })).status,
      ]).toEqual([limit_per_min, 400]);
    for (const expires_in of [1, '36500d']) {
      const made = await call('POST', '/api-keys', { name: 'k', scopes: [], expires_in });
      expect([made.status, Date.parse(made.body.expires_at) > Date.now() - 60_000]).toEqual([
        201,
        true,
      ]);
    }
    expect((await call('GET', '/api-keys')).status).toBe(200);
  });

  it('a key that acts for a user puts his id into the context; one that does not is 401 there', async () => {
    const { body } = await server.register('acts@x.test');
    const acting = await makeKey({ user_id: body.id });
    expect((await me(acting.key)).body).toMatchObject({ id: body.id });
    expect((await me((await makeKey()).key)).status).toBe(401);
    expect(
      (await call('POST', '/api-keys', { name: 'x', scopes: [], user_id: 987_654 })).text,
    ).toBe('{"error":"User not found"}');
  });

  it('expired, revoked and rotated keys stop working', async () => {
    const own = await startServer({ database });
    const post = (path: string, json?: unknown) => own.call('POST', ADMIN + path, json, asRoot);
    const use = async (key: string) =>
      (await own.call('GET', '/api/auth/password-policy', undefined, { 'X-API-Key': key })).status;
    const { body: short } = await post('/api-keys', { name: 'short', scopes: [], expires_in: 60 });
    const { body: rotated } = await post('/api-keys', { name: 'rotated', scopes: ['a:b'] });
    expect([await use(short.key), await use(rotated.key)]).toEqual([200, 200]);
    const { body: next, status } = await post(`/api-keys/${rotated.id}/rotate`, { overlap: '1h' });
    expect(status).toBe(201);
    expect(next).toMatchObject({ name: 'rotated', scopes: ['a:b'] });
    expect([await use(rotated.key), await use(next.key)]).toEqual([200, 200]);
    own.advance(61_000);
    expect(await use(short.key)).toBe(401);
    own.advance(3_600_000);
    expect([await use(rotated.key), await use(next.key)]).toEqual([401, 200]);
    expect(
      (await own.call('DELETE', `${ADMIN}/api-keys/${next.id}`, undefined, asRoot)).status,
    ).toBe(204);
    expect(await use(next.key)).toBe(401);
    expect((await own.call('DELETE', `${ADMIN}/api-keys/${next.id}`, undefined, asRoot)).text).toBe(
      '{"error":"API key not found"}',
    );
    const { body: at } = await post('/api-keys', { name: 'now', scopes: [] });
    const { body: fresh } = await post(`/api-keys/${at.id}/rotate`);
    expect([await use(at.key), await use(fresh.key)]).toEqual([401, 200]);
    await own.close();
  });

  it('a key has a limit of its own', async () => {
    const own = await startServer({ database, env: { RATE_LIMIT_ENABLED: 'true' } });
    const { body } = await own.call(
      'POST',
      `${ADMIN}/api-keys`,
      { name: 'slow', scopes: [], limit_per_min: 2 },
      asRoot,
    );
    const use = () =>
      own.call('GET', '/api/auth/password-policy', undefined, { 'X-API-Key': body.key });
    expect([(await use()).status, (await use()).status, (await use()).status]).toEqual([
      200, 200, 429,
    ]);
    await own.close();
  });

  it('last_used_at is written, at most once a minute', async () => {
    const { key, id } = await makeKey();
    await server.call('GET', '/api/auth/password-policy', undefined, { 'X-API-Key': key });
    await expect
      .poll(
        async () =>
          (await server.rows('auth_api_keys')).find((row) => row['id'] === id)!['last_used_at'],
      )
      .toBeGreaterThan(0);
    const first = (await server.rows('auth_api_keys')).find((row) => row['id'] === id)![
      'last_used_at'
    ];
    await server.call('GET', '/api/auth/password-policy', undefined, { 'X-API-Key': key });
    await new Promise((resolve) => setTimeout(resolve, 50));
    expect(
      (await server.rows('auth_api_keys')).find((row) => row['id'] === id)!['last_used_at'],
    ).toBe(first);
  });

  it('a user makes keys for himself, but none that manages', async () => {
    const { body } = await server.register('ownkeys@x.test');
    const make = (scopes: string[]) =>
      server.call('POST', '/api/auth/api-keys', { name: 'mine', scopes }, bearer(body.accessToken));
    const mine = await make(['users:*']);
    expect((await me(mine.body.key)).body.id).toBe(body.id);
    for (const scope of [
      '*',
      '*:read',
      'auth:manage',
      'auth:*',
      'host:manage',
      'apps:write',
      'posts:read',
      'users:publish',
    ])
      expect((await make([scope])).status).toBe(403);
    expect((await make(['nonsense'])).status).toBe(400);
  });

  it('disabling a user ends sessions, keys and one-time tokens at once', async () => {
    const { body } = await server.register('disable@x.test');
    const { key } = await makeKey({ user_id: body.id });
    await server.call('POST', '/api/auth/forgot-password', { email: 'disable@x.test' });
    // The token is made after the answer.
    await expect
      .poll(async () =>
        (await server.rows('auth_one_time_tokens')).some(
          ({ user_id, kind }) => user_id === body.id && kind === 'reset',
        ),
      )
      .toBe(true);
    expect((await call('POST', `/users/${body.id}/disable`)).status).toBe(200);
    expect(
      (await server.call('GET', '/api/auth/me', undefined, bearer(body.accessToken))).status,
    ).toBe(401);
    expect(
      (await server.call('POST', '/api/auth/refresh', { refreshToken: body.refreshToken })).status,
    ).toBe(401);
    expect((await me(key)).text).toBe('{"error":"Invalid API key"}');
    expect(
      (await server.rows('auth_one_time_tokens')).filter(
        ({ user_id, used_at }) => user_id === body.id && used_at === null,
      ),
    ).toEqual([]);
    await call('POST', `/users/${body.id}/enable`);
    expect(
      (await server.call('GET', '/api/auth/me', undefined, bearer(body.accessToken))).status,
    ).toBe(401);
    // Also when a session was opened in the moment between: the account itself is asked.
    const { body: late } = await server.login('disable@x.test');
    await server.kernel.store.db
      .updateTable('auth_users')
      .set({ disabled_at: 1 })
      .where('user_id', '=', body.id)
      .execute();
    expect(
      (await server.call('GET', '/api/auth/me', undefined, bearer(late.accessToken))).status,
    ).toBe(401);
    expect(
      (await server.call('POST', '/api/auth/refresh', { refreshToken: late.refreshToken })).status,
    ).toBe(401);
  });

  it('deleting a user takes everything with him', async () => {
    const { body } = await server.register('delete@x.test');
    const { key } = await makeKey({ user_id: body.id });
    expect((await call('DELETE', `/users/${body.id}`)).status).toBe(204);
    expect((await call('GET', `/users/${body.id}`)).text).toBe('{"error":"User not found"}');
    expect((await me(key)).status).toBe(401);
    for (const table of ['auth_users', 'auth_sessions', 'auth_one_time_tokens'])
      expect((await server.rows(table)).filter(({ user_id }) => user_id === body.id)).toEqual([]);
    expect((await server.register('delete@x.test')).status).toBe(201);
  });

  it('ids that cannot be are 404', async () => {
    for (const id of ['0', '-1', '1e3', '99999999999999999999', "1'--", '%00', 'x'])
      expect((await call('GET', `/users/${id}`)).status, id).toBe(404);
    expect((await call('DELETE', '/api-keys/%00')).status).toBe(404);
    expect((await call('PUT', '/users/1/role', { role_id: 99 })).text).toBe(
      '{"error":"Role not found"}',
    );
  });

  it('ends every session of a user', async () => {
    const { body } = await server.register('kick@x.test');
    expect((await call('DELETE', `/users/${body.id}/sessions`)).status).toBe(204);
    expect(
      (await server.call('GET', '/api/auth/me', undefined, bearer(body.accessToken))).status,
    ).toBe(401);
  });

  it('roles: made, renamed, granted, taken, deleted; each change is in the log with before and after', async () => {
    const made = await call('POST', '/roles', { name: 'Editor', permissions: ['posts:write'] });
    expect([made.status, made.body]).toEqual([
      201,
      { id: expect.any(Number), name: 'Editor', is_system: false, permissions: ['posts:write'] },
    ]);
    const id = made.body.id as number;
    expect((await call('POST', '/roles', { name: 'Editor' })).text).toBe(
      '{"error":"Role already exists"}',
    );
    const { body: user } = await server.register('editor@x.test');
    expect((await call('PUT', `/users/${user.id}/role`, { role_id: id })).body).toMatchObject({
      role_id: id,
      role_name: 'Editor',
    });
    const login = await server.login('editor@x.test');
    expect((await call('PUT', `/roles/${id}/permissions/posts:delete`)).status).toBe(204);
    expect(
      (await server.call('GET', '/api/auth/me', undefined, bearer(login.body.accessToken))).status,
    ).toBe(401);
    expect((await call('PUT', `/roles/${id}`, { name: 'Author' })).body).toMatchObject({
      name: 'Author',
      permissions: ['posts:delete', 'posts:write'],
    });
    expect((await call('DELETE', `/roles/${id}/permissions/posts:write`)).status).toBe(204);
    expect((await call('DELETE', `/roles/${id}`)).text).toBe('{"error":"Role is in use"}');
    expect((await call('PUT', `/users/${user.id}/role`, { role_id: null })).status).toBe(200);
    expect((await call('DELETE', `/roles/${id}`)).status).toBe(204);
    expect((await call('PUT', '/roles/1', { name: 'Boss' })).status).toBe(403);
    expect((await call('DELETE', '/roles/1')).status).toBe(403);
    const { changes } = (await call('GET', '/permission-changes')).body;
    expect(changes.slice(0, 7).map(({ action }: any) => action)).toEqual([
      'role.deleted',
      'role.removed',
      'permission.revoked',
      'role.updated',
      'permission.granted',
      'role.assigned',
      'role.created',
    ]);
    expect(changes[3]).toMatchObject({
      before: { name: 'Editor' },
      after: { name: 'Author' },
      actor_kind: 'api_key',
      actor_id: 'root',
      target_kind: 'role',
    });
    expect(
      (await call('GET', '/permissions')).body.permissions.map(({ name }: any) => name),
    ).toContain('posts:delete');
  });

  it('a user with the permission auth:manage may do what a key may', async () => {
    const { body: user } = await server.register('manager@x.test');
    const { body: role } = await call('POST', '/roles', {
      name: 'Manager',
      permissions: ['auth:manage'],
    });
    await call('PUT', `/users/${user.id}/role`, { role_id: role.id });
    const { body } = await server.login('manager@x.test');
    expect((await call('GET', '/roles', undefined, bearer(body.accessToken))).status).toBe(200);
  });

  it('login attempts are listed newest first, narrowed, and in pages', async () => {
    for (let index = 0; index < 5; index += 1) await server.login('attempts@x.test', 'wrong');
    const first = (await call('GET', '/login-attempts?outcome=failure&limit=2')).body;
    expect(first.attempts).toHaveLength(2);
    expect(first.attempts[0]).toMatchObject({
      outcome: 'failure',
      reason: 'bad_credentials',
      identifier_masked: 'a***@x.test',
      ip: '127.0.0.1',
    });
    const second = (
      await call('GET', `/login-attempts?outcome=failure&limit=2&cursor=${first.next_cursor}`)
    ).body;
    expect(second.attempts[0].id < first.attempts[1].id).toBe(true);
    expect((await call('GET', '/login-attempts?limit=201')).status).toBe(400);
    expect((await call('GET', '/login-attempts?outcome=maybe')).status).toBe(400);
    expect((await call('GET', '/login-attempts?since=yesterday')).status).toBe(400);
    expect((await call('GET', '/login-attempts?since=2999-01-01T00:00:00Z')).body.attempts).toEqual(
      [],
    );
    expect((await call('GET', '/login-attempts?user_id=4711')).body.attempts).toEqual([]);
    expect(
      (await call('GET', '/security-events?type=auth.login.failed&limit=1')).body.events[0],
    ).toMatchObject({
      type: 'auth.login.failed',
      severity: 'notice',
      data: { reason: 'bad_credentials' },
    });
  });
});

describe('§2.13 scopes', () => {
  it('name an action, an area or everything', () => {
    expect(hasScope(['posts:read'], 'posts:read')).toBe(true);
    expect(hasScope(['posts:*'], 'posts:read')).toBe(true);
    expect(hasScope(['*'], 'auth:manage')).toBe(true);
    expect(hasScope(['posts:*', 'post:read'], 'postscript:read')).toBe(false);
    expect(hasScope(['posts:read'], 'posts:*')).toBe(false);
    expect(hasScope([], 'posts:read')).toBe(false);
  });
});
