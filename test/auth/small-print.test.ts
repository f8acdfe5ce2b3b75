import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { authFlows } from '../../runtime/auth/flows/index.ts';
import { addressKey } from '../../runtime/auth/base/caller.ts';
import { DEFAULT_LIMITS } from '../../runtime/auth/base/defaults.ts';
import { read } from '../docs/world.ts';
import { callback, exchange, signIn, startWithProvider } from './flow.ts';
import {
  asRoot,
  bearer,
  BETTER,
  describeEachDatabase,
  GOOD,
  startServer,
  USER,
} from './harness.ts';

/** Lines of the contract that no flow by itself comes by. */
const MINUTE = 60_000;
const ON = { RATE_LIMIT_ENABLED: 'true' };

describeEachDatabase('§2.0 times', (database) => {
  it('last_login has a numeric offset, exp is in seconds, every other time is RFC 3339 in UTC', async () => {
    const server = await startServer({ database, entity: USER });
    const { body } = await server.register('times@x.test');
    const { id } = (
      await server.call(
        'POST',
        '/api/auth/admin/api-keys',
        { name: 'k', scopes: [], expires_in: '30d' },
        asRoot,
      )
    ).body;
    await server.login('times@x.test', 'wrong');
    expect(body.last_login).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d[+-]\d\d:\d\d$/);
    expect([
      Number.isInteger(body.exp),
      Math.abs(body.exp - Date.now() / 1000 - 24 * 3600) < 60,
    ]).toEqual([true, true]);
    const paths = [
      '/api/auth/sessions',
      '/api/auth/admin/api-keys',
      `/api/auth/admin/users/${body.id}`,
      '/api/auth/admin/login-attempts',
      '/api/auth/admin/security-events',
      '/api/auth/admin/permission-changes',
    ];
    const texts = await Promise.all(
      paths.map(
        async (path) =>
          (
            await server.call(
              'GET',
              path,
              undefined,
              path.endsWith('sessions') ? bearer(body.accessToken) : asRoot,
            )
          ).text,
      ),
    );
    texts.push(
      (
        await server.call(
          'POST',
          '/api/auth/reauthenticate',
          { password: GOOD },
          bearer(body.accessToken),
        )
      ).text,
    );
    const times = texts.flatMap((text) =>
      [...text.matchAll(/"(\w+(?:_at|_until)|time|ts)":("[^"]*"|\d+)/g)].map(
        ([, name, value]) => [name, value] as const,
      ),
    );
    expect(new Set(times.map(([name]) => name)).size).toBeGreaterThan(4);
    expect(
      times.filter(([, value]) => !/^"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z"$/.test(value!)),
    ).toEqual([]);
    expect(JSON.stringify(texts)).toContain(id);
    await server.close();
  });
});

describe('§2.0 who is a user', () => {
  it('nothing in the GraphQL API reads or writes a credential', () => {
    const { project } = read(
      'type User {\n  id: ID!\n  name: String!\n  email: String!\n}\ntype Query {\n  users: [User!]!\n}\n',
      'name: shop\nauth: { roles: { list: [Owner, Member], default: Member, first: Owner } }\napi: { crud: true, rest: true }\n',
    );
    expect(project!.sdl).toMatch(/updateUser|UserUpdate|UpdateUser/);
    const words = [...project!.sdl.matchAll(/\b\w+\b/g)].map(([word]) => word.toLowerCase());
    expect(
      words.filter((word) =>
        /password|passwd|bcrypt|refresh|session|apikey|api_key|email_?verified|disabled|tokens?_?valid|auth_|role_?id/.test(
          word,
        ),
      ),
    ).toEqual([]);
  });
});

describeEachDatabase('§2.2 refresh by cookie', (database) => {
  it('is taken from APP_URL as well, and not from anywhere else', async () => {
    const server = await startServer({
      database,
      auth: { refresh: { delivery: 'cookie' } },
      env: { APP_URL: 'http://127.0.0.1:4711/shop' },
    });
    const { headers } = await server.register();
    const Cookie = headers
      .getSetCookie()
      .find((text) => text.startsWith('refresh='))!
      .split(';')[0]!;
    const refresh = async (more: Record<string, string>) =>
      (await server.call('POST', '/api/auth/refresh', {}, { Cookie, ...more })).status;
    expect(await refresh({ Origin: 'http://127.0.0.1:4712' })).toBe(403);
    expect(await refresh({})).toBe(403);
    expect(await refresh({ Origin: 'http://127.0.0.1:4711' })).toBe(200);
    await server.close();
  });
});

describe('§2.9 limits by the contract', () => {
  it('the defaults are those of the contract', () => {
    const said: Record<string, string> = {
      'global-ip': '600/1m',
      'auth-ip': '200/1m',
      'login-ip': '60/1m',
      'login-failed-ip': '20/5m',
      'login-identifier': '30/1m',
      'register-ip': '60/1m',
      'forgot-ip': '20/1m',
      'forgot-identifier': '3/60m',
      'reset-ip': '20/1m',
      'refresh-session': '30/1m',
      'refresh-ip': '150/5m',
      'oauth-ip': '30/1m',
      user: '600/1m',
      'api-key': '1200/1m',
      admin: '120/1m',
      'resend-identifier': '1/3m',
      'mail-identifier': '5/60m',
      'invite-user': '20/1440m',
      'invite-organization': '50/1440m',
      'change-email-user': '5/1440m',
      'change-name-user': '10/1440m',
      'strength-ip': '10/1m',
      'host-failed': '100/60m',
      'recovery-codes': '10/60m',
    };
    expect(
      Object.fromEntries(
        Object.entries(DEFAULT_LIMITS).map(([name, { count, window }]) => [
          name,
          `${count}/${window / MINUTE}m`,
        ]),
      ),
    ).toEqual(said);
  });

  it('an address of IPv4 is itself, one of IPv6 is its /64', () => {
    expect([
      addressKey('192.0.2.1'),
      addressKey('2001:db8::1'),
      addressKey('2001:db8:0:0:ffff::9'),
    ]).toEqual(['192.0.2.1', '2001:db8:0:0::/64', '2001:db8:0:0::/64']);
  });
});

describeEachDatabase('§2.6 to §2.10 limits of single flows', (database) => {
  it('a session is refreshed 30 times a minute', async () => {
    const server = await startServer({ database, env: ON });
    let { refreshToken } = (await server.register()).body;
    const statuses: number[] = [];
    for (let index = 0; index < 31; index += 1) {
      const { status, body } = await server.call('POST', '/api/auth/refresh', { refreshToken });
      statuses.push(status);
      refreshToken = body.refreshToken ?? refreshToken;
    }
    expect(statuses).toEqual([...Array(30).fill(200), 429]);
    server.advance(MINUTE + 1000);
    expect((await server.call('POST', '/api/auth/refresh', { refreshToken })).status).toBe(200);
    await server.close();
  });

  it('asking for reset mails is loudly limited by address, 20 a minute', async () => {
    const server = await startServer({ database, env: ON });
    const statuses: number[] = [];
    for (let index = 0; index < 21; index += 1)
      statuses.push(
        (await server.call('POST', '/api/auth/forgot-password', { email: `f${index}@x.test` }))
          .status,
      );
    expect(statuses).toEqual([...Array(20).fill(200), 429]);
    await server.close();
  });

  it('after 100 failures without a success no password opens the account until a reset by mail', async () => {
    const server = await startServer({ database, auth: { lockout: { hardAfter: 12 } } });
    const { body } = await server.register('hard@x.test');
    for (let index = 0; index < 12; index += 1) {
      await server.login('hard@x.test', 'wrong');
      server.advance(25 * 60 * MINUTE);
    }
    server.advance(365 * 24 * 60 * MINUTE);
    expect((await server.login('hard@x.test')).text).toBe('{"error":"Account locked"}');
    await server.call('POST', '/api/auth/forgot-password', { email: 'hard@x.test' });
    const link = () => /reset-password\?token=([\w-]+)/.exec(server.logs.join())?.[1];
    await expect.poll(link).toBeDefined();
    const token = link();
    expect(
      (await server.call('POST', '/api/auth/reset-password', { token, new_password: BETTER }))
        .status,
    ).toBe(200);
    expect((await server.login('hard@x.test', BETTER)).body.id).toBe(body.id);
    await server.close();
  });
});

describeEachDatabase('§2.11 the edges of a flow', (database) => {
  it('nothing of a query reaches the provider', async () => {
    const { server, provider, close } = await startWithProvider({ database });
    const evil = `redirect_uri=https%3A%2F%2Fevil.test&scope=admin&state=mine&nonce=mine&client_id=evil&response_type=token&code_challenge=${'x'.repeat(43)}&custom_params[a]=b&dynamic=1`;
    const { location } = await signIn(server, provider, `?${evil}`);
    expect(Object.fromEntries(location.searchParams)).toMatchObject({
      client_id: 'shop',
      redirect_uri: callback('google'),
      response_type: 'code',
      scope: 'openid email profile',
    });
    expect(
      [
        location.searchParams.get('state'),
        location.searchParams.get('nonce'),
        location.searchParams.get('code_challenge'),
      ].filter((text) => text === 'mine' || text === 'x'.repeat(43)),
    ).toEqual([]);
    expect(location.href).not.toMatch(/evil|custom_params/);
    await close();
  });

  it('a flow is over after ten minutes, and its code after one', async () => {
    const { server, provider, close } = await startWithProvider({ database });
    const late = await signIn(server, provider);
    server.advance(10 * MINUTE + 1000);
    expect((await late.finish()).status).toBe(400);
    const { finish, browser } = await signIn(server, provider, '?return_to=/home');
    provider.claims = { exp: Math.floor(Date.now() / 1000) + 3600 };
    const code = new URL((await finish()).headers.get('location')!, server.url).searchParams.get(
      'code',
    );
    server.advance(MINUTE + 1000);
    expect((await exchange(server, browser, { code })).text).toBe(
      '{"error":"Invalid or expired token"}',
    );
    await close();
  });

  it('OAUTH_SUCCESS_REDIRECT is where a flow ends that says nothing else', async () => {
    const { server, provider, close } = await startWithProvider({
      database,
      env: { OAUTH_SUCCESS_REDIRECT: 'https://app.test/in' },
    });
    const answer = await (await signIn(server, provider)).finish();
    expect([answer.status, answer.headers.get('location')]).toEqual([
      303,
      expect.stringMatching(/^https:\/\/app\.test\/in\?code=[\w-]{43}$/),
    ]);
    await close();
  });

  it('over https the cookie has the prefix __Host- and is Secure; one that was altered is none', async () => {
    const { server, provider, close } = await startWithProvider({
      database,
      origin: 'https://shop.test',
    });
    const { begin, location } = await signIn(server, provider);
    const [cookie] = begin.headers.getSetCookie();
    expect(cookie).toMatch(
      /^__Host-oauth_[0-9a-f]{8}=[\w-]+; Max-Age=600; Path=\/; HttpOnly; SameSite=Lax; Secure$/,
    );
    const [name, value] = cookie!.split(';')[0]!.split('=') as [string, string];
    const finish = (text: string) =>
      server.call(
        'GET',
        `/api/oauth/google/callback?code=c&state=${location.searchParams.get('state')}`,
        undefined,
        { Cookie: `${name}=${text}` },
      );
    expect((await finish(`${value.slice(0, -2)}AA`)).text).toBe('{"error":"Invalid OAuth state"}');
    expect((await finish(value)).status).toBe(200);
    await close();
  });
});

describe('ASVS 6.3.4', () => {
  it('whatever opens a session is a way in that the README lists', () => {
    const readme = readFileSync(new URL('../../runtime/auth/README.md', import.meta.url), 'utf8');
    const ways = /\*\*Ways in\*\*.*/.exec(readme)![0];
    const opening = authFlows.filter(({ responses }) =>
      JSON.stringify(responses).includes('"accessToken"'),
    );
    const missing = opening.filter(({ id }) => !ways.includes(`\`${id}\``)).map(({ id }) => id);
    expect(missing).toEqual([]);
    expect(opening.length).toBeGreaterThan(5);
  });
});
