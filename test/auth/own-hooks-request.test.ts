import { expect, it } from 'vitest';
import type { AuthHooks } from '../../runtime/auth/auth-hooks.ts';
import { openBrowser } from './browser.ts';
import { asRoot, describeEachDatabase, GOOD, startServer, USER } from './harness.ts';
import { CLIENT, signInAt, startOpenId } from './openid-provider.ts';
import { ROLES, SETUP, tokensIn } from './owned.ts';

const REDIRECT = 'http://127.0.0.1:1/api/oauth/acme/callback';
const ENV = {
  ACME_CLIENT_ID: CLIENT.id,
  ACME_CLIENT_SECRET: CLIENT.secret,
  ACME_REDIRECT_URL: REDIRECT,
};
const PEOPLE = { ada: { email: 'ada@x.test', email_verified: true, name: 'Ada' } };

type Registered = Parameters<NonNullable<AuthHooks['afterRegister']>>[0];

// own-code.md §9: at every way in which a request makes a user.
describeEachDatabase('afterRegister', (database) => {
  /** What the hook gets of each user. */
  const watched = () => {
    const calls: Registered[] = [];
    const hooks: AuthHooks = { afterRegister: (call) => void calls.push(call) };
    const seen = () =>
      calls.map(({ user, body, request, ctx }) => ({
        email: user.email,
        body,
        id: request.id,
        ip: request.ip,
        agent: request.headers['user-agent'],
        kind: ctx.principal.kind,
      }));
    return { hooks, seen };
  };

  it('gets the request of a first sign-in through a provider, without its codes', async () => {
    const { hooks, seen } = watched();
    const openid = await startOpenId(REDIRECT, PEOPLE);
    const server = await startServer({
      database,
      entity: USER,
      env: ENV,
      options: { hooks },
      auth: {
        oauth: {
          providers: [{ name: 'acme', preset: 'oidc', options: { issuer: openid.issuer } }],
        },
      },
    });
    for (let visit = 0; visit < 2; visit += 1) {
      const browser = openBrowser();
      const begin = await browser.visit(`${server.url}/api/oauth/acme`);
      const back = await signInAt(browser, begin.headers.get('location')!, REDIRECT, 'ada');
      const done = await browser.visit(`${server.url}/api/oauth/acme/callback${back.search}`);
      expect(done.status).toBe(200);
    }
    expect(seen()).toEqual([
      {
        email: 'ada@x.test',
        body: {},
        id: expect.stringMatching(/^[\w-]{36}$/),
        ip: '127.0.0.1',
        agent: expect.any(String),
        kind: 'system',
      },
    ]);
    await server.close();
    await openid.close();
  });

  it('gets the request that makes the first owner, and that of an administrator', async () => {
    const { hooks, seen } = watched();
    const server = await startServer({
      database,
      entity: USER,
      auth: { roles: ROLES },
      env: { SMTP_URL: 'smtp://127.0.0.1:1' },
      options: { hooks },
    });
    const agent = (name: string) => ({ 'User-Agent': name });
    const owner = { email: 'owner@x.test', password: GOOD };
    const setup = { token: tokensIn(server)[0], ...owner };
    expect((await server.call('POST', SETUP, setup, agent('first'))).status).toBe(201);
    const headers = { ...asRoot, ...agent('desk') };
    const made = await server.call('POST', '/api/auth/admin/users', { email: 'b@x.test' }, headers);
    expect(made.status).toBe(201);
    expect(seen()).toMatchObject([
      { email: 'owner@x.test', body: { email: 'owner@x.test' }, ip: '127.0.0.1', agent: 'first' },
      { email: 'b@x.test', body: { email: 'b@x.test' }, ip: '127.0.0.1', agent: 'desk' },
    ]);
    expect(Object.keys(seen()[0]!.body)).toEqual(['email']);
    await server.close();
  });
});
