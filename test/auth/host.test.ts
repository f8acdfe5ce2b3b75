import bcrypt from 'bcrypt';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { ServerModule } from '../../runtime/core/module.ts';
import { reply } from '../../runtime/core/http/route.ts';
import { asRoot, bearer, describeEachDatabase, startServer, type TestServer } from './harness.ts';

const PASSWORD = 'the operator knows this';
const spec = (access: string) => ({
  id: access,
  method: 'GET' as const,
  path: `/api/guarded/${access.replace(':', '-')}`,
  access,
  tag: 't',
  summary: '',
  responses: {},
});
/** What hosting brings along: routes behind the guards of auth. */
const HOSTING: ServerModule = {
  name: 'hosting',
  routes: ['host', 'apps:read', 'user'].map((access) => ({
    spec: spec(access),
    handle: () => reply(200, { fine: true }),
  })),
};

describeEachDatabase('§2.15 host login', (database) => {
  let server: TestServer;
  const login = (password: unknown, on = server) =>
    on.call('POST', '/api/auth/login', { password });
  const guarded = (access: string, headers = {}, on = server) =>
    on.call('GET', `/api/guarded/${access}`, undefined, headers);
  beforeAll(async () => {
    server = await startServer({
      database,
      hosting: {},
      env: { HOST_PASSWORD: PASSWORD },
      modules: [HOSTING],
    });
  });
  afterAll(() => server.close());

  it('answers with a token under both names, for 24 hours', async () => {
    const { status, body } = await login(PASSWORD);
    expect(status).toBe(200);
    expect(Object.keys(body)).toEqual(['token', 'accessToken', 'exp', 'expiresAt']);
    expect(body.token).toBe(body.accessToken);
    expect(Date.parse(body.expiresAt)).toBe(body.exp * 1000);
    expect(Math.abs(body.exp - Date.now() / 1000 - 86_400)).toBeLessThan(5);
    const claims = JSON.parse(Buffer.from(body.token.split('.')[1], 'base64url').toString());
    expect(Object.keys(claims).sort()).toEqual(['exp', 'iat', 'jti', 'scope', 'sid']);
    expect((await guarded('host', bearer(body.token))).status).toBe(200);
    expect((await guarded('apps-read', bearer(body.token))).status).toBe(200);
  });

  it('a wrong password is 401 with its own text, and 423 after five from one address', async () => {
    const own = await startServer({ database, hosting: {}, env: { HOST_PASSWORD: PASSWORD } });
    const statuses = [];
    for (let index = 0; index < 6; index += 1) statuses.push((await login('wrong', own)).status);
    expect(statuses).toEqual([401, 401, 401, 401, 401, 423]);
    expect((await login(PASSWORD, own)).status).toBe(423);
    await own.close();
    expect((await login('wrong')).text).toBe('{"error":"Invalid password"}');
  });

  it('somebody else who guesses does not lock the operator out', async () => {
    const own = await startServer({
      database,
      hosting: {},
      env: { HOST_PASSWORD: PASSWORD },
      server: { trustedProxies: ['127.0.0.1'] },
    });
    const from = (ip: string, password: string) =>
      own.call('POST', '/api/auth/login', { password }, { 'X-Forwarded-For': ip });
    for (let index = 0; index < 6; index += 1) await from('203.0.113.9', 'wrong');
    expect((await from('203.0.113.9', PASSWORD)).status).toBe(423);
    expect((await from('198.51.100.7', PASSWORD)).status).toBe(200);
    await own.close();
  });

  it('all together are under a ceiling of 100 failures an hour', async () => {
    const own = await startServer({
      database,
      hosting: {},
      auth: { rateLimits: { 'host-failed': { count: 3, window: 3_600_000 } } },
      env: { HOST_PASSWORD: PASSWORD, RATE_LIMIT_ENABLED: 'true' },
      server: { trustedProxies: ['127.0.0.1'] },
    });
    const from = (ip: string) =>
      own.call('POST', '/api/auth/login', { password: 'wrong' }, { 'X-Forwarded-For': ip });
    expect([
      (await from('1.1.1.1')).status,
      (await from('1.1.1.2')).status,
      (await from('1.1.1.3')).status,
      (await from('1.1.1.4')).status,
    ]).toEqual([401, 401, 401, 429]);
    await own.close();
  });

  it('a device that signed in counts by itself: strangers lock the operator out nowhere', async () => {
    const own = await startServer({
      database,
      hosting: {},
      auth: {
        rateLimits: {
          'host-failed': { count: 6, window: 3_600_000 },
          'login-failed-ip': { count: 5, window: 300_000 },
        },
      },
      env: { HOST_PASSWORD: PASSWORD, RATE_LIMIT_ENABLED: 'true' },
      server: { trustedProxies: ['127.0.0.1'] },
    });
    const from = (ip: string, password: string, headers = {}) =>
      own.call('POST', '/api/auth/login', { password }, { 'X-Forwarded-For': ip, ...headers });
    const first = await from('203.0.113.9', PASSWORD);
    const cookie = first.headers.getSetCookie().find((line) => line.startsWith('host_device='))!;
    const token = first.headers.get('x-device-token')!;
    expect(cookie).toBe(
      `host_device=${token}; Max-Age=31536000; Path=/api/auth; HttpOnly; SameSite=Lax`,
    );
    // Five failures lock the operator's own address; a sixth, from another one, reaches the ceiling.
    for (let index = 0; index < 5; index += 1) await from('203.0.113.9', 'wrong');
    await from('1.1.1.1', 'wrong');
    for (const ip of ['203.0.113.9', '198.51.100.7'])
      expect((await from(ip, PASSWORD)).status).toBe(429);
    for (const headers of [{ 'X-Device-Token': token }, { Cookie: cookie.split(';')[0]! }])
      for (const ip of ['203.0.113.9', '198.51.100.7'])
        expect((await from(ip, PASSWORD, headers)).status).toBe(200);
    // The device itself has five tries, and an altered token is no device.
    const device = { 'X-Device-Token': token };
    const statuses = [];
    for (let index = 0; index < 6; index += 1)
      statuses.push((await from('192.0.2.1', 'wrong', device)).status);
    expect(statuses).toEqual([401, 401, 401, 401, 401, 429]);
    const altered = { 'X-Device-Token': `${token.slice(0, -2)}AA` };
    expect((await from('198.51.100.7', PASSWORD, altered)).status).toBe(429);
    await own.close();
  });

  it('the kinds of token do not pass for each other', async () => {
    const { body: host } = await login(PASSWORD);
    const { body: user } = await server.register();
    expect((await guarded('host', bearer(user.accessToken))).text).toBe('{"error":"Unauthorized"}');
    expect((await guarded('user', bearer(host.token))).status).toBe(401);
    expect((await server.call('GET', '/api/auth/me', undefined, bearer(host.token))).status).toBe(
      401,
    );
    expect((await guarded('host')).status).toBe(401);
  });

  it('logout and sessions work for the operator as for anybody', async () => {
    const { body } = await login(PASSWORD);
    const list = await server.call('GET', '/api/auth/sessions', undefined, bearer(body.token));
    expect(list.body.sessions.find((each: any) => each.current)).toMatchObject({
      auth_method: 'host',
    });
    expect(
      (await server.call('POST', '/api/auth/logout', undefined, bearer(body.token))).body,
    ).toEqual({ message: 'Logout successful' });
    expect((await guarded('host', bearer(body.token))).status).toBe(401);
  });

  it('a key passes with its scope, and the root key always', async () => {
    const key = async (scopes: string[]) =>
      (await server.call('POST', '/api/auth/admin/api-keys', { name: 'k', scopes }, asRoot)).body
        .key;
    expect((await guarded('apps-read', asRoot)).status).toBe(200);
    expect((await guarded('apps-read', { 'X-API-Key': await key(['apps:read']) })).status).toBe(
      200,
    );
    expect((await guarded('apps-read', { 'X-API-Key': await key(['host:manage']) })).status).toBe(
      200,
    );
    expect((await guarded('apps-read', { 'X-API-Key': await key(['posts:read']) })).text).toBe(
      '{"error":"Permission apps:read is required"}',
    );
  });

  it('HOST_PASSWORD_HASH does as well', async () => {
    const own = await startServer({
      database,
      hosting: {},
      env: { HOST_PASSWORD_HASH: await bcrypt.hash(PASSWORD, 4) },
    });
    expect((await login(PASSWORD, own)).status).toBe(200);
    expect((await login('wrong', own)).status).toBe(401);
    await own.close();
  });

  it("with neither, hosting's routes say that it has to be set up", async () => {
    const own = await startServer({ database, hosting: {}, modules: [HOSTING] });
    expect((await guarded('host', {}, own)).text).toBe('{"error":"Setup required"}');
    expect((await login(PASSWORD, own)).text).toBe('{"error":"Setup required"}');
    await own.close();
  });

  it('with hosting.access: users, a permission opens the door and nothing else', async () => {
    const roles = { list: ['Operator', 'Member'], default: 'Member', first: null };
    const own = await startServer({
      database,
      hosting: { access: 'users' },
      auth: { roles },
      modules: [HOSTING],
    });
    const [operator, member] = [await own.register('op@x.test'), await own.register('me@x.test')];
    await own.call('PUT', `/api/auth/admin/users/${operator.body.id}/role`, { role_id: 1 }, asRoot);
    const before = await own.login('op@x.test');
    expect((await guarded('host', bearer(before.body.accessToken), own)).status).toBe(403);
    expect(
      (await own.call('PUT', '/api/auth/admin/roles/1/permissions/host:manage', undefined, asRoot))
        .status,
    ).toBe(204);
    const again = await own.login('op@x.test');
    expect((await guarded('host', bearer(again.body.accessToken), own)).status).toBe(200);
    expect((await guarded('host', bearer(member.body.accessToken), own)).text).toBe(
      '{"error":"Permission host:manage is required"}',
    );
    await own.close();
  });
});

describeEachDatabase('§2.15 hosting without an auth section', (database) => {
  it("has the operator's login and no user routes", async () => {
    const server = await startServer({
      database,
      auth: null,
      hosting: {},
      env: { HOST_PASSWORD: PASSWORD },
      modules: [HOSTING],
    });
    const { body } = await server.call('POST', '/api/auth/login', { password: PASSWORD });
    expect(
      (await server.call('GET', '/api/guarded/host', undefined, bearer(body.token))).status,
    ).toBe(200);
    expect((await server.register()).status).toBe(404);
    expect((await server.call('GET', '/api/auth/me', undefined, bearer(body.token))).status).toBe(
      404,
    );
    expect((await server.login('a@x.test', 'x')).status).toBe(401);
    expect((await server.call('POST', '/api/auth/login', {})).body).toEqual({
      error: 'password or code is required',
    });
    expect(
      (await server.call('POST', '/api/auth/logout', undefined, bearer(body.token))).status,
    ).toBe(200);
    await server.close();
  });

  it('without hosting a body without an address is 400', async () => {
    const server = await startServer({ database });
    expect((await server.call('POST', '/api/auth/login', { password: PASSWORD })).text).toBe(
      '{"error":"email is required"}',
    );
    await server.close();
  });
});
