import { createHmac } from 'node:crypto';
import { jwtVerify } from 'jose';
import { afterAll, beforeAll, expect, it } from 'vitest';
import {
  bearer,
  describeEachDatabase,
  GOOD,
  SECRET,
  startServer,
  type TestServer,
  USER,
} from './harness.ts';

const decode = (token: string, part: number) =>
  Buffer.from(token.split('.')[part]!, 'base64url').toString();

describeEachDatabase('§2.2 tokens and the login object of the seed', (database) => {
  let server: TestServer;
  const calls: unknown[] = [];
  beforeAll(async () => {
    server = await startServer({
      database,
      entity: USER,
      options: {
        extend: async (userId) => (calls.push(userId), { user_id: userId, company_id: 7 }),
      },
    });
  });
  afterAll(() => server.close());

  it("register answers 201 with the seed's fields in the seed's order, and no role fields", async () => {
    const { status, body } = await server.register('ada@x.test', {
      first_name: 'Ada',
      last_name: 'Lovelace',
      username: 'ada',
      phone: '+44 20 7946',
    });
    expect(status).toBe(201);
    expect(Object.keys(body)).toEqual([
      'id',
      'first_name',
      'last_name',
      'username',
      'phone',
      'email',
      'avatar_url',
      'last_login',
      'accessToken',
      'exp',
      'extend',
      'refreshToken',
      'refreshExp',
    ]);
    expect(body).toMatchObject({
      id: 1,
      first_name: 'Ada',
      last_name: 'Lovelace',
      username: 'ada',
      phone: '+44 20 7946',
      email: 'ada@x.test',
      avatar_url: '',
      extend: { user_id: 1, company_id: 7 },
    });
    expect(body.last_login).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d[+-]\d\d:\d\d$/);
    expect((await server.rows('users'))[0]).toMatchObject({
      id: 1,
      name: 'Ada Lovelace',
      email: 'ada@x.test',
    });
  });

  it("the token header is exactly the seed's and any HS256 verifier takes the token with JWT_SECRET", async () => {
    const { body } = await server.login('ada@x.test');
    expect(decode(body.accessToken, 0)).toBe('{"alg":"HS256","typ":"JWT"}');
    const { payload } = await jwtVerify(body.accessToken, new TextEncoder().encode(SECRET), {
      algorithms: ['HS256'],
    });
    expect(Object.keys(payload).sort()).toEqual(['exp', 'extend', 'iat', 'jti', 'sid', 'user_id']);
    expect(payload).toMatchObject({ user_id: 1, exp: body.exp, extend: body.extend });
    expect(payload.exp! - payload.iat!).toBe(24 * 3600);
    const [header, claims, signature] = body.accessToken.split('.');
    expect(createHmac('sha256', SECRET).update(`${header}.${claims}`).digest('base64url')).toBe(
      signature,
    );
  });

  it('extend runs once for each token', async () => {
    calls.length = 0;
    await server.login('ada@x.test');
    expect(calls).toEqual([1]);
  });

  it('last_login of the response is the login before, and two logins in one second give different tokens', async () => {
    const [first, second] = [await server.login('ada@x.test'), await server.login('ada@x.test')];
    server.advance(3_600_000);
    const third = await server.login('ada@x.test');
    expect(first.body.accessToken).not.toBe(second.body.accessToken);
    expect(Math.abs(Date.parse(third.body.last_login) - Date.now())).toBeLessThan(60_000);
  });

  it('me answers with the user and without a token', async () => {
    const { body } = await server.login('ada@x.test');
    const me = await server.call('GET', '/api/auth/me', undefined, bearer(body.accessToken));
    expect(me.status).toBe(200);
    expect(Object.keys(me.body)).toEqual([
      'id',
      'first_name',
      'last_name',
      'username',
      'phone',
      'email',
      'avatar_url',
      'last_login',
    ]);
  });

  it('logout ends this session and no other, and doing it twice is fine', async () => {
    const [a, b] = [await server.login('ada@x.test'), await server.login('ada@x.test')];
    const out = () =>
      server.call('POST', '/api/auth/logout', undefined, bearer(a.body.accessToken));
    expect(await out()).toMatchObject({ status: 200, body: { message: 'Logout successful' } });
    expect(await out()).toMatchObject({ status: 200, body: { message: 'Logout successful' } });
    expect(
      (await server.call('GET', '/api/auth/me', undefined, bearer(a.body.accessToken))).status,
    ).toBe(401);
    expect(
      (await server.call('GET', '/api/auth/me', undefined, bearer(b.body.accessToken))).status,
    ).toBe(200);
  });

  it('a password is stored as a bcrypt hash', async () => {
    const [row] = await server.rows('auth_users');
    expect(row!['password']).toMatch(/^\$2b\$04\$/);
    expect(JSON.stringify(await server.rows('auth_sessions'))).not.toContain(GOOD);
  });

  it('unknown address and wrong password get the same 401', async () => {
    const wrong = await server.login('ada@x.test', 'not the password');
    const unknown = await server.login('nobody@x.test', 'not the password');
    expect([wrong.status, wrong.text]).toEqual([401, '{"error":"Invalid credentials"}']);
    expect([unknown.status, unknown.text]).toEqual([wrong.status, wrong.text]);
  });
});
