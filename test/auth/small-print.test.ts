import { createHmac } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { addressKey } from '../../runtime/auth/caller.ts';
import { DEFAULT_LIMITS } from '../../runtime/auth/defaults.ts';
import { EVENT_TYPES } from '../../runtime/auth/event-types.ts';
import { purge } from '../../runtime/auth/retention.ts';
import { read } from '../docs/world.ts';
import { openBrowser } from './browser.ts';
import { asRoot, bearer, BETTER, describeEachDatabase, GOOD, startServer, type TestServer, USER } from './harness.ts';
import { type HostileProvider, startHostile } from './hostile-provider.ts';
import { startMailbox } from './mailbox.ts';
import { startReceiver } from './receiver.ts';

/** Lines of the contract that no flow by itself comes by. */
const MINUTE = 60_000;
const ON = { RATE_LIMIT_ENABLED: 'true' };
const callback = (name: string, origin = 'http://127.0.0.1:1') => `${origin}/api/oauth/${name}/callback`;

async function startWithProvider(options: Omit<Parameters<typeof startServer>[0], 'auth'> & { readonly origin?: string; readonly auth?: object }): Promise<{ readonly server: TestServer; readonly provider: HostileProvider; close(): Promise<void> }> {
  const provider = await startHostile();
  const { origin, auth, ...rest } = options;
  const server = await startServer({
    entity: USER, ...rest, env: { GOOGLE_CLIENT_ID: 'shop', GOOGLE_CLIENT_SECRET: 'hush', GOOGLE_REDIRECT_URL: callback('google', origin), ...options.env },
    auth: { ...auth, oauth: { providers: [{ name: 'google', preset: 'google', options: { issuer: provider.issuer } }] } },
  });
  return { server, provider, close: async () => (await server.close(), await provider.close()) };
}

/** From the start of a flow to the answer of its callback. */
async function signIn(server: TestServer, provider: HostileProvider, query = '') {
  const browser = openBrowser();
  const begin = await browser.visit(`${server.url}/api/oauth/google${query}`);
  const location = new URL(begin.headers.get('location') ?? 'about:blank');
  provider.nonce = location.searchParams.get('nonce') ?? '';
  const finish = () => browser.visit(`${server.url}/api/oauth/google/callback?code=c&state=${location.searchParams.get('state')}`);
  return { begin, location, browser, finish };
}

describeEachDatabase('§2.0 times', (database) => {
  it('last_login has a numeric offset, exp is in seconds, every other time is RFC 3339 in UTC', async () => {
    const server = await startServer({ database, entity: USER });
    const { body } = await server.register('times@x.test');
    const { id } = (await server.call('POST', '/api/auth/admin/api-keys', { name: 'k', scopes: [], expires_in: '30d' }, asRoot)).body;
    await server.login('times@x.test', 'wrong');
    expect(body.last_login).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d[+-]\d\d:\d\d$/);
    expect([Number.isInteger(body.exp), Math.abs(body.exp - Date.now() / 1000 - 24 * 3600) < 60]).toEqual([true, true]);
    const paths = ['/api/auth/sessions', '/api/auth/admin/api-keys', `/api/auth/admin/users/${body.id}`, '/api/auth/admin/login-attempts', '/api/auth/admin/security-events', '/api/auth/admin/permission-changes'];
    const texts = await Promise.all(paths.map(async (path) => (await server.call('GET', path, undefined, path.endsWith('sessions') ? bearer(body.accessToken) : asRoot)).text));
    texts.push((await server.call('POST', '/api/auth/reauthenticate', { password: GOOD }, bearer(body.accessToken))).text);
    const times = texts.flatMap((text) => [...text.matchAll(/"(\w+(?:_at|_until)|time|ts)":("[^"]*"|\d+)/g)].map(([, name, value]) => [name, value] as const));
    expect(new Set(times.map(([name]) => name)).size).toBeGreaterThan(4);
    expect(times.filter(([, value]) => !/^"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z"$/.test(value!))).toEqual([]);
    expect(JSON.stringify(texts)).toContain(id);
    await server.close();
  });
});

describe('§2.0 who is a user', () => {
  it('nothing in the GraphQL API reads or writes a credential', () => {
    const { project } = read('type User {\n  id: ID!\n  name: String!\n  email: String!\n}\ntype Query {\n  users: [User!]!\n}\n', 'name: shop\nauth: { roles: { list: [Owner, Member], default: Member, first: Owner } }\napi: { crud: true, rest: true }\n');
    expect(project!.sdl).toMatch(/updateUser|UserUpdate|UpdateUser/);
    const words = [...project!.sdl.matchAll(/\b\w+\b/g)].map(([word]) => word.toLowerCase());
    expect(words.filter((word) => /password|passwd|bcrypt|refresh|session|apikey|api_key|email_?verified|disabled|tokens?_?valid|auth_|role_?id/.test(word))).toEqual([]);
  });
});

describeEachDatabase('§2.2 refresh by cookie', (database) => {
  it('is taken from APP_URL as well, and not from anywhere else', async () => {
    const server = await startServer({ database, auth: { refresh: { delivery: 'cookie' } }, env: { APP_URL: 'http://127.0.0.1:4711/shop' } });
    const { headers } = await server.register();
    const Cookie = headers.getSetCookie().find((text) => text.startsWith('refresh='))!.split(';')[0]!;
    const refresh = async (more: Record<string, string>) => (await server.call('POST', '/api/auth/refresh', {}, { Cookie, ...more })).status;
    expect(await refresh({ Origin: 'http://127.0.0.1:4712' })).toBe(403);
    expect(await refresh({})).toBe(403);
    expect(await refresh({ Origin: 'http://127.0.0.1:4711' })).toBe(200);
    await server.close();
  });
});

describe('§2.9 limits by the contract', () => {
  it('the defaults are those of the contract', () => {
    const said: Record<string, string> = {
      'global-ip': '600/1m', 'auth-ip': '200/1m', 'login-ip': '60/1m', 'login-failed-ip': '20/5m', 'login-identifier': '30/1m', 'register-ip': '60/1m', 'forgot-ip': '20/1m', 'forgot-identifier': '3/60m',
      'reset-ip': '20/1m', 'refresh-session': '30/1m', 'refresh-ip': '150/5m', 'oauth-ip': '30/1m', user: '600/1m', 'api-key': '1200/1m', admin: '120/1m',
      'resend-identifier': '1/3m', 'strength-ip': '10/1m', 'host-failed': '100/60m',
    };
    expect(Object.fromEntries(Object.entries(DEFAULT_LIMITS).map(([name, { count, window }]) => [name, `${count}/${window / MINUTE}m`]))).toEqual(said);
  });

  it('an address of IPv4 is itself, one of IPv6 is its /64', () => {
    expect([addressKey('192.0.2.1'), addressKey('2001:db8::1'), addressKey('2001:db8:0:0:ffff::9')]).toEqual(['192.0.2.1', '2001:db8:0:0::/64', '2001:db8:0:0::/64']);
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
    for (let index = 0; index < 21; index += 1) statuses.push((await server.call('POST', '/api/auth/forgot-password', { email: `f${index}@x.test` })).status);
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
    const token = /reset-password\?token=([\w-]+)/.exec(server.logs.join())![1]!;
    expect((await server.call('POST', '/api/auth/reset-password', { token, new_password: BETTER })).status).toBe(200);
    expect((await server.login('hard@x.test', BETTER)).body.id).toBe(body.id);
    await server.close();
  });
});

describeEachDatabase('§2.11 the edges of a flow', (database) => {
  it('nothing of a query but return_to and link reaches the provider', async () => {
    const { server, provider, close } = await startWithProvider({ database });
    const evil = 'redirect_uri=https%3A%2F%2Fevil.test&scope=admin&state=mine&nonce=mine&client_id=evil&response_type=token&code_challenge=x&custom_params[a]=b&dynamic=1';
    const { location } = await signIn(server, provider, `?${evil}`);
    expect(Object.fromEntries(location.searchParams)).toMatchObject({ client_id: 'shop', redirect_uri: callback('google'), response_type: 'code', scope: 'openid email profile' });
    expect([location.searchParams.get('state'), location.searchParams.get('nonce'), location.searchParams.get('code_challenge')].filter((text) => text === 'mine' || text === 'x')).toEqual([]);
    expect(location.href).not.toMatch(/evil|custom_params/);
    await close();
  });

  it('a flow is over after ten minutes, and its code after one', async () => {
    const { server, provider, close } = await startWithProvider({ database });
    const late = await signIn(server, provider);
    server.advance(10 * MINUTE + 1000);
    expect((await late.finish()).status).toBe(400);
    const { finish } = await signIn(server, provider, '?return_to=/home');
    provider.claims = { exp: Math.floor(Date.now() / 1000) + 3600 };
    const code = new URL((await finish()).headers.get('location')!, server.url).searchParams.get('code');
    server.advance(MINUTE + 1000);
    expect((await server.call('POST', '/api/oauth/exchange', { code })).text).toBe('{"error":"Invalid or expired token"}');
    await close();
  });

  it('OAUTH_SUCCESS_REDIRECT is where a flow ends that says nothing else', async () => {
    const { server, provider, close } = await startWithProvider({ database, env: { OAUTH_SUCCESS_REDIRECT: 'https://app.test/in' } });
    const answer = await (await signIn(server, provider)).finish();
    expect([answer.status, answer.headers.get('location')]).toEqual([303, expect.stringMatching(/^https:\/\/app\.test\/in\?code=[\w-]{43}$/)]);
    await close();
  });

  it('over https the cookie has the prefix __Host- and is Secure; one that was altered is none', async () => {
    const { server, provider, close } = await startWithProvider({ database, origin: 'https://shop.test' });
    const { begin, location } = await signIn(server, provider);
    const [cookie] = begin.headers.getSetCookie();
    expect(cookie).toMatch(/^__Host-oauth_[0-9a-f]{8}=[\w-]+; Max-Age=600; Path=\/; HttpOnly; SameSite=Lax; Secure$/);
    const [name, value] = cookie!.split(';')[0]!.split('=') as [string, string];
    const finish = (text: string) => server.call('GET', `/api/oauth/google/callback?code=c&state=${location.searchParams.get('state')}`, undefined, { Cookie: `${name}=${text}` });
    expect((await finish(`${value.slice(0, -2)}AA`)).text).toBe('{"error":"Invalid OAuth state"}');
    expect((await finish(value)).status).toBe(200);
    await close();
  });
});

describeEachDatabase('§2.14 what is told', (database) => {
  it('every type of event happens', async () => {
    const receiver = await startReceiver((count) => (count === 1 ? 204 : 410));
    const { server, provider, close } = await startWithProvider({
      database, server: { trustedProxies: ['127.0.0.1'] },
      env: { ...ON, AUTH_ALLOW_WEAK_SECRETS: '1', JWT_SECRET: 'short' },
      auth: {
        roles: { list: ['A', 'B'], default: 'A', first: null },
        lockout: { attempts: 6 },
        rateLimits: { ...Object.fromEntries(Object.keys(DEFAULT_LIMITS).map((name) => [name, { count: 10_000, window: 1000 }])), 'strength-ip': { count: 1, window: MINUTE } },
      },
    });
    const call = (method: string, path: string, body?: unknown, headers = {}) => server.call(method, `/api/auth${path}`, body, headers);
    const linkIn = async (mail: string) => {
      await expect.poll(() => server.logs.join('')).toContain(`${mail}?token=`);
      return [...server.logs.join('').matchAll(new RegExp(`${mail}\\?token=([\\w-]+)`, 'g'))].at(-1)![1]!;
    };
    const ada = (await server.register('ada@x.test')).body;
    await call('POST', '/verify-email', { token: await linkIn('verify-email') });
    await call('POST', '/logout', undefined, bearer((await server.login('ada@x.test')).body.accessToken));
    for (let index = 0; index < 20; index += 1) await server.login('ada@x.test');
    for (let index = 0; index < 5; index += 1) await server.login('ada@x.test', 'wrong');
    let token = (await server.login('ada@x.test')).body.accessToken;
    for (let index = 0; index < 12; index += 1) await server.login('locked@x.test', 'wrong', { 'X-Forwarded-For': `203.0.113.${index}` });
    for (let index = 0; index < 105; index += 1) await server.login(`bob${index % 21}@x.test`, 'wrong');
    await server.register('lock@x.test');
    for (let index = 0; index < 6; index += 1) await server.login('lock@x.test', 'wrong');
    await call('POST', '/unlock', { token: await linkIn('unlock') });
    for (let index = 0; index < 10; index += 1) {
      await server.kernel.store.db.deleteFrom('auth_identifier_locks').execute();
      await server.login('many@x.test', 'wrong', { 'X-Forwarded-For': `198.51.100.${index}` });
    }
    await call('POST', '/change-password', { current_password: GOOD, new_password: BETTER }, bearer(token));
    await call('POST', '/forgot-password', { email: 'ada@x.test' });
    await call('POST', '/reset-password', { token: await linkIn('reset-password'), new_password: GOOD });
    const fresh = (await server.login('ada@x.test')).body;
    token = fresh.accessToken;
    await call('POST', '/change-email', { email: 'ada2@x.test' }, bearer(token));
    await call('POST', '/verify-email', { token: await linkIn('verify-email') });
    await call('POST', '/refresh', { refreshToken: fresh.refreshToken });
    server.advance(11_000);
    await call('POST', '/refresh', { refreshToken: fresh.refreshToken });
    const again = (await server.login('ada2@x.test')).body;
    await call('POST', '/logout-all', {}, bearer(again.accessToken));
    const { id, key } = (await call('POST', '/admin/api-keys', { name: 'k', scopes: ['posts:read'] }, asRoot)).body;
    const rotated = (await call('POST', `/admin/api-keys/${id}/rotate`, {}, asRoot)).body;
    await call('DELETE', `/admin/api-keys/${rotated.id}`, undefined, asRoot);
    await call('GET', '/me', undefined, { 'X-API-Key': key });
    await call('PUT', `/admin/users/${ada.id}/role`, { role_id: 2 }, asRoot);
    await call('POST', '/admin/tokens/revoke', { user_id: ada.id }, asRoot);
    for (const what of ['disable', 'enable']) await call('POST', `/admin/users/${ada.id}/${what}`, undefined, asRoot);
    for (let index = 0; index < 2; index += 1) await call('POST', '/password-strength', { password: 'x' });
    provider.claims = { email: 'gus@x.test', exp: Math.floor(Date.now() / 1000) + 3600 };
    const gus = (await (await (await signIn(server, provider)).finish()).json()) as { accessToken: string; id: number };
    await server.kernel.store.db.updateTable('auth_users').set({ password: 'x' }).where('user_id', '=', gus.id).execute();
    expect((await call('DELETE', '/identities/google', undefined, bearer(gus.accessToken))).status).toBe(204);
    await server.call('GET', '/api/oauth/google/callback?code=c&state=s');
    await call('DELETE', `/admin/users/${gus.id}`, undefined, asRoot);
    const hook = (await call('POST', '/admin/webhooks', { url: receiver.url, types: ['user.registered'] }, asRoot)).body;
    await call('POST', `/admin/webhooks/${hook.id}/test`, undefined, asRoot);
    await server.register('hooked@x.test');
    const seen = async () => new Set((await server.rows('auth_security_events')).map(({ type }) => type as string));
    // A test of a webhook is sent and not stored.
    expect(receiver.deliveries[0]!.event['type']).toBe('webhook.test');
    await expect.poll(async () => { const found = await seen(); return Object.keys(EVENT_TYPES).filter((type) => !found.has(type)); }, { timeout: 15_000 }).toEqual(['webhook.test']);
    await close();
    await receiver.close();
  }, 60_000);

  it('people get a mail when a provider is linked and when a token was used twice', async () => {
    const mailbox = await startMailbox();
    const { server, provider, close } = await startWithProvider({ database, env: { SMTP_URL: mailbox.url } });
    const { body } = await server.register('hostile@x.test');
    await server.kernel.store.db.updateTable('auth_users').set({ email_verified_at: 1, verified_email: 'hostile@x.test' }).where('user_id', '=', body.id).execute();
    expect((await (await signIn(server, provider)).finish()).status).toBe(200);
    await mailbox.find('hostile@x.test', 'A provider was linked to your account');
    await server.call('POST', '/api/auth/refresh', { refreshToken: body.refreshToken });
    server.advance(11_000);
    await server.call('POST', '/api/auth/refresh', { refreshToken: body.refreshToken });
    await mailbox.find('hostile@x.test', 'was used twice');
    await close();
    await mailbox.close();
  });

  it('a delivery is tried after 1 s, 5 s, 30 s, 2 m, 10 m and 1 h, and then given up', async () => {
    const receiver = await startReceiver(() => 500);
    const secret = `whsec_${Buffer.alloc(32, 7).toString('base64')}`;
    const server = await startServer({ database, env: { WEBHOOK_SECRET: secret }, auth: { events: { webhooks: [{ url: receiver.url, secretEnv: 'WEBHOOK_SECRET', types: ['user.registered'] }] } } });
    await server.register('again0@x.test');
    const first = async () => (await server.rows('auth_webhook_deliveries')).sort((a, b) => (a['id'] < b['id'] ? -1 : 1))[0]!;
    const waits: number[] = [];
    for (let attempt = 1; attempt <= 6; attempt += 1) {
      await expect.poll(async () => (await first())['attempt'], { timeout: 15_000 }).toBe(attempt);
      const wait = Number((await first())['next_at']) - server.kernel.now();
      waits.push(Math.ceil(wait / 1000));
      server.advance(wait + 1);
      // Something new makes it look at once; nobody waits an hour here.
      await server.register(`again${attempt}@x.test`);
    }
    await expect.poll(async () => { const { status, attempt } = await first(); return [status, attempt]; }, { timeout: 15_000 }).toEqual(['failed', 7]);
    // What was waited for meanwhile is not waited for again.
    for (const [index, planned] of [1, 5, 30, 120, 600, 3600].entries()) expect([planned, waits[index]! <= planned && waits[index]! > planned - 10]).toEqual([planned, true]);
    const tries = receiver.deliveries.filter(({ event }) => event['id'] === receiver.deliveries[0]!.event['id']);
    expect(new Set(tries.map(({ headers }) => headers['webhook-id'])).size).toBe(1);
    expect(tries).toHaveLength(7);
    for (const { headers, body } of tries) {
      const signed = `${String(headers['webhook-id'])}.${String(headers['webhook-timestamp'])}.${body}`;
      expect(headers['webhook-signature']).toBe(`v1,${createHmac('sha256', Buffer.alloc(32, 7)).update(signed).digest('base64')}`);
    }
    await server.close();
    await receiver.close();
  }, 60_000);

  it('everything that has expired is removed: blacklist, one-time tokens, states, windows, sessions, deliveries', async () => {
    const server = await startServer({ database });
    const { db } = server.kernel.store;
    const { body } = await server.register();
    await server.call('POST', '/api/auth/admin/tokens/revoke', { token: body.accessToken }, asRoot);
    await server.call('POST', '/api/auth/forgot-password', { email: body.email });
    await db.insertInto('auth_oauth_used_states').values({ hash: 'h', exp: Date.now() + 1000 }).execute();
    const count = async () => Object.fromEntries(await Promise.all(['auth_revoked_tokens', 'auth_one_time_tokens', 'auth_oauth_used_states', 'auth_sessions'].map(async (table) => [table, (await server.rows(table)).length > 0] as const)));
    const run = (now: number) => purge({ kernel: { ...server.kernel, now: () => now }, model: server.kernel.project.auth! });
    await run(Date.now());
    expect(await count()).toEqual({ auth_revoked_tokens: true, auth_one_time_tokens: true, auth_oauth_used_states: true, auth_sessions: true });
    await run(Date.now() + 25 * 60 * MINUTE);
    expect(await count()).toEqual({ auth_revoked_tokens: false, auth_one_time_tokens: false, auth_oauth_used_states: false, auth_sessions: true });
    await run(Date.now() + 121 * 24 * 60 * MINUTE);
    expect(await count()).toMatchObject({ auth_sessions: false });
    await server.close();
  });
});

describeEachDatabase('§2.13 refusals', (database) => {
  it('what a guard refuses is in the log: who, what, which guard, and no credential', async () => {
    const server = await startServer({ database, entity: USER, hosting: {}, env: { HOST_PASSWORD: 'the operator has this one' } });
    const { body } = await server.register();
    const { key } = (await server.call('POST', '/api/auth/admin/api-keys', { name: 'k', scopes: ['posts:read'] }, asRoot)).body;
    expect((await server.call('GET', '/api/auth/admin/roles', undefined, bearer(body.accessToken))).status).toBe(403);
    expect((await server.call('GET', '/api/auth/admin/roles', undefined, { 'X-API-Key': key })).status).toBe(403);
    expect((await server.call('GET', '/api/auth/sessions')).status).toBe(401);
    const told = server.logs.map((line) => JSON.parse(line)).filter(({ msg }) => msg === 'a guard refused');
    expect(told.map(({ actor, guard, method, route, status }) => [actor.kind, guard, method, route, status])).toEqual([
      ['user', 'admin', 'GET', '/api/auth/admin/roles', 403], ['api_key', 'admin', 'GET', '/api/auth/admin/roles', 403], ['anonymous', 'session', 'GET', '/api/auth/sessions', 401],
    ]);
    expect(told[0]).toMatchObject({ actor: { id: body.id }, ip: '127.0.0.1', requestId: expect.any(String) });
    expect([body.accessToken, key].filter((secret) => server.logs.join('').includes(secret))).toEqual([]);
    await server.close();
  });
});

describeEachDatabase('§2.14 the log of permission changes', (database) => {
  let server: TestServer;
  beforeAll(async () => {
    server = await startServer({ database, entity: USER, auth: { roles: { list: ['A', 'B'], default: 'A', first: null } } });
  });
  afterAll(() => server.close());

  it('has every action of the contract, with who, what, before and after', async () => {
    const call = (method: string, path: string, body?: unknown) => server.call(method, `/api/auth/admin${path}`, body, asRoot);
    const { body: user } = await server.register();
    const role = (await call('POST', '/roles', { name: `Editor ${Math.random()}` })).body;
    await call('PUT', `/roles/${role.id}`, { name: `Writer ${Math.random()}` });
    await call('PUT', `/roles/${role.id}/permissions/posts:write`);
    await call('DELETE', `/roles/${role.id}/permissions/posts:write`);
    await call('PUT', `/users/${user.id}/role`, { role_id: role.id });
    await call('PUT', `/users/${user.id}/role`, { role_id: null });
    await call('DELETE', `/roles/${role.id}`);
    const key = (await call('POST', '/api-keys', { name: 'k', scopes: ['posts:read'] })).body;
    await call('PATCH', `/api-keys/${key.id}`, { scopes: ['posts:write'] });
    const next = (await call('POST', `/api-keys/${key.id}/rotate`, {})).body;
    await call('DELETE', `/api-keys/${next.id}`);
    for (const what of ['disable', 'enable']) await call('POST', `/users/${user.id}/${what}`);
    const rows = await server.rows('auth_permission_changes');
    const wanted = ['role.assigned', 'role.removed', 'role.created', 'role.updated', 'role.deleted', 'permission.granted', 'permission.revoked', 'api_key.created', 'api_key.rotated', 'api_key.revoked', 'api_key.scopes_changed', 'user.disabled', 'user.enabled'];
    expect(wanted.filter((action) => !rows.some((row) => row['action'] === action))).toEqual([]);
    expect(rows.every((row) => row['actor_kind'] === 'api_key' && row['actor_id'] === 'root' && row['request_id'] !== '' && row['ip'] === '127.0.0.1')).toBe(true);
    expect(JSON.parse(rows.find((row) => row['action'] === 'api_key.scopes_changed')!['after'])).toMatchObject({ scopes: ['posts:write'] });
  });
});
