import { afterEach, describe, expect, it } from 'vitest';
import type { AuthFunctions } from '../../runtime/auth/auth-hooks.ts';
import type { Plugin } from '../../runtime/core/plugin.ts';
import { databases } from '../graphql/harness.ts';
import { closeServers, serve } from './own-server.ts';
import { GOOD } from './server.ts';

afterEach(closeServers);

/** A mutation that writes and calls a function of `ctx.auth`, whose refusal rolls it back. */
const resolvers: NonNullable<Plugin['resolvers']> = {
  Mutation: {
    call: async (_parent, { function: name, body }, ctx) => {
      await ctx.sudo().data.profile.findMany({});
      await ctx.auth[name](JSON.parse(body));
      return true;
    },
  },
};

const routes: NonNullable<Plugin['routes']> = (router) => {
  router.get('/rows/:table', async (ctx) => ({
    rows: await ctx.db.selectFrom(ctx.params['table']!).selectAll().execute(),
  }));
};

interface Options {
  readonly database: 'sqlite' | 'postgres';
  readonly auth?: string;
  readonly extend?: AuthFunctions['extend'];
}

async function start({ database, auth, extend }: Options) {
  const server = await serve({
    database,
    plugin: { resolvers, routes },
    ...(auth !== undefined && { auth }),
    ...(extend && { functions: { extend } }),
  });
  const { call, register } = server;
  const mutate = async (name: string, body: object): Promise<string | null> => {
    const { errors } = (
      await call('POST /graphql', {
        query: 'mutation ($f: String!, $b: String!) { call(function: $f, body: $b) }',
        variables: { f: name, b: JSON.stringify(body) },
      })
    ).body;
    return errors?.[0].message ?? null;
  };
  const rows = async (table: string): Promise<any[]> =>
    (await call(`GET /rows/${table}`)).body.rows;
  /** The events of one type. */
  const events = async (type: string) =>
    (await rows('auth_security_events')).filter((event) => event.type === type);
  return { call, register, mutate, rows, events };
}

const ADA = { email: 'ada@example.com', password: GOOD };
const WRONG = { ...ADA, password: 'wrong' };

// own-code.md §9
describe.each(databases)('when a mutation rolls back on %s', (database) => {
  it('a reused refresh token still ends its session, with its events', async () => {
    const { call, register, mutate, events } = await start({ database });
    const first = (await register(ADA.email)).body.refreshToken;
    const refresh = (refreshToken: string) => call('POST /api/auth/refresh', { refreshToken });
    const second = (await refresh(first)).body.refreshToken;
    const third = (await refresh(second)).body.refreshToken;
    expect(await mutate('refresh', { refreshToken: first })).toBe('Invalid refresh token');
    expect((await refresh(third)).status).toBe(401);
    for (const type of ['token.refresh_reuse', 'alert.refresh_reuse'])
      expect(await events(type), type).toHaveLength(1);
  });

  it('the event and the attempt of an exceeded limit stay', async () => {
    const { register, mutate, rows, events } = await start({
      database,
      auth: '{ rate_limits: { login-ip: 2/1m } }',
    });
    await register(ADA.email);
    for (const message of ['Invalid credentials', 'Invalid credentials', 'Rate limit exceeded'])
      expect(await mutate('login', WRONG)).toBe(message);
    expect(await events('rate_limit.exceeded')).toHaveLength(1);
    const reasons = (await rows('auth_login_attempts')).map(({ reason }) => reason);
    expect(reasons.filter((reason) => reason === 'rate_limited')).toHaveLength(1);
  });

  it('a lock names its user, and the alert for the account is raised', async () => {
    const { register, mutate, rows, events } = await start({ database });
    const { id } = (await register(ADA.email)).body;
    for (let count = 0; count < 5; count += 1)
      expect(await mutate('login', WRONG)).toBe('Invalid credentials');
    expect(await mutate('login', ADA)).toBe('Account locked');
    expect((await rows('auth_identifier_locks')).map(({ user_id }) => user_id)).toEqual([id]);
    expect(await events('auth.locked')).toHaveLength(1);
    expect(await events('auth.login.failed')).toHaveLength(5);
    await expect.poll(() => events('alert.account_bruteforce')).toHaveLength(1);
  });

  it('the attempt of a sign-in or registration that extend ends stays once', async () => {
    let broken = false;
    const { register, mutate, rows } = await start({
      database,
      extend: (userId) => {
        if (broken) throw new Error('no directory');
        return { user_id: userId };
      },
    });
    const { id } = (await register(ADA.email)).body;
    broken = true;
    const failed = async () =>
      (await rows('auth_login_attempts'))
        .filter(({ reason }) => reason === 'extend_failed')
        .map(({ user_id }) => user_id);
    expect(await mutate('login', ADA)).toBe('Internal server error');
    expect(await failed()).toEqual([id]);
    expect(await mutate('register', { ...ADA, email: 'ben@example.com' })).toBe(
      'Internal server error',
    );
    expect(await failed()).toEqual([id, null]);
    expect(await rows('auth_users')).toHaveLength(1);
  });
});
