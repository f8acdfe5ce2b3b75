import { createClient } from 'graphql-ws';
import { afterEach, describe, expect, it } from 'vitest';
import { WebSocket } from 'ws';
import { failure } from '../../runtime/core/errors.ts';
import type { Plugin } from '../../runtime/core/plugin.ts';
import { createServer } from '../../runtime/core/server.ts';
import { databases } from '../graphql/harness.ts';
import { bearer, closeServers, routes, serve } from './own-server.ts';
import { GOOD } from './server.ts';

afterEach(closeServers);

describe.each(databases)('ctx.auth on %s', (database) => {
  it('changes what a user signs in with, by the rules of registration', async () => {
    const { call } = await serve({ plugin: { routes }, database });
    const register = (email: string) => call('POST /register', { email, password: GOOD });
    const { id } = (await register('ada@example.com')).body;
    await register('ben@example.com');
    const change = (body: object) => call('POST /identity', { id, ...body });
    expect((await change({ email: 'BEN@example.com' })).status).toBe(409);
    expect((await change({ email: 'nobody' })).status).toBe(400);
    expect((await change({ username: '' })).status).toBe(400);
    expect((await change({ email: 'ada@example.com' })).status).toBe(204);
    expect((await change({ email: 'new@example.com' })).status).toBe(204);
    const login = (email: string) => call('POST /login', { email, password: GOOD });
    expect((await login('ada@example.com')).status).toBe(401);
    expect((await login('new@example.com')).body).toMatchObject({ id });
  });

  it('registers, signs in, refreshes, verifies and issues as the endpoints do', async () => {
    const { call } = await serve({ plugin: { routes }, database });
    const body = { email: 'ada@example.com', password: GOOD };
    const registered = await call('POST /register', body);
    expect(registered).toMatchObject({ status: 200, body: { email: 'ada@example.com' } });
    const { id, accessToken, refreshToken } = registered.body;
    expect((await call('GET /me', undefined, bearer(accessToken))).body).toEqual({ id });
    expect((await call('POST /register', body)).status).toBe(409);
    expect((await call('POST /register', { email: 'x' })).status).toBe(400);
    expect((await call('POST /login', body)).body).toMatchObject({ id });
    expect((await call('POST /refresh', { refreshToken })).body).toMatchObject({ id });
    expect((await call('POST /verify', { token: accessToken })).body.found).toMatchObject({
      userId: id,
    });
    expect((await call('POST /verify', { token: 'x' })).body.found).toBeNull();
    const issued = await call('POST /issue', { id });
    expect((await call('GET /me', undefined, bearer(issued.body.accessToken))).status).toBe(200);
  });

  it('changes and sets passwords, ends sessions, disables and enables', async () => {
    const { call, register } = await serve({ plugin: { routes }, database });
    const { id, accessToken } = (await register('ada@example.com')).body;
    const next = 'another long pass phrase 7';
    const wrong = { id, current_password: 'wrong', new_password: next };
    expect(await call('POST /change', wrong)).toMatchObject({
      status: 401,
      body: { error: 'Invalid credentials' },
    });
    expect((await call('POST /change', { ...wrong, current_password: GOOD })).status).toBe(204);
    expect((await call('GET /me', undefined, bearer(accessToken))).status).toBe(401);
    expect((await call('POST /set', { id, password: GOOD })).status).toBe(204);
    const again = await call('POST /login', { email: 'ada@example.com', password: GOOD });
    const headers = bearer(again.body.accessToken);
    expect((await call('POST /logout', {}, headers)).status).toBe(204);
    expect((await call('GET /me', undefined, headers)).status).toBe(401);
    expect((await call('POST /disable', { id })).status).toBe(204);
    const refused = await call('POST /login', { email: 'ada@example.com', password: GOOD });
    expect(refused).toMatchObject({ status: 403, body: { error: 'Account disabled' } });
    expect((await call('POST /enable', { id })).status).toBe(204);
    expect((await call('POST /login', { email: 'ada@example.com', password: GOOD })).status).toBe(
      200,
    );
  });

  it('ends every session of a user, or their access tokens alone', async () => {
    const { call, register } = await serve({ plugin: { routes }, database });
    const { id, accessToken, refreshToken } = (await register('ada@example.com')).body;
    const other = (await call('POST /login', { email: 'ada@example.com', password: GOOD })).body;
    const statuses = async (...tokens: string[]) =>
      Promise.all(
        tokens.map(async (token) => (await call('GET /me', undefined, bearer(token))).status),
      );
    expect(await statuses(accessToken, other.accessToken)).toEqual([200, 200]);
    expect((await call('POST /invalidate', { id })).status).toBe(204);
    expect(await statuses(accessToken, other.accessToken)).toEqual([401, 401]);
    const renewed = (await call('POST /refresh', { refreshToken })).body;
    expect(await statuses(renewed.accessToken)).toEqual([200]);
    expect((await call('POST /logout-all', { id })).status).toBe(204);
    expect(await statuses(renewed.accessToken)).toEqual([401]);
    for (const { refreshToken: token } of [renewed, other])
      expect((await call('POST /refresh', { refreshToken: token })).status).toBe(401);
  });

  // own-code.md §13, line 10
  it('locks the account although each mutation with a wrong password rolls back', async () => {
    const { call, register } = await serve({
      plugin: {
        resolvers: {
          Mutation: {
            attempt: async (_parent, body, ctx) => {
              await ctx.sudo().data.profile.findMany({});
              await ctx.auth.login(body);
              return true;
            },
          },
        },
      },
      database,
    });
    await register('ada@example.com');
    const attempt = (password: string) =>
      call('POST /graphql', {
        query: 'mutation ($p: String!) { attempt(email: "ada@example.com", password: $p) }',
        variables: { p: password },
      });
    const messages: string[] = [];
    for (let count = 0; count < 6; count += 1)
      messages.push((await attempt('wrong')).body.errors[0].message);
    expect(messages.slice(0, 4)).toEqual(Array(4).fill('Invalid credentials'));
    expect(messages.at(-1)).toBe('Account locked');
    expect((await attempt(GOOD)).body.errors[0].message).toBe('Account locked');
  });
});

describe.each(databases)('the hooks of src/auth-hooks.ts on %s', (database) => {
  it('make the profile inside the registration: both rows or none', async () => {
    const { call, register } = await serve({
      functions: {
        hooks: {
          beforeRegister: ({ body }) => ({ bio: `bio of ${body['email']}` }),
          afterRegister: async ({ user, body, ctx }) => {
            expect(ctx.principal.kind).toBe('system');
            expect(body['password']).toBeUndefined();
            await ctx.data.profile.create({ data: { text: user.email, userId: user.id } });
            if (body['deny'] === true) throw failure.conflict('Not you');
            if (body['deny']) throw new Error('a bug');
          },
        },
      },
      plugin: {
        routes: (router) => {
          router.get('/rows', async (ctx) => ({
            users: await ctx.sudo().data.user.findMany({}),
            profiles: await ctx.sudo().data.profile.findMany({}),
          }));
        },
      },
      database,
    });
    expect(await register('no@example.com', { deny: true })).toMatchObject({
      status: 409,
      body: { error: 'Not you' },
    });
    expect(await register('bug@example.com', { deny: 'bug' })).toMatchObject({
      status: 403,
      body: { error: 'Forbidden' },
    });
    expect((await call('GET /rows')).body).toEqual({ users: [], profiles: [] });
    expect((await register('yes@example.com')).status).toBe(201);
    expect((await call('GET /rows')).body).toMatchObject({
      users: [{ bio: 'bio of yes@example.com' }],
      profiles: [{ text: 'yes@example.com' }],
    });
  });

  it('refuse a sign-in before and after its session is made: no session', async () => {
    const { call, register } = await serve({
      functions: {
        hooks: {
          afterLogin: ({ user }) => {
            if (user.email === 'late@example.com') throw failure.forbidden('Not today');
          },
        },
      },
      plugin: {
        routes: (router) => {
          router.get('/sessions', async (ctx) => {
            const rows = await ctx.db.selectFrom('auth_sessions').selectAll().execute();
            return { count: rows.length };
          });
        },
      },
      database,
    });
    expect(await register('late@example.com')).toMatchObject({
      status: 403,
      body: { error: 'Not today' },
    });
    expect((await call('GET /sessions')).body).toEqual({ count: 0 });
    expect((await register('ok@example.com')).status).toBe(201);
  });

  it('and listeners and extend get ctx, and what extend throws is logged with its cause', async () => {
    const seen: string[] = [];
    const { register, lines } = await serve({
      functions: {
        listeners: {
          'user.registered': async ({ type }, ctx) =>
            void seen.push(
              `${type} ${ctx.principal.kind} ${(await ctx.data.user.findMany({})).length}`,
            ),
        },
        extend: async (userId, { ctx }) => {
          if ((await ctx.data.user.count({})) > 1)
            throw new Error('extend broke', { cause: new Error('the deepest cause') });
          return { user_id: userId };
        },
      },
      database,
    });
    expect((await register('a@example.com')).status).toBe(201);
    await expect.poll(() => seen).toEqual(['user.registered system 1']);
    expect((await register('b@example.com')).status).toBe(500);
    expect(lines.join('')).toContain('the deepest cause');
  });
});

const credentials: Plugin['credentials'] = [
  ({ headers }, ctx) => {
    const [scheme, token] = String(headers['authorization'] ?? '').split(' ');
    return scheme === 'Token' ? ctx.auth.verify(token ?? '') : undefined;
  },
  ({ headers }) => {
    if (headers['x-badge'] === 'boom') throw new Error('no badge reader');
    if (headers['x-badge'] === 'closed') throw failure.forbidden('The door is closed');
    return headers['x-badge'] ? { userId: String(headers['x-badge']), cookie: true } : undefined;
  },
];

// own-code.md §13, line 10
describe.each(databases)('src/credentials.ts on %s', (database) => {
  it('sign in GraphQL, REST, routes and WebSocket; a disabled or unknown user gets 401', async () => {
    const server = await serve({
      plugin: { routes, credentials },
      manifest: 'api: { rest: true }',
      database,
    });
    const { call, register, url } = server;
    const { id, accessToken } = (await register('ada@example.com')).body;
    const token = { authorization: `Token ${accessToken}` };
    const query = { query: '{ profiles { text } }' };
    expect((await call('GET /me', undefined, token)).body).toEqual({ id: String(id) });
    expect((await call('POST /graphql', query, token)).body).toEqual({ data: { profiles: [] } });
    expect((await call('GET /api/profiles', undefined, token)).status).toBe(200);
    expect((await call('GET /api/profiles')).status).toBe(401);
    expect((await call('POST /graphql', query, bearer(accessToken))).body.data).toBeTruthy();
    expect(await subscribed(url, token)).toBe('open');
    expect(await subscribed(url, { authorization: 'Token x' })).toBe('closed');
    for (const refused of ['Token x', 'Token ']) {
      const { status } = await call('GET /me', undefined, { authorization: refused });
      expect(status).toBe(401);
    }
    await call('POST /disable', { id });
    expect((await call('GET /me', undefined, { 'x-badge': id })).status).toBe(401);
    expect((await call('GET /me', undefined, token)).status).toBe(401);
    expect((await call('GET /me', undefined, { 'x-badge': '99' })).status).toBe(401);
  });

  it('keep the status of an AppError, make other throws 401, and ask an Origin for cookies', async () => {
    const { call, register } = await serve({ plugin: { routes, credentials }, database });
    const { id } = (await register('ada@example.com')).body;
    const badge = { 'x-badge': String(id) };
    expect((await call('GET /me', undefined, { 'x-badge': 'boom' })).status).toBe(401);
    expect(await call('GET /me', undefined, { 'x-badge': 'closed' })).toMatchObject({
      status: 403,
      body: { error: 'The door is closed' },
    });
    expect((await call('GET /me', undefined, badge)).status).toBe(200);
    expect((await call('POST /me', {}, badge)).status).toBe(403);
    const evil = { ...badge, origin: 'http://evil.example' };
    expect((await call('POST /me', {}, evil)).status).toBe(403);
    const own = { ...badge, origin: 'http://own.example' };
    expect((await call('POST /me', {}, own)).status).toBe(200);
  });

  it.each([
    ['"*"', ['http://own.example']],
    ['http://friend.example', ['http://friend.example']],
  ])(
    'ask an Origin for the cookie of a WebSocket, which can run mutations (%s)',
    async (cors, own) => {
      const { register, url } = await serve({
        plugin: { credentials },
        manifest: `server: { cors: [${cors}] }`,
        database,
      });
      const { id, accessToken } = (await register('ada@example.com')).body;
      const badge = { 'x-badge': String(id) };
      const open = (origin: string) => subscribed(url, {}, { ...badge, origin });
      expect(await subscribed(url, {}, badge)).toBe('closed');
      const origins = ['http://own.example', 'http://friend.example', 'http://evil.example'];
      for (const origin of origins)
        expect(await open(origin), origin).toBe(own.includes(origin) ? 'open' : 'closed');
      // What a page has to send itself needs no such check.
      const token = { authorization: `Token ${accessToken}` };
      expect(await subscribed(url, token, { origin: own.at(-1)! })).toBe('open');
    },
  );
});

describe('src/credentials.ts', () => {
  it('without auth: stop the start', async () => {
    const start = createServer()
      .schema('type Query { a: Int }')
      .plugin({ name: 'own', credentials })
      .start('127.0.0.1:0', { env: { DATABASE_URL: ':memory:', LOG_LEVEL: 'silent' } });
    await expect(start).rejects.toThrow('add auth: {} to manifest.yaml');
  });
});

/** Whether a subscription as this caller stays open. `headers` are those of the opening request. */
async function subscribed(
  url: string,
  connectionParams: Record<string, string>,
  headers: Record<string, string> = {},
): Promise<string> {
  class OpenedWith extends WebSocket {
    constructor(address: string, protocols: string | string[]) {
      super(address, protocols, { headers });
    }
  }
  const client = createClient({
    url: `${url.replace('http', 'ws')}/graphql`,
    webSocketImpl: OpenedWith,
    connectionParams,
    retryAttempts: 0,
  });
  const outcome = new Promise<string>((resolve) => {
    const query = 'subscription { profileCreated { text } }';
    const done = () => resolve('closed');
    client.subscribe({ query }, { next: () => {}, error: done, complete: done });
    client.on('connected', () => setTimeout(() => resolve('open'), 300));
  });
  return outcome.finally(() => client.dispose());
}
