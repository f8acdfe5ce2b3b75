import { afterAll, beforeAll, expect, it } from 'vitest';
import {
  bearer,
  describeEachDatabase,
  GOOD,
  startServer,
  type TestServer,
  USER,
} from './harness.ts';

const HOUR = 3_600_000;
const PASSWORD = 'the operator knows this';
const TO_COOKIE = { client: 'desk', delivery: 'cookie' };
const HOSTED = { client: 'console', delivery: 'cookie' };
const application = {
  client: 'console',
  title: 'Console',
  path: '/console',
  access: HOUR / 4,
  idle: 8 * HOUR,
  absolute: 24 * HOUR,
  open: true,
  host: true,
  roles: { Owner: ['*'] },
};
const ROLES = { list: ['Owner', 'Member'], first: 'Owner', default: 'Member' };

describeEachDatabase('§2.6 applications of one origin', (database) => {
  let server: TestServer;
  const own = () => ({ Origin: server.url, 'Sec-Fetch-Site': 'same-origin' });
  const cookieOf = (headers: Headers) =>
    headers.getSetCookie().find((each) => /refresh/.test(each));
  const valueOf = (headers: Headers) => cookieOf(headers)!.split(';')[0]!;
  const login = (email: string, client: object = TO_COOKIE) =>
    server.call('POST', '/api/auth/login', { email, password: GOOD, ...client });
  const refresh = (headers: Record<string, string>, client: object = TO_COOKIE) =>
    server.call('POST', '/api/auth/refresh', client, headers);
  beforeAll(async () => {
    server = await startServer({
      database,
      entity: USER,
      hosting: {},
      auth: { roles: ROLES },
      env: { HOST_PASSWORD: PASSWORD },
      options: { applications: [application] },
    });
  });
  afterAll(() => server.close());

  it('moves the refresh token into a cookie of the client, whatever the delivery of the manifest', async () => {
    const { body } = await server.register();
    const { status, headers, body: login1 } = await login(body.email);
    expect([status, login1.refreshToken]).toEqual([200, undefined]);
    expect(cookieOf(headers)).toMatch(
      /^refresh-desk=rt1\.[^;]+; Max-Age=\d+; Path=\/; HttpOnly; SameSite=Strict$/,
    );
    const next = await refresh({ ...own(), Cookie: valueOf(headers) });
    expect([next.status, next.body.email, next.body.refreshToken]).toEqual([
      200,
      body.email,
      undefined,
    ]);
    const after = await refresh({ ...own(), Cookie: valueOf(next.headers) });
    const me = await server.call('GET', '/api/auth/me', undefined, bearer(after.body.accessToken));
    expect(me.status).toBe(200);
    const sessions = await server.call(
      'GET',
      '/api/auth/sessions',
      undefined,
      bearer(after.body.accessToken),
    );
    expect(sessions.body.sessions.map(({ client }: { client: string }) => client)).toEqual([
      'desk',
      null,
    ]);
  });

  it('takes the cookie only from the server’s own origin, and a refusal changes nothing', async () => {
    const { body } = await server.register();
    const Cookie = valueOf((await login(body.email)).headers);
    const { port } = new URL(server.url);
    for (const headers of [
      {},
      { Origin: 'null' },
      { Origin: `http://blog.localhost:${port}` },
      { Origin: `http://127.0.0.1:${Number(port) + 1}` },
      { Origin: `https://127.0.0.1:${port}` },
      { Origin: `https://127.0.0.1:${port}`, 'X-Forwarded-Proto': 'https' },
      { Origin: 'https://shop.example' },
      { Origin: server.url, 'Sec-Fetch-Site': 'same-site' },
      { Origin: server.url, 'Sec-Fetch-Site': 'cross-site' },
      { Origin: server.url, 'Sec-Fetch-Site': 'none' },
    ])
      for (const path of ['refresh', 'logout']) {
        const { status, text } = await server.call('POST', `/api/auth/${path}`, TO_COOKIE, {
          Cookie,
          ...headers,
        });
        expect([status, text], JSON.stringify(headers)).toEqual([403, '{"error":"Forbidden"}']);
      }
    expect((await refresh({ ...own(), Cookie })).status).toBe(200);
  });

  it('is given to no page of another origin, which would sign the browser in as its own user', async () => {
    const { body } = await server.register();
    const { port } = new URL(server.url);
    const enter = (headers: Record<string, string>) =>
      server.call(
        'POST',
        '/api/auth/login',
        { email: body.email, password: GOOD, ...TO_COOKIE },
        headers,
      );
    for (const headers of [
      { Origin: 'https://page.example' },
      { Origin: 'null' },
      { Origin: `http://blog.localhost:${port}` },
      { Origin: `https://127.0.0.1:${port}` },
      { Origin: server.url, 'Sec-Fetch-Site': 'same-site' },
      { 'Sec-Fetch-Site': 'cross-site' },
    ]) {
      const { status, headers: answer } = await enter(headers);
      expect([status, cookieOf(answer)], JSON.stringify(headers)).toEqual([403, undefined]);
    }
    expect((await enter(own())).status).toBe(200);
  });

  it('counts for that client alone, and nowhere as a token of a body', async () => {
    const { body } = await server.register();
    const Cookie = valueOf((await login(body.email)).headers);
    const token = Cookie.slice('refresh-desk='.length);
    const statuses = [];
    statuses.push(
      (
        await refresh(
          { ...own(), Cookie: `refresh-till=${token}` },
          { client: 'till', delivery: 'cookie' },
        )
      ).status,
    );
    statuses.push((await refresh({}, { refreshToken: token })).status);
    statuses.push(
      (await refresh({ ...own(), Cookie: `refresh-desk=${body.refreshToken}` })).status,
    );
    statuses.push((await server.call('POST', '/api/auth/logout', { refreshToken: token })).status);
    expect(statuses).toEqual([401, 401, 401, 401]);
    expect((await refresh({ ...own(), Cookie })).status).toBe(200);
  });

  it('ends and clears the cookie with the logout that names the client', async () => {
    const { body } = await server.register();
    const Cookie = valueOf((await login(body.email)).headers);
    const out = await server.call('POST', '/api/auth/logout', TO_COOKIE, { ...own(), Cookie });
    expect([out.status, cookieOf(out.headers)]).toEqual([
      200,
      'refresh-desk=; Max-Age=0; Path=/; HttpOnly; SameSite=Strict',
    ]);
    expect((await refresh({ ...own(), Cookie })).status).toBe(401);
  });

  it('refuses a client that is no name, or without its delivery', async () => {
    const { body } = await server.register();
    for (const client of [
      { client: 'desk' },
      { delivery: 'cookie' },
      { client: 'Desk', delivery: 'cookie' },
      { client: 'desk; Domain=x', delivery: 'cookie' },
      { client: 'desk', delivery: 'body' },
    ])
      expect((await login(body.email, client)).status, JSON.stringify(client)).toBe(400);
  });

  it('lets in whom the application admits: others get 403 after a right password, and no cookie', async () => {
    const { body: owner } = await server.register();
    const { body: member } = await server.register();
    await server.kernel.store.db
      .updateTable('auth_users')
      .set(({ selectFrom }) => ({
        role_id: selectFrom('auth_roles').select('id').where('name', '=', 'Owner'),
      }))
      .where('user_id', '=', owner.id)
      .execute();
    const inside = await login(owner.email, HOSTED);
    const [access] = [inside.body.exp - Date.now() / 1000];
    expect(inside.status).toBe(200);
    expect(Math.abs(access - 900)).toBeLessThan(5);
    const [session] = (await server.rows('auth_sessions')).filter(
      ({ client, user_id }) => client === 'console' && user_id === owner.id,
    );
    expect(Number(session!['idle_expires_at']) - Number(session!['created_at'])).toBe(8 * HOUR);
    expect(Number(session!['absolute_expires_at']) - Number(session!['created_at'])).toBe(
      24 * HOUR,
    );

    const outside = await login(member.email, HOSTED);
    expect([outside.status, outside.text, cookieOf(outside.headers)]).toEqual([
      403,
      '{"error":"Forbidden"}',
      undefined,
    ]);
    const [event] = (await server.events('auth.login.failed')).filter(
      ({ user_id }) => user_id === member.id,
    );
    expect(event!['data']).toMatchObject({ reason: 'console' });
    expect((await login(member.email)).status).toBe(200);
  });

  it('ends the session of somebody who is no longer admitted at the next refresh', async () => {
    const { body: owner } = await server.register();
    const role = (name: string) =>
      server.kernel.store.db
        .updateTable('auth_users')
        .set(({ selectFrom }) => ({
          role_id: selectFrom('auth_roles').select('id').where('name', '=', name),
        }))
        .where('user_id', '=', owner.id)
        .execute();
    await role('Owner');
    const Cookie = valueOf((await login(owner.email, HOSTED)).headers);
    await role('Member');
    expect((await refresh({ ...own(), Cookie }, HOSTED)).status).toBe(401);
  });

  it('signs the operator in by the link of the log, once, for ten minutes, for that application', async () => {
    const links = server.logs
      .map((line) => JSON.parse(line).msg as string)
      .filter((text) => text.startsWith('Console: '));
    expect(links).toEqual([
      expect.stringMatching(/^Console: http:\/\/[^ ]+\/console#code=[\w-]{43}$/),
    ]);
    const code = links[0]!.split('code=')[1];
    const enter = (client: object) => server.call('POST', '/api/auth/login', { code, ...client });
    const refused = { status: 400, text: '{"error":"Invalid or expired token"}' };
    expect(await enter(TO_COOKIE)).toMatchObject(refused);
    const tries = await Promise.all(Array.from({ length: 4 }, () => enter(HOSTED)));
    expect(tries.map(({ status }) => status).sort()).toEqual([200, 400, 400, 400]);
    const { headers } = tries.find(({ status }) => status === 200)!;
    expect((await refresh({ ...own(), Cookie: valueOf(headers) }, HOSTED)).status).toBe(200);
    expect(await enter(HOSTED)).toMatchObject(refused);
  });

  it('keeps the operator signed in by the same cookie, with the same answer', async () => {
    const first = await server.call('POST', '/api/auth/login', { password: PASSWORD, ...HOSTED });
    expect(Object.keys(first.body)).toEqual(['token', 'accessToken', 'exp', 'expiresAt']);
    expect(Math.abs(first.body.exp - Date.now() / 1000 - 900)).toBeLessThan(5);
    const Cookie = valueOf(first.headers);
    const next = await refresh({ ...own(), Cookie }, HOSTED);
    expect([next.status, Object.keys(next.body)]).toEqual([200, Object.keys(first.body)]);
    const sessions = await server.call(
      'GET',
      '/api/auth/sessions',
      undefined,
      bearer(next.body.token),
    );
    expect(sessions.body.sessions[0].client).toBe('console');
    application.host = false;
    expect((await refresh({ ...own(), Cookie: valueOf(next.headers) }, HOSTED)).status).toBe(401);
    application.host = true;
    const out = await server.call('POST', '/api/auth/logout', HOSTED, {
      ...own(),
      Cookie: valueOf(next.headers),
    });
    expect(out.status).toBe(200);
    expect((await refresh({ ...own(), Cookie: valueOf(next.headers) }, HOSTED)).status).toBe(401);
  });
});

describeEachDatabase('§2.6 applications of one origin over https', (database) => {
  it('have a cookie that no sub-domain can set', async () => {
    const server = await startServer({
      database,
      entity: USER,
      env: { APP_URL: 'https://shop.example' },
    });
    const { body } = await server.register();
    const { headers } = await server.call('POST', '/api/auth/login', {
      email: body.email,
      password: GOOD,
      ...TO_COOKIE,
    });
    const [cookie] = headers.getSetCookie().filter((each) => each.includes('refresh'));
    expect(cookie).toMatch(
      /^__Host-refresh-desk=[^;]+; Max-Age=\d+; Path=\/; HttpOnly; SameSite=Strict; Secure$/,
    );
    const refresh = (Origin: string) =>
      server.call('POST', '/api/auth/refresh', TO_COOKIE, {
        Origin,
        Cookie: cookie!.split(';')[0]!,
      });
    expect((await refresh('https://app.shop.example')).status).toBe(403);
    expect((await refresh('https://shop.example')).status).toBe(200);
    await server.close();
  });
});
