import { expect, it } from 'vitest';
import { asRoot, bearer, describeEachDatabase, GOOD, startServer, USER } from './harness.ts';
import { ROLES, ADMIN, SETUP, INVALID, HOUR, SETUP_TOKEN, tokensIn } from './owned.ts';

describeEachDatabase('§2.4, auth-2 acceptance 3: the first administrator', (database) => {
  it('a start prints a link; its token makes one owner, once', async () => {
    const server = await startServer({ database, entity: USER, auth: { roles: ROLES } });
    const [token] = tokensIn(server);
    const origin = server.url.replace('127.0.0.1', 'localhost');
    expect(server.logs.join('')).toContain(`${origin}/auth/setup?token=${token}`);
    expect(server.logs.join('')).toContain(`POST ${origin}/api/auth/setup`);
    await server.register('stranger@x.test');
    expect((await server.call('POST', SETUP, { token })).text).toBe(
      '{"error":"email is required"}',
    );
    const weak = { token, email: 'weak@x.test', password: 'weak' };
    expect((await server.call('POST', SETUP, weak)).status).toBe(400);
    const taken = { token, email: 'stranger@x.test', password: GOOD };
    expect((await server.call('POST', SETUP, taken)).text).toBe('{"error":"User already exists"}');
    const made = await server.call('POST', SETUP, {
      token,
      email: 'ada@x.test',
      password: GOOD,
      first_name: 'Ada',
    });
    expect([made.status, made.body.role_name, made.body.first_name]).toEqual([201, 'Owner', 'Ada']);
    const roles = await server.call('GET', `${ADMIN}/roles`, undefined, {
      ...bearer(made.body.accessToken),
    });
    expect(roles.body.roles[0]).toMatchObject({ name: 'Owner', permissions: ['*'] });
    const again = { token, email: 'eve@x.test', password: GOOD };
    expect((await server.call('POST', SETUP, again)).text).toBe(INVALID);
    expect((await server.events('user.setup')).map(({ user_id }) => user_id)).toEqual([
      made.body.id,
    ]);
    expect(
      (await server.rows('auth_permission_changes')).map(({ action, target_id }) => [
        action,
        target_id,
      ]),
    ).toEqual([['role.assigned', String(made.body.id)]]);
    await server.close();
  });

  it('whoever is signed in becomes the owner with the token alone, under new tokens', async () => {
    const server = await startServer({ database, entity: USER, auth: { roles: ROLES } });
    const [token] = tokensIn(server);
    const { body } = await server.register('signed-in@x.test');
    const wrong = await server.call('POST', SETUP, { token }, bearer('no.such.token'));
    expect(wrong.status).toBe(401);
    const done = await server.call('POST', SETUP, { token }, bearer(body.accessToken));
    expect([done.status, done.body.role_name]).toEqual([200, 'Owner']);
    const me = async (access: string) =>
      (await server.call('GET', '/api/auth/me', undefined, bearer(access))).status;
    expect([await me(done.body.accessToken), await me(body.accessToken)]).toEqual([200, 401]);
    expect(
      (await server.call('POST', '/api/auth/refresh', { refreshToken: body.refreshToken })).status,
    ).toBe(401);
    await server.close();
  });

  it('an own extend that throws makes no owner, and the same token works after it', async () => {
    let company = false;
    const extend = () => {
      if (!company) throw new Error('the company is missing');
      return { company };
    };
    const server = await startServer({
      database,
      entity: USER,
      auth: { roles: ROLES },
      options: { extend },
    });
    const [token] = tokensIn(server);
    const first = { token, email: 'first@x.test', password: GOOD };
    const setup = (headers = {}) => server.call('POST', SETUP, first, headers);
    expect((await setup()).status).toBe(500);
    for (const table of ['auth_users', 'auth_sessions', 'auth_security_events'])
      expect([table, await server.rows(table)]).toEqual([table, []]);
    expect(server.logs.filter((line) => JSON.parse(line).mail)).toEqual([]);
    company = true;
    const { body } = await server.register('signed-in@x.test');
    company = false;
    expect((await setup(bearer(body.accessToken))).status).toBe(500);
    const me = () => server.call('GET', '/api/auth/me', undefined, bearer(body.accessToken));
    expect((await me()).body.role_name).toBe('Member');
    const attempts = await server.rows('auth_login_attempts');
    expect(attempts.map(({ reason, user_id }) => [reason, user_id])).toEqual([
      ['extend_failed', null],
      [null, body.id],
      ['extend_failed', body.id],
    ]);
    company = true;
    expect(await setup()).toMatchObject({ status: 201, body: { role_name: 'Owner' } });
    await server.close();
  });

  it('of ten at once one becomes the owner, by one token, by several, and by SETUP_TOKEN', async () => {
    for (const kind of ['one', 'several', 'setting'] as const) {
      const env = kind === 'setting' ? { env: { SETUP_TOKEN } } : {};
      const server = await startServer({ database, entity: USER, auth: { roles: ROLES }, ...env });
      const other =
        kind === 'several'
          ? await startServer({
              database,
              entity: USER,
              auth: { roles: ROLES },
              url: server.databaseUrl,
            })
          : null;
      const tokens = [
        kind === 'setting' ? SETUP_TOKEN : tokensIn(server)[0],
        ...(other && database === 'PostgreSQL' ? tokensIn(other) : []),
      ];
      const answers = await Promise.all(
        Array.from({ length: 10 }, (_, index) =>
          server.call('POST', SETUP, {
            token: tokens[index % tokens.length],
            email: `ten${index}@x.test`,
            password: GOOD,
          }),
        ),
      );
      const statuses = answers.map(({ status }) => status).sort();
      expect([kind, statuses]).toEqual([kind, [201, ...Array.from({ length: 9 }, () => 400)]]);
      expect((await server.rows('auth_users')).filter(({ role_id }) => role_id === 1)).toHaveLength(
        1,
      );
      expect(await server.rows('users')).toHaveLength(1);
      await other?.close();
      await server.close();
    }
  });

  it('a token is good for an hour, a wrong one never, and none once somebody has the role', async () => {
    const server = await startServer({ database, entity: USER, auth: { roles: ROLES } });
    const [token] = tokensIn(server);
    const eve = { email: 'eve@x.test', password: GOOD };
    expect((await server.call('POST', SETUP, { token: 'wrong', ...eve })).text).toBe(INVALID);
    server.advance(HOUR + 1000);
    expect((await server.call('POST', SETUP, { token, ...eve })).text).toBe(INVALID);
    server.advance(-HOUR - 1000);
    const { body } = await server.register('given@x.test');
    await server.call('PUT', `${ADMIN}/users/${body.id}/role`, { role_id: 1 }, asRoot);
    expect((await server.call('POST', SETUP, { token, ...eve })).text).toBe(INVALID);
    await server.close();
  });

  it('production prints no token; SETUP_TOKEN is the token', async () => {
    const server = await startServer({
      database,
      entity: USER,
      auth: { roles: ROLES },
      env: {
        NODE_ENV: 'production',
        RATE_LIMIT_ENABLED: 'true',
        APP_URL: 'https://shop.test',
        SETUP_TOKEN,
      },
    });
    const log = server.logs.join('');
    expect(tokensIn(server)).toEqual([]);
    expect(log).toContain('SETUP_TOKEN');
    expect(log).toContain('npm run admin');
    expect(log).not.toContain(SETUP_TOKEN);
    const ada = { email: 'ada@x.test', password: GOOD };
    expect((await server.call('POST', SETUP, { token: `${SETUP_TOKEN}x`, ...ada })).text).toBe(
      INVALID,
    );
    const made = await server.call('POST', SETUP, { token: SETUP_TOKEN, ...ada });
    expect([made.status, made.body.role_name]).toEqual([201, 'Owner']);
    const eve = { token: SETUP_TOKEN, email: 'eve@x.test', password: GOOD };
    expect((await server.call('POST', SETUP, eve)).text).toBe(INVALID);
    await server.close();
  });

  it('without a first role there is nothing to set up', async () => {
    const server = await startServer({ database, entity: USER });
    expect(tokensIn(server)).toEqual([]);
    const ada = { token: 'x', email: 'ada@x.test', password: GOOD };
    expect((await server.call('POST', SETUP, ada)).status).toBe(404);
    await server.close();
  });
});
