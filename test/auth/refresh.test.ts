import { afterAll, beforeAll, expect, it } from 'vitest';
import { createKeys } from '../../runtime/auth/secrets/keys.ts';
import { makeRefreshToken } from '../../runtime/auth/sessions/refresh-token.ts';
import {
  asRoot,
  bearer,
  describeEachDatabase,
  SECRET,
  startServer,
  type TestServer,
  USER,
} from './harness.ts';

/** Of base64url. The last of 43 characters carries four bits, so three others decode to the same bytes. */
const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';

describeEachDatabase('§2.6 refresh', (database) => {
  let server: TestServer;
  const refresh = (refreshToken: string, on = server) =>
    on.call('POST', '/api/auth/refresh', { refreshToken });
  const me = (token: string, on = server) =>
    on.call('GET', '/api/auth/me', undefined, bearer(token));
  beforeAll(async () => {
    server = await startServer({ database, entity: USER });
  });
  afterAll(() => server.close());

  it('gives a whole login object, and the token has the documented form', async () => {
    const { body } = await server.register();
    expect(body.refreshToken).toMatch(/^rt1\.[\w-]{22}\.1\.[\w-]{43}$/);
    const next = await refresh(body.refreshToken);
    expect(next.status).toBe(200);
    expect(Object.keys(next.body)).toEqual(Object.keys(body));
    expect(next.body.refreshToken).toMatch(/^rt1\.[\w-]{22}\.2\./);
    expect((await me(next.body.accessToken)).status).toBe(200);
  });

  it('ten at once get the same successor, and the session lives', async () => {
    const { body } = await server.register();
    const answers = await Promise.all(Array.from({ length: 10 }, () => refresh(body.refreshToken)));
    expect(answers.map(({ status }) => status)).toEqual(Array(10).fill(200));
    expect(new Set(answers.map((answer) => answer.body.refreshToken)).size).toBe(1);
    expect((await refresh(answers[0]!.body.refreshToken)).status).toBe(200);
  });

  it('the token before is taken for ten seconds; after that it ends the session and raises the alarm', async () => {
    const own = await startServer({ database });
    const { body } = await own.register();
    const next = await refresh(body.refreshToken, own);
    own.advance(9000);
    expect((await refresh(body.refreshToken, own)).body.refreshToken).toBe(next.body.refreshToken);
    own.advance(2000);
    expect((await refresh(body.refreshToken, own)).text).toBe('{"error":"Invalid refresh token"}');
    expect((await refresh(next.body.refreshToken, own)).status).toBe(401);
    expect((await me(next.body.accessToken, own)).status).toBe(401);
    const [event] = await own.events('token.refresh_reuse');
    expect(event).toMatchObject({
      severity: 'critical',
      user_id: body.id,
      data: { gen: 1, current: 2 },
    });
    expect(await own.events('alert.refresh_reuse')).toHaveLength(1);
    await own.close();
  });

  it('an older one than that is reuse even within the grace time', async () => {
    const { body } = await server.register();
    const second = await refresh(body.refreshToken);
    const third = await refresh(second.body.refreshToken);
    expect((await refresh(body.refreshToken)).status).toBe(401);
    expect((await refresh(third.body.refreshToken)).status).toBe(401);
  });

  it('a forged one ends nothing', async () => {
    const { body } = await server.register();
    const [, sid, , mac] = body.refreshToken.split('.');
    for (const text of [
      '',
      'rt1',
      `rt1.${sid}.5.${mac}`,
      `rt1.${sid}.1.${'A'.repeat(43)}`,
      `rt1.${'A'.repeat(22)}.1.${mac}`,
      body.accessToken,
      `${body.refreshToken}x`,
    ]) {
      expect((await refresh(text)).text, text).toBe('{"error":"Invalid refresh token"}');
    }
    expect((await refresh(body.refreshToken)).status).toBe(200);
  });

  it('a generation that was never handed out is 401 with a right MAC too, number 0 included', async () => {
    const { body } = await server.register();
    const sid = body.refreshToken.split('.')[1];
    const [session] = (await server.rows('auth_sessions')).filter(({ id }) => id === sid);
    const made = (generation: number | string) =>
      makeRefreshToken(createKeys(SECRET, []), sid, generation as number, session!['salt']);
    expect(made(1)).toBe(body.refreshToken);
    for (const generation of [
      0,
      2,
      3,
      999_999_999,
      1e9,
      -1,
      '01',
      '+1',
      '1.0',
      '1e0',
      ' 1',
      '1 ',
    ]) {
      expect((await refresh(made(generation))).text, String(generation)).toBe(
        '{"error":"Invalid refresh token"}',
      );
    }
    expect((await refresh(body.refreshToken)).status).toBe(200);
  });

  it('one token has one text', async () => {
    const { body } = await server.register();
    const [, sid, , mac] = body.refreshToken.split('.');
    const last = ALPHABET.indexOf(mac.at(-1));
    const others = [1, 2, 3].map((bits) => mac.slice(0, -1) + ALPHABET[last ^ bits]);
    for (const text of [
      `rt1.${sid}.01.${mac}`,
      `rt1.${sid}.000000001.${mac}`,
      `rt1.${sid}.١.${mac}`,
      `RT1.${sid}.1.${mac}`,
      ` ${body.refreshToken}`,
      `${body.refreshToken}\n`,
      `${body.refreshToken}=`,
      ...others.map((other) => `rt1.${sid}.1.${other}`),
    ]) {
      expect((await refresh(text)).text, text).toBe('{"error":"Invalid refresh token"}');
    }
    expect((await refresh(body.refreshToken)).status).toBe(200);
  });

  it('nothing in the database opens a session: the token is made from the secret', async () => {
    const { body } = await server.register();
    const mac = body.refreshToken.split('.')[3];
    for (const table of [
      'auth_sessions',
      'auth_one_time_tokens',
      'auth_revoked_tokens',
      'auth_security_events',
    ]) {
      expect(JSON.stringify(await server.rows(table))).not.toContain(mac);
    }
  });

  it('the role is read anew and extend runs again', async () => {
    const own = await startServer({
      database,
      auth: { roles: { list: ['Member', 'Boss'], default: 'Member', first: null } },
    });
    const { body } = await own.register();
    expect(body.extend.role).toEqual({ id: 1, name: 'Member' });
    expect(
      (await own.call('PUT', `/api/auth/admin/users/${body.id}/role`, { role_id: 2 }, asRoot))
        .status,
    ).toBe(200);
    expect((await me(body.accessToken, own)).status).toBe(401);
    const next = await refresh(body.refreshToken, own);
    expect(next.body).toMatchObject({
      role_id: 2,
      role_name: 'Boss',
      extend: { role: { id: 2, name: 'Boss' } },
    });
    expect((await me(next.body.accessToken, own)).status).toBe(200);
    await own.close();
  });

  it('the blacklist takes a token, an id, or a user', async () => {
    const revoke = (json: unknown) =>
      server.call('POST', '/api/auth/admin/tokens/revoke', json, asRoot);
    const a = (await server.register()).body;
    expect((await revoke({ token: a.accessToken })).body).toEqual({ revoked: 1 });
    expect((await me(a.accessToken)).status).toBe(401);
    const next = (await refresh(a.refreshToken)).body;
    const { jti } = JSON.parse(Buffer.from(next.accessToken.split('.')[1], 'base64url').toString());
    expect((await revoke({ jti })).body).toEqual({ revoked: 1 });
    expect((await me(next.accessToken)).status).toBe(401);
    const b = (await server.register()).body;
    expect((await revoke({ user_id: b.id })).body).toEqual({ revoked: 1 });
    expect((await me(b.accessToken)).status).toBe(401);
    expect((await revoke({ token: 'nonsense' })).body).toEqual({ revoked: 0 });
    expect((await revoke({})).status).toBe(400);
    expect((await revoke({ user_id: 987_654 })).status).toBe(404);
  });

  it('introspection says whether a token is live', async () => {
    const { body } = await server.register();
    const ask = (token: string) =>
      server.call('POST', '/api/auth/admin/introspect', { token }, asRoot);
    expect((await ask(body.accessToken)).body).toMatchObject({
      active: true,
      user_id: body.id,
      exp: body.exp,
      extend: body.extend,
    });
    await server.call('POST', '/api/auth/logout', undefined, bearer(body.accessToken));
    expect((await ask(body.accessToken)).body).toEqual({ active: false });
    expect((await ask('x')).body).toEqual({ active: false });
  });
});

describeEachDatabase('§2.2 refresh.delivery: cookie', (database) => {
  it('the token is in a cookie only, and a request with it must come from our own pages', async () => {
    const origin = 'https://app.test';
    const server = await startServer({
      database,
      auth: { refresh: { delivery: 'cookie' } },
      server: { cors: [origin] },
    });
    const { body, headers } = await server.register('cookie@x.test');
    expect(body.refreshToken).toBeUndefined();
    const set = headers.getSetCookie().find((text) => text.startsWith('refresh='))!;
    expect(set).toMatch(/; Path=\/api\/auth; HttpOnly; SameSite=Strict$/);
    const Cookie = set.split(';')[0]!;
    const refresh = (more: Record<string, string>) =>
      server.call('POST', '/api/auth/refresh', undefined, { Cookie, ...more });
    expect((await refresh({})).text).toBe('{"error":"Forbidden"}');
    expect((await refresh({ Origin: 'https://evil.test', 'X-Requested-With': 'x' })).status).toBe(
      403,
    );
    expect((await refresh({ Origin: origin })).status).toBe(403);
    const next = await refresh({ Origin: origin, 'X-Requested-With': 'fetch' });
    expect(next.status).toBe(200);
    expect(next.headers.getSetCookie().join()).toContain('refresh=rt1.');
    const out = await server.call('POST', '/api/auth/logout', undefined, {
      Cookie: next.headers.getSetCookie()[0]!.split(';')[0]!,
      Origin: origin,
      'X-Requested-With': 'x',
    });
    expect(out.headers.getSetCookie().join()).toContain('refresh=; Max-Age=0');
    await server.close();
  });

  it('over https the cookie is Secure and says so in its name', async () => {
    const server = await startServer({
      database,
      auth: { refresh: { delivery: 'cookie' } },
      env: { APP_URL: 'https://shop.test' },
    });
    const { headers } = await server.register();
    expect(headers.getSetCookie().join()).toMatch(/__Secure-refresh=rt1\..*; Secure/);
    await server.close();
  });
});
