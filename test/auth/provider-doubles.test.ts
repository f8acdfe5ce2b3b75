import { generateKeyPairSync } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { decodeProtectedHeader, jwtVerify } from 'jose';
import { chromium as browsers } from 'playwright-core';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { chromium, describeWith } from '../engines/available.ts';
import { openBrowser } from './browser.ts';
import { describeEachDatabase, startServer, type TestServer, USER } from './harness.ts';
import { type HostileProvider, json, startHostile } from './hostile-provider.ts';

const TENANT = '11111111-2222-3333-4444-555555555555';
const MICROSOFT = 'https://login.microsoftonline.com';
const appleKey = generateKeyPairSync('ec', { namedCurve: 'prime256v1' });

/** What each provider documents of its start and its answers. */
interface Double {
  readonly scope: string;
  readonly claims?: Readonly<Record<string, unknown>>;
  readonly userinfo?: Readonly<Record<string, unknown>>;
  readonly params?: Readonly<Record<string, string>>;
  readonly pkce?: false;
  readonly is: Readonly<Record<string, unknown>>;
  readonly name?: string;
}

const DOUBLES: Readonly<Record<string, Double>> = {
  apple: {
    scope: 'name email',
    claims: {
      iss: 'https://appleid.apple.com',
      sub: '001.a.1',
      email_verified: 'true',
      name: undefined,
    },
    params: { response_mode: 'form_post' },
    is: { subject: '001.a.1', email_verified: 1 },
    name: 'Ada',
  },
  microsoft: {
    scope: 'openid email profile',
    claims: {
      iss: `${MICROSOFT}/${TENANT}/v2.0`,
      tid: TENANT,
      email_verified: undefined,
      xms_edov: '1',
    },
    is: { subject: 'sub-1', email_verified: 1 },
  },
  discord: {
    scope: 'identify email',
    userinfo: {
      id: '80351110224678912',
      email: 'hostile@x.test',
      verified: true,
      global_name: 'Host Ile',
      avatar: '8342729096ea',
    },
    is: { subject: '80351110224678912', email_verified: 1 },
  },
  gitlab: {
    scope: 'openid email profile',
    userinfo: { sub: '7', email: 'hostile@x.test', email_verified: true, name: 'Host Ile' },
    is: { subject: '7', email_verified: 1 },
  },
  linkedin: {
    scope: 'openid email profile',
    userinfo: { sub: '782bbtaQ', email: 'hostile@x.test', email_verified: true, name: 'Host Ile' },
    pkce: false,
    is: { subject: '782bbtaQ', email_verified: 1 },
  },
  slack: {
    scope: 'openid email profile',
    claims: { iss: 'https://slack.com', sub: 'U0R7JM' },
    is: { subject: 'U0R7JM', email_verified: 1 },
  },
  twitch: {
    scope: 'openid user:read:email',
    claims: {
      iss: 'https://id.twitch.tv/oauth2',
      sub: '713936733',
      name: undefined,
      preferred_username: 'Host',
    },
    params: {
      claims:
        '{"id_token":{"email":null,"email_verified":null,"picture":null,"preferred_username":null}}',
    },
    is: { subject: '713936733', email_verified: 1 },
  },
  spotify: {
    scope: 'user-read-email',
    userinfo: {
      id: 'wizzler',
      email: 'hostile@x.test',
      display_name: 'Host Ile',
      images: [{ url: 'https://p.test/1' }],
    },
    is: { subject: 'wizzler', email_verified: 0 },
  },
};

async function start(
  database: 'SQLite' | 'PostgreSQL',
  options: Readonly<Record<string, object>> = {},
) {
  const provider = await startHostile();
  const names = Object.keys(DOUBLES);
  const secrets = (name: string) =>
    name === 'apple'
      ? {
          APPLE_TEAM_ID: 'TEAM',
          APPLE_KEY_ID: 'KEY',
          APPLE_PRIVATE_KEY: String(
            appleKey.privateKey.export({ type: 'pkcs8', format: 'pem' }),
          ).replaceAll('\n', String.raw`\n`),
        }
      : { [`${name.toUpperCase()}_CLIENT_SECRET`]: 'hush' };
  const server = await startServer({
    database,
    entity: USER,
    env: Object.assign(
      {},
      ...names.map((name) => ({
        [`${name.toUpperCase()}_CLIENT_ID`]: 'shop',
        [`${name.toUpperCase()}_REDIRECT_URL`]: `http://127.0.0.1:1/api/oauth/${name}/callback`,
        ...secrets(name),
      })),
    ),
    auth: {
      oauth: {
        returnTo: ['myapp://callback', 'http://127.0.0.1', 'https://app.test'],
        providers: names.map((name) => ({
          name,
          preset: name,
          options: {
            authorize_url: `${provider.issuer}/authorize`,
            access_url: `${provider.issuer}/token`,
            ...(DOUBLES[name]!.userinfo && { profile_url: `${provider.issuer}/userinfo` }),
            jwks_url: `${provider.issuer}/jwks`,
            ...options[name],
          },
        })),
      },
    },
  });
  return { provider, server };
}

describeEachDatabase('identity §5 each preset against a double of its answers', (database) => {
  let provider: HostileProvider;
  let server: TestServer;
  beforeEach(async () => ({ provider, server } = await start(database)));
  afterEach(async () => {
    await server.close();
    await provider.close();
  });

  const begin = async (name: string, query = '') => {
    const browser = openBrowser();
    const response = await browser.visit(`${server.url}/api/oauth/${name}${query}`);
    const location = new URL(response.headers.get('location') ?? 'about:blank');
    const state = location.searchParams.get('state') ?? '';
    provider.nonce = location.searchParams.get('nonce') ?? '';
    const double = DOUBLES[name]!;
    provider.claims = { ...double.claims };
    provider.userinfo = double.userinfo ?? null;
    if (double.userinfo) provider.answer = (_, __, answer) => json(answer, { access_token: 'at' });
    const back = `${server.url}/api/oauth/${name}/callback`;
    const form = (more: object = {}) => browser.visit(back, { code: 'c', state, ...more });
    const finish = () =>
      name === 'apple'
        ? form({ user: '{"name":{"firstName":"Ada","lastName":"Lovelace"},"email":"liar@x.test"}' })
        : browser.visit(`${back}?code=c&state=${state}`);
    return { browser, response, location, state, back, form, finish };
  };

  for (const [
    name,
    { scope, params = {}, pkce = true, is, name: first = 'Host' },
  ] of Object.entries(DOUBLES))
    it(`${name} is asked as it documents, and its answer is read`, async () => {
      const { location, finish } = await begin(name);
      const query = Object.fromEntries(location.searchParams);
      expect(query).toMatchObject({ scope, ...params });
      expect(Boolean(query['code_challenge'])).toBe(pkce);
      const response = await finish();
      expect([response.status, await response.json()]).toEqual([
        200,
        expect.objectContaining({ email: 'hostile@x.test', first_name: first }),
      ]);
      expect((await server.rows('auth_identities'))[0]).toMatchObject({ provider: name, ...is });
      expect(provider.forms[0]!.has('code_verifier')).toBe(pkce);
    });

  it("Apple's secret is signed with its key for this call", async () => {
    await (await begin('apple')).finish();
    const secret = provider.forms[0]!.get('client_secret')!;
    expect(decodeProtectedHeader(secret)).toEqual({ alg: 'ES256', kid: 'KEY' });
    const { payload } = await jwtVerify(secret, appleKey.publicKey);
    expect(payload).toMatchObject({ iss: 'TEAM', sub: 'shop', aud: 'https://appleid.apple.com' });
    expect(payload.exp! - payload.iat!).toBe(300);
  });

  it('a form ends a flow once, in its browser, and only of a provider that sends forms', async () => {
    const { browser, back, form, state, response } = await begin('apple');
    expect(response.headers.getSetCookie()[0]).toContain('SameSite=None; Secure');
    const stranger = openBrowser();
    expect((await stranger.visit(back, { code: 'c', state })).status).toBe(400);
    const kept = new Map(browser.cookies);
    expect((await form()).status).toBe(200);
    for (const [cookie, value] of kept) browser.cookies.set(cookie, value);
    expect([(await form()).status, provider.forms.length]).toEqual([400, 1]);
    const other = await begin('slack');
    expect((await other.form()).status).toBe(415);
    expect((await begin('slack')).response.headers.getSetCookie()[0]).toContain('SameSite=Lax');
  });

  it('a form with an id token signs nobody in, whatever else is in it', async () => {
    const { back, form } = await begin('apple');
    for (const fields of [
      { idToken: provider.idToken(), nonce: 'n'.repeat(16) },
      { state: 'x' },
      { user: '{' },
    ])
      expect((await openBrowser().visit(back, fields as Record<string, string>)).status).toBe(400);
    expect((await form({ user: '[[' })).status).toBe(200);
    expect(await server.rows('auth_identities')).toHaveLength(1);
  });

  it('who cancels at Apple is told so', async () => {
    const { browser, back, state } = await begin('apple');
    const answer = await browser.visit(back, { state, error: 'user_cancelled_authorize' });
    expect([answer.status, await answer.text()]).toEqual([401, '{"error":"OAuth access denied"}']);
  });

  it('Microsoft: the issuer is that of the organization in the token, the address as far as it is proved', async () => {
    const enter = async (claims: object) => {
      const { finish } = await begin('microsoft');
      provider.claims = { ...provider.claims, ...claims };
      return (await finish()).status;
    };
    for (const claims of [
      { tid: 'aaaaaaaa-2222-3333-4444-555555555555' },
      { tid: undefined },
      { tid: undefined, iss: `${MICROSOFT}//v2.0` },
      { tid: '..', iss: `${MICROSOFT}/../v2.0` },
      { iss: `${MICROSOFT}/{tenantid}/v2.0`, tid: '{tenantid}' },
    ])
      expect(await enter(claims)).toBe(401);
    expect(await enter({ xms_edov: undefined, email_verified: true })).toBe(200);
    expect((await server.rows('auth_identities'))[0]).toMatchObject({ email_verified: 0 });
  });

  it('Microsoft: with a tenant no other organization signs in', async () => {
    const own = await start(database, { microsoft: { tenant: TENANT } });
    await server.close();
    await provider.close();
    ({ server, provider } = own);
    const { finish } = await begin('microsoft');
    expect((await finish()).status).toBe(200);
    const tid = 'aaaaaaaa-2222-3333-4444-555555555555';
    const other = await begin('microsoft');
    provider.claims = { ...provider.claims, tid, iss: `${MICROSOFT}/${tid}/v2.0`, sub: 'sub-2' };
    expect((await other.finish()).status).toBe(401);
  });

  const challenge = `&code_challenge=${'a'.repeat(43)}`;
  it.each([
    ['myapp://callback', 302],
    ['http://127.0.0.1:49152/done', 302],
    ['https://app.test/done', 302],
    ['myapp://callback/', 400],
    ['myapp://callback2', 400],
    ['myapp://callback?x=1', 400],
    ['MYAPP://callback', 400],
    ['myapp:callback', 400],
    ['other://callback', 400],
    ['javascript:alert(1)', 400],
    ['http://127.0.0.1.evil.test/', 400],
    ['http://127.0.0.1@evil.test/', 400],
    ['http://x@127.0.0.1:1/', 400],
    ['https://127.0.0.1:1/', 400],
    ['http://localhost:1/', 400],
  ])('a native application: a flow that ends at %s is %i', async (address, status) => {
    const to = `?return_to=${encodeURIComponent(address)}`;
    expect((await begin('slack', to + challenge)).response.status).toBe(status);
    // Another application may listen there too.
    const without = address.startsWith('https://app') ? status : 400;
    expect((await begin('slack', to)).response.status).toBe(without);
  });

  it('the code for a native application is exchanged by whoever has the verifier', async () => {
    const { createHash, randomBytes } = await import('node:crypto');
    const verifier = randomBytes(32).toString('base64url');
    const s256 = createHash('sha256').update(verifier).digest('base64url');
    const flow = await begin('slack', `?return_to=myapp://callback&code_challenge=${s256}`);
    const end = new URL((await flow.finish()).headers.get('location')!);
    expect([end.protocol, end.host]).toEqual(['myapp:', 'callback']);
    const code = end.searchParams.get('code');
    const answer = await server.call('POST', '/api/oauth/exchange', {
      code,
      code_verifier: verifier,
    });
    expect([answer.status, answer.body.email]).toEqual([200, 'hostile@x.test']);
  });
});

describeWith('chromium', 'identity acceptance 7: the form of Apple in a browser', () => {
  it("the flow's cookie survives a form of another site, and the application gets its code", async () => {
    const apple = createServer((request, response) => {
      const asked = new URL(request.url!, 'http://apple').searchParams;
      provider.nonce = asked.get('nonce') ?? '';
      provider.claims = { ...DOUBLES['apple']!.claims };
      const action = `${server.url}/api/oauth/apple/callback`;
      response
        .setHeader('Content-Type', 'text/html')
        .end(
          `<form method="post" action="${action}"><input name="state" value="${asked.get('state')}"><input name="code" value="c"></form><script>document.forms[0].submit()</script>`,
        );
    });
    await new Promise<void>((resolve) => apple.listen(0, '127.0.0.1', resolve));
    // To browsers, `localhost` is another site than `127.0.0.1`.
    const site = `http://localhost:${(apple.address() as AddressInfo).port}`;
    const { provider, server } = await start('SQLite', {
      apple: { authorize_url: `${site}/authorize` },
    });
    const browser = await browsers.launch({
      executablePath: chromium ?? '',
      args: ['--no-sandbox'],
    });
    try {
      const page = await browser.newPage();
      await page.goto(`${server.url}/api/oauth/apple?return_to=/welcome`);
      await page.waitForURL(/\/welcome/);
      expect(page.url()).toMatch(/\/welcome\?code=/);
      const code = new URL(page.url()).searchParams.get('code');
      const answer = await page.evaluate(
        `fetch('/api/oauth/exchange', { method: 'POST', headers: { 'Content-Type': 'application/json' }, body: '{"code":"${code}"}' })
          .then(async (response) => [response.status, (await response.json()).email])`,
      );
      expect(answer).toEqual([200, 'hostile@x.test']);
    } finally {
      await browser.close();
      apple.close();
      await server.close();
      await provider.close();
    }
  });
});
