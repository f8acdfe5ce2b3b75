import { afterAll, beforeAll, expect, it } from 'vitest';
import {
  bearer,
  describeEachDatabase,
  GOOD,
  startServer,
  type TestServer,
  USER,
} from './harness.ts';

const DAY = 86_400_000;

describeEachDatabase('§2.5 logout, sessions, me', (database) => {
  let server: TestServer;
  const me = (token: string) => server.call('GET', '/api/auth/me', undefined, bearer(token));
  beforeAll(async () => {
    server = await startServer({ database, entity: USER });
  });
  afterAll(() => server.close());

  it('logout by refresh token ends the session and needs no bearer', async () => {
    const { body } = await server.register('out@x.test');
    expect(
      (await server.call('POST', '/api/auth/logout', { refreshToken: body.refreshToken })).status,
    ).toBe(200);
    expect((await me(body.accessToken)).status).toBe(401);
    expect(
      (await server.call('POST', '/api/auth/refresh', { refreshToken: body.refreshToken })).status,
    ).toBe(401);
    expect(
      (await server.call('POST', '/api/auth/logout', { refreshToken: body.refreshToken })).status,
    ).toBe(200);
  });

  it('logout without any credential, or with a forged one, is 401', async () => {
    const { body } = await server.register();
    expect((await server.call('POST', '/api/auth/logout')).text).toBe('{"error":"Unauthorized"}');
    expect(
      (
        await server.call(
          'POST',
          '/api/auth/logout',
          undefined,
          bearer(`${body.accessToken.slice(0, -4)}AAAA`),
        )
      ).status,
    ).toBe(401);
    const forged = body.refreshToken.replace(/.{6}$/, 'AAAAAA');
    expect((await server.call('POST', '/api/auth/logout', { refreshToken: forged })).status).toBe(
      401,
    );
    expect((await me(body.accessToken)).status).toBe(200);
  });

  it('an expired token may still log out', async () => {
    const own = await startServer({ database });
    const { body } = await own.register();
    own.advance(25 * 3_600_000);
    expect(
      (await own.call('GET', '/api/auth/me', undefined, bearer(body.accessToken))).status,
    ).toBe(401);
    expect(
      (await own.call('POST', '/api/auth/logout', undefined, bearer(body.accessToken))).status,
    ).toBe(200);
    expect(
      (await own.call('POST', '/api/auth/refresh', { refreshToken: body.refreshToken })).status,
    ).toBe(401);
    await own.close();
  });

  it('logout-all ends every session, and a login in the same second works', async () => {
    await server.register('all@x.test');
    const [a, b] = [await server.login('all@x.test'), await server.login('all@x.test')];
    const out = await server.call(
      'POST',
      '/api/auth/logout-all',
      undefined,
      bearer(a.body.accessToken),
    );
    expect(out).toMatchObject({ status: 200, body: { message: 'Logout successful', revoked: 3 } });
    const again = await server.login('all@x.test');
    expect([
      (await me(a.body.accessToken)).status,
      (await me(b.body.accessToken)).status,
      (await me(again.body.accessToken)).status,
    ]).toEqual([401, 401, 200]);
  });

  it('logout-all with keep_current keeps this one', async () => {
    await server.register('keep@x.test');
    const [a, b] = [await server.login('keep@x.test'), await server.login('keep@x.test')];
    const out = await server.call(
      'POST',
      '/api/auth/logout-all',
      { keep_current: true },
      bearer(a.body.accessToken),
    );
    expect(out.body.revoked).toBe(2);
    expect([(await me(a.body.accessToken)).status, (await me(b.body.accessToken)).status]).toEqual([
      200, 401,
    ]);
  });

  it("sessions lists the live ones and DELETE ends one, but never somebody else's", async () => {
    await server.register('list@x.test');
    const mine = await server.login('list@x.test', GOOD, { 'User-Agent': 'Test\u0009Browser/1' });
    const { body: stranger } = await server.register('stranger@x.test');
    const list = await server.call(
      'GET',
      '/api/auth/sessions',
      undefined,
      bearer(mine.body.accessToken),
    );
    expect(list.body.total).toBe(2);
    expect(Object.keys(list.body.sessions[0])).toEqual([
      'id',
      'name',
      'created_at',
      'last_seen_at',
      'ip',
      'user_agent',
      'auth_method',
      'client',
      'amr',
      'current',
      'impersonated_by',
    ]);
    const current = list.body.sessions.find((each: any) => each.current);
    expect(current).toMatchObject({
      ip: '127.0.0.1',
      user_agent: 'Test Browser/1',
      auth_method: 'password',
    });
    const other = list.body.sessions.find((each: any) => !each.current);
    const end = (id: string, token: string) =>
      server.call('DELETE', `/api/auth/sessions/${id}`, undefined, bearer(token));
    expect((await end(other.id, stranger.accessToken)).text).toBe('{"error":"Session not found"}');
    expect((await end('%00', mine.body.accessToken)).status).toBe(404);
    expect((await end(other.id, mine.body.accessToken)).status).toBe(204);
    expect((await end(other.id, mine.body.accessToken)).status).toBe(404);
    expect((await end(current.id, mine.body.accessToken)).status).toBe(204);
    expect((await me(mine.body.accessToken)).status).toBe(401);
  });

  it('a user has 20 live sessions; the oldest end', async () => {
    const { body: first } = await server.register('twenty@x.test');
    for (let index = 0; index < 20; index += 1) await server.login('twenty@x.test');
    expect((await me(first.accessToken)).status).toBe(401);
    const { body } = await server.login('twenty@x.test');
    expect(
      (await server.call('GET', '/api/auth/sessions', undefined, bearer(body.accessToken))).body
        .total,
    ).toBe(20);
    expect(
      (await server.events('auth.session_ended')).filter(({ user_id }) => user_id === first.id),
    ).toHaveLength(2);
  });

  it('a session idles out after 7 days and ends after 30 whatever happens', async () => {
    const own = await startServer({ database });
    const { body } = await own.register();
    const refresh = async (refreshToken: string) =>
      own.call('POST', '/api/auth/refresh', { refreshToken });
    let token = body.refreshToken;
    for (let day = 0; day < 28; day += 6) {
      const next = await refresh(token);
      expect(next.status).toBe(200);
      token = next.body.refreshToken;
      own.advance(6 * DAY);
    }
    expect((await refresh(token)).status).toBe(401);
    const idle = await own.login((await own.rows('users'))[0]!['email']);
    own.advance(7 * DAY + 1000);
    expect((await refresh(idle.body.refreshToken)).text).toBe('{"error":"Invalid refresh token"}');
    await own.close();
  });

  it('reauthenticate proves the password for five minutes', async () => {
    const own = await startServer({ database });
    const { body } = await own.register('re@x.test');
    let token = body.accessToken;
    const call = (path: string, json: unknown) => own.call('POST', path, json, bearer(token));
    const key = () => call('/api/auth/api-keys', { name: 'mine', scopes: [] });
    expect((await key()).status).toBe(201);
    own.advance(5 * 60_000 + 1000);
    expect((await key()).text).toBe('{"error":"Reauthentication required"}');
    expect((await call('/api/auth/reauthenticate', { password: 'wrong' })).text).toBe(
      '{"error":"Invalid credentials"}',
    );
    const proof = await call('/api/auth/reauthenticate', { password: GOOD });
    expect(proof.status).toBe(200);
    expect(proof.body.reauthenticated_until).toMatch(/^\d{4}-.*Z$/);
    // The old tokens are invalid.
    expect((await key()).status).toBe(401);
    token = proof.body.accessToken;
    expect((await key()).status).toBe(201);
    await own.close();
  });

  it('what changes an account is refused five minutes after the proof', async () => {
    const own = await startServer({ database });
    const { body } = await own.register('sensitive@x.test');
    own.advance(5 * 60_000 + 1000);
    for (const [method, path, json] of [
      ['POST', '/api/auth/change-email', { email: 'other@x.test' }],
      ['POST', '/api/auth/api-keys', { name: 'mine', scopes: [] }],
      ['POST', '/api/auth/link', { provider: 'google' }],
      ['DELETE', '/api/auth/identities/google', undefined],
    ] as const) {
      const { status, text } = await own.call(method, path, json, bearer(body.accessToken));
      expect([path, status, text]).toEqual([path, 403, '{"error":"Reauthentication required"}']);
    }
    await own.close();
  });

  it("user_id in the context of a user who does not exist is the seed's 404", async () => {
    const own = await startServer({
      database,
      middleware: [async (ctx, next) => (ctx.state.context.values.set('user_id', 4711), next())],
    });
    expect(await own.call('GET', '/api/auth/me')).toMatchObject({
      status: 404,
      body: { error: 'User not found' },
    });
    await own.close();
  });

  it('the request context has the caller for what runs after', async () => {
    const seen: unknown[] = [];
    const own = await startServer({
      database,
      middleware: [
        async (ctx, next) => {
          const { values, principal } = ctx.state.context;
          seen.push([
            values.get('user_id'),
            values.get('auth_method'),
            values.get('amr'),
            values.get('nothing'),
            principal.kind,
          ]);
          values.set('company_id', 7);
          await next();
        },
      ],
    });
    const { body } = await own.register();
    await own.call('GET', '/api/auth/me', undefined, bearer(body.accessToken));
    expect(seen.at(-1)).toEqual([
      [body.id, true],
      ['bearer', true],
      [['pwd'], true],
      [undefined, false],
      'user',
    ]);
    await own.call('GET', '/api/auth/me');
    expect(seen.at(-1)).toEqual([
      [undefined, false],
      [undefined, false],
      [undefined, false],
      [undefined, false],
      'anonymous',
    ]);
    await own.close();
  });
});
