import { expect, it } from 'vitest';
import type { Extend } from '../../runtime/auth/index.ts';
import { bearer, type DatabaseName, describeEachDatabase, startServer, USER } from './harness.ts';

const claimsOf = (token: string) =>
  JSON.parse(Buffer.from(token.split('.')[1]!, 'base64url').toString());

async function registerOn(database: DatabaseName, extend: Extend | undefined, auth = {}) {
  const server = await startServer({ database, auth, options: { ...(extend && { extend }) } });
  const answer = await server.register('extend@x.test');
  return {
    ...answer,
    server,
    sessions: (await server.rows('auth_sessions')).filter(({ revoked_at }) => revoked_at === null)
      .length,
  };
}

describeEachDatabase('§2.12 Extend', (database) => {
  const registerWith = (extend: Extend | undefined, auth = {}) =>
    registerOn(database, extend, auth);

  it('the default is the user id, and with roles also the role', async () => {
    const plain = await registerWith(undefined);
    expect(plain.body.extend).toEqual({ user_id: plain.body.id });
    expect([Object.hasOwn(plain.body, 'role_id'), Object.hasOwn(plain.body, 'role_name')]).toEqual([
      false,
      false,
    ]);
    const roles = await registerWith(undefined, {
      roles: { list: ['Member'], default: 'Member', first: null },
    });
    expect(roles.body.extend).toEqual({ user_id: roles.body.id, role: { id: 1, name: 'Member' } });
    await plain.server.close();
    await roles.server.close();
  });

  it('what it returns becomes JSON once, and response and token have the same', async () => {
    const { body, server } = await registerWith(async (userId) => ({
      user_id: userId,
      company_id: 7,
      since: new Date(0),
      gone: undefined,
      nested: { list: [1, 'a', null] },
      toString: 1,
    }));
    expect(body.extend).toEqual({
      user_id: body.id,
      company_id: 7,
      since: '1970-01-01T00:00:00.000Z',
      nested: { list: [1, 'a', null] },
      toString: 1,
    });
    expect(claimsOf(body.accessToken).extend).toEqual(body.extend);
    expect(JSON.stringify(claimsOf(body.accessToken).extend)).toBe(JSON.stringify(body.extend));
    await server.close();
  });

  it('nothing at all, and a database that is away, give the default', async () => {
    const away = Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' });
    for (const extend of [
      () => undefined,
      () => null,
      async () => Promise.reject(away),
      async () => Promise.reject(Object.assign(new Error(), { name: 'StoreUnavailableError' })),
    ] as Extend[]) {
      const { body, server } = await registerWith(extend);
      expect(body.extend).toEqual({ user_id: body.id });
      await server.close();
    }
  });

  const bad: Record<string, Extend> = {
    throws: () => {
      throw new Error('the company is missing');
    },
    'returns an array': () => [1] as never,
    'returns a text': () => 'admin' as never,
    'returns a number': () => 7 as never,
    'returns what JSON cannot say': () => ({ size: 1n }),
    'returns 5 kB': () => ({ pad: 'x'.repeat(5000) }),
    'takes longer than a second': () => new Promise(() => {}),
  };
  for (const [name, extend] of Object.entries(bad)) {
    it(`fails closed when it ${name}: 500, no token, no session`, async () => {
      const { status, text, server, sessions } = await registerWith(extend);
      expect([status, text, sessions]).toEqual([500, '{"error":"Internal server error"}', 0]);
      expect(server.logs.join()).toContain('request failed');
      await server.close();
    });
  }

  it('a registration that it fails leaves no user, event or mail, and the attempt says why', async () => {
    const { server } = await registerWith(bad['throws']);
    const tables = ['auth_users', 'auth_sessions', 'auth_security_events', 'auth_one_time_tokens'];
    for (const table of tables) expect([table, await server.rows(table)]).toEqual([table, []]);
    expect(server.logs.filter((line) => JSON.parse(line).mail)).toEqual([]);
    expect(await server.rows('auth_login_attempts')).toMatchObject([
      { outcome: 'failure', reason: 'extend_failed', user_id: null },
    ]);
    const failed = server.logs
      .map((line) => JSON.parse(line))
      .find(({ msg }) => msg === 'request failed');
    expect(failed.stack).toMatch(
      /ExtendError: extend failed[^]*caused by: Error: the company is missing/,
    );
    await server.close();
  });

  it('a login that it fails opens no session, and the attempt says why', async () => {
    let company = true;
    const { server, body } = await registerWith(() => {
      if (!company) throw new Error('the company is missing');
      return { company };
    });
    company = false;
    expect((await server.login('extend@x.test')).status).toBe(500);
    expect(await server.rows('auth_sessions')).toHaveLength(1);
    const [, failed] = await server.rows('auth_login_attempts');
    expect(failed).toMatchObject({ reason: 'extend_failed', user_id: body.id, session_id: null });
    expect(await server.events('auth.login.succeeded')).toHaveLength(1);
    await server.close();
  });
});

describeEachDatabase('§2.12 Extend over the database', (database) => {
  it('reads with db, knows role and request, and the context has what it returned', async () => {
    const seen: unknown[] = [];
    const server = await startServer({
      database,
      entity: USER,
      auth: { roles: { list: ['Member'], default: 'Member', first: null } },
      middleware: [
        async (ctx, next) => (
          seen.push(ctx.state.context.values.get('extend'), ctx.state.context.user?.extend),
          next()
        ),
      ],
      options: {
        extend: async (userId, { db, role, request }) => {
          const user = await db
            .selectFrom('users')
            .select('name')
            .where('id', '=', userId)
            .executeTakeFirst();
          return {
            user_id: userId,
            name: user?.['name'],
            role: role?.name,
            agent: request.headers['user-agent'],
          };
        },
      },
    });
    const { body } = await server.call(
      'POST',
      '/api/auth/register',
      { email: 'db@x.test', password: 'correct horse battery staple', name: 'Ada' },
      { 'User-Agent': 'tests' },
    );
    expect(body.extend).toEqual({ user_id: body.id, name: 'Ada', role: 'Member', agent: 'tests' });
    await server.call('GET', '/api/auth/me', undefined, bearer(body.accessToken));
    expect(seen.slice(-2)).toEqual([[body.extend, true], body.extend]);
    await server.close();
  });
});
