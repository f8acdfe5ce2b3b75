import { afterAll, beforeAll, expect, it } from 'vitest';
import { openBrowser } from './browser.ts';
import { bearer, describeEachDatabase, startServer, type TestServer, USER } from './harness.ts';
import { CLIENT, signInAt, startOpenId } from './openid-provider.ts';

describeEachDatabase('§2.11 a real OpenID provider in the place of', (database) => {
  const people = {
    greta: {
      email: 'greta@x.test',
      email_verified: true,
      name: 'Greta G',
      picture: 'https://p.test/greta.png',
    },
    hugo: {
      id: 4711,
      login: 'hugo',
      name: 'Hugo H',
      avatar_url: 'https://p.test/hugo.png',
      emails: [
        { email: 'old@x.test', primary: false, verified: true },
        { email: 'hugo@x.test', primary: true, verified: true },
      ],
    },
    fay: {
      id: '99',
      name: 'Fay F',
      email: 'fay@x.test',
      picture: { data: { url: 'https://p.test/fay.png' } },
    },
    otto: { email: 'otto@x.test', email_verified: true, name: 'Otto O' },
  };
  const callback = (name: string) => `http://127.0.0.1:1/api/oauth/${name}/callback`;
  const kinds = {
    google: { person: 'greta', subject: 'greta', verified: 1, avatar: 'https://p.test/greta.png' },
    github: { person: 'hugo', subject: '4711', verified: 1, avatar: 'https://p.test/hugo.png' },
    facebook: { person: 'fay', subject: '99', verified: 0, avatar: 'https://p.test/fay.png' },
    'our-own': { person: 'otto', subject: 'otto', verified: 1, avatar: '' },
  } as const;
  let openid: Awaited<ReturnType<typeof startOpenId>>;
  let server: TestServer;
  beforeAll(async () => {
    openid = await startOpenId(Object.keys(kinds).map(callback), people);
    const { issuer } = openid;
    // The provider gives its userinfo to tokens with the scope `openid` only.
    const plain = {
      authorize_url: `${issuer}/auth`,
      access_url: `${issuer}/token`,
      profile_url: `${issuer}/me`,
      scope: 'openid email profile',
    };
    server = await startServer({
      database,
      entity: USER,
      env: Object.fromEntries(
        Object.keys(kinds).flatMap((name) => {
          const prefix = name.toUpperCase().replace('-', '_');
          return [
            [`${prefix}_CLIENT_ID`, CLIENT.id],
            [`${prefix}_CLIENT_SECRET`, CLIENT.secret],
            [`${prefix}_REDIRECT_URL`, callback(name)],
          ];
        }),
      ),
      auth: {
        oauth: {
          providers: [
            { name: 'google', preset: 'google', options: { issuer } },
            {
              name: 'github',
              preset: 'github',
              options: { ...plain, emails_url: `${issuer}/user/emails` },
            },
            { name: 'facebook', preset: 'facebook', options: plain },
            { name: 'our-own', preset: 'oidc', options: { issuer } },
          ],
        },
      },
    });
  });
  afterAll(async () => {
    await server.close();
    await openid.close();
  });

  for (const [name, { person, subject, verified, avatar }] of Object.entries(kinds)) {
    it(`${name}: sign-in, the account, the session, signing in again, and out`, async () => {
      const enter = async () => {
        const browser = openBrowser();
        const begin = await browser.visit(`${server.url}/api/oauth/${name}`);
        const back = await signInAt(
          browser,
          begin.headers.get('location')!,
          callback(name),
          person,
        );
        const response = await browser.visit(
          `${server.url}/api/oauth/${name}/callback${back.search}`,
        );
        return { status: response.status, body: (await response.json()) as Record<string, any> };
      };
      const { status, body } = await enter();
      expect([status, body]).toEqual([
        200,
        expect.objectContaining({
          email: `${person}@x.test`,
          first_name: people[person].name.split(' ')[0],
          avatar_url: avatar,
        }),
      ]);
      const identity = (await server.rows('auth_identities')).find(
        ({ provider }) => provider === name,
      );
      expect(identity).toMatchObject({
        subject,
        user_id: body['id'],
        email: `${person}@x.test`,
        email_verified: verified,
      });
      expect(
        (await server.call('GET', '/api/auth/me', undefined, bearer(body['accessToken']))).body.id,
      ).toBe(body['id']);
      expect((await enter()).body['id']).toBe(body['id']);
      expect(
        (await server.call('POST', '/api/auth/logout', undefined, bearer(body['accessToken'])))
          .status,
      ).toBe(200);
      expect(
        (await server.call('GET', '/api/auth/me', undefined, bearer(body['accessToken']))).status,
      ).toBe(401);
    });
  }
});
