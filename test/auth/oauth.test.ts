import { createHash } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { checkReturnTo, withParameter } from '../../runtime/auth/sign-in/redirect.ts';
import { openBrowser } from './browser.ts';
import { exchange } from './flow.ts';
import {
  asRoot,
  bearer,
  describeEachDatabase,
  GOOD,
  startServer,
  type TestOptions,
  type TestServer,
  USER,
} from './harness.ts';
import { CLIENT, signInAt, startOpenId } from './openid-provider.ts';

const REDIRECT = 'http://127.0.0.1:1/api/oauth/acme/callback';
const PEOPLE = {
  ada: {
    email: 'Ada@x.test',
    email_verified: true,
    name: 'Ada Lovelace',
    picture: 'https://pictures.test/ada.png',
  },
  bob: { email: 'bob@x.test', email_verified: false, name: 'Bob' },
  carol: { email: 'carol@x.test', email_verified: true, name: 'Carol' },
};
const ENV = {
  ACME_CLIENT_ID: CLIENT.id,
  ACME_CLIENT_SECRET: CLIENT.secret,
  ACME_REDIRECT_URL: REDIRECT,
};

const INVALID = '{"error":"Invalid or expired token"}';
const VERIFIER = 'v'.repeat(43);
const CHALLENGE = createHash('sha256').update(VERIFIER).digest('base64url');
/** The code that a browser is sent back with. */
const codeOf = ({ headers }: Response) =>
  new URL(headers.get('location')!, 'http://shop.test').searchParams.get('code')!;

describeEachDatabase('§2.11 sign-in through a real OpenID provider', (database) => {
  let openid: Awaited<ReturnType<typeof startOpenId>>;
  let server: TestServer;
  const start = (more: Partial<TestOptions> = {}) =>
    startServer({
      database,
      entity: USER,
      env: { ...ENV, ...more.env },
      auth: {
        ...more.auth,
        oauth: {
          returnTo: ['https://app.test'],
          providers: [{ name: 'acme', preset: 'oidc', options: { issuer: openid.issuer } }],
          ...(more.auth?.oauth as object),
        },
      },
    });
  /** The whole way of one person, to the answer of the callback. */
  const signIn = async (person: string | null, query = '', on = server, cookie?: string) => {
    const browser = openBrowser();
    if (cookie) browser.cookies.set(`${on.url} ${cookie.split('=')[0]}`, cookie.split(/[=;]/)[1]!);
    const begin = await browser.visit(`${on.url}/api/oauth/acme${query}`);
    const back = await signInAt(browser, begin.headers.get('location')!, REDIRECT, person);
    const response = await browser.visit(`${on.url}/api/oauth/acme/callback${back.search}`);
    const text = await response.text();
    return {
      begin,
      back,
      browser,
      response,
      status: response.status,
      text,
      body: text.startsWith('{') ? JSON.parse(text) : undefined,
    };
  };
  beforeAll(async () => {
    openid = await startOpenId(REDIRECT, PEOPLE);
    server = await start();
  });
  afterAll(async () => {
    await server.close();
    await openid.close();
  });

  it('begins with code, PKCE S256, state, nonce and the exact redirect address', async () => {
    const begin = await openBrowser().visit(`${server.url}/api/oauth/acme`);
    expect(begin.status).toBe(302);
    const query = Object.fromEntries(new URL(begin.headers.get('location')!).searchParams);
    expect(query).toMatchObject({
      client_id: CLIENT.id,
      response_type: 'code',
      redirect_uri: REDIRECT,
      scope: 'openid email profile',
      code_challenge_method: 'S256',
    });
    expect(query['code_challenge']).toMatch(/^[\w-]{43}$/);
    expect(query['state']!.length).toBeGreaterThanOrEqual(32);
    expect(query['nonce']!.length).toBeGreaterThanOrEqual(32);
    const [cookie] = begin.headers.getSetCookie();
    expect(cookie).toMatch(
      new RegExp(
        `^oauth_${createHash('sha256').update(query['state']!).digest('hex').slice(0, 8)}=[\\w-]+; Max-Age=600; Path=/; HttpOnly; SameSite=Lax$`,
      ),
    );
    for (const secret of [query['state']!, query['nonce']!])
      expect(Buffer.from(cookie!.split('=')[1]!, 'base64url').toString()).not.toContain(secret);
  });

  it('makes a user, and the next time it is the same one', async () => {
    const first = await signIn('ada');
    expect([first.status, Object.keys(first.body).slice(0, 8)]).toEqual([
      200,
      ['id', 'first_name', 'last_name', 'username', 'phone', 'email', 'avatar_url', 'last_login'],
    ]);
    expect(first.body).toMatchObject({
      email: 'Ada@x.test',
      first_name: 'Ada',
      last_name: 'Lovelace',
      avatar_url: 'https://pictures.test/ada.png',
    });
    const second = await signIn('ada');
    expect(second.body.id).toBe(first.body.id);
    expect(
      (await server.call('GET', '/api/auth/me', undefined, bearer(second.body.accessToken))).status,
    ).toBe(200);
    expect(await server.rows('auth_identities')).toEqual([
      expect.objectContaining({ provider: 'acme', subject: 'ada', user_id: first.body.id }),
    ]);
    expect((await server.login('ada@x.test', GOOD)).status).toBe(401);
    const identities = await server.call(
      'GET',
      '/api/auth/identities',
      undefined,
      bearer(second.body.accessToken),
    );
    expect(identities.body).toEqual({
      total: 1,
      identities: [
        {
          provider: 'acme',
          email: 'Ada@x.test',
          created_at: expect.any(String),
          last_login_at: expect.any(String),
        },
      ],
    });
    expect(
      (
        await server.call(
          'DELETE',
          '/api/auth/identities/acme',
          undefined,
          bearer(second.body.accessToken),
        )
      ).text,
    ).toBe('{"error":"Cannot remove the last sign-in method"}');
  });

  it('with return_to a code goes back, which works once and for a minute', async () => {
    const { response, browser } = await signIn('ada', '?return_to=/welcome%3Ffrom%3Dlogin');
    expect(response.status).toBe(303);
    const location = new URL(response.headers.get('location')!, server.url);
    expect([location.pathname, location.searchParams.get('from')]).toEqual(['/welcome', 'login']);
    const code = location.searchParams.get('code')!;
    expect(location.href).not.toMatch(/eyJ|rt1/);
    expect((await exchange(server, browser, { code })).body).toMatchObject({
      email: 'Ada@x.test',
      accessToken: expect.any(String),
    });
    expect((await exchange(server, browser, { code })).text).toBe(INVALID);
    const allowed = await signIn(
      'ada',
      `?return_to=${encodeURIComponent('https://app.test/done#here')}`,
    );
    expect(allowed.response.headers.get('location')).toMatch(
      /^https:\/\/app\.test\/done\?code=[\w-]{43}#here$/,
    );
  });

  it('a code is of use in the browser that was sent back, and used up by any other', async () => {
    const [first, second] = [
      await signIn('ada', '?return_to=/welcome'),
      await signIn('ada', '?return_to=/welcome'),
    ];
    const [cookie] = first.response.headers
      .getSetCookie()
      .filter((line) => line.startsWith('oauth_code_'));
    expect(cookie).toMatch(
      /^oauth_code_[\w-]{8}=[\w-]{22}; Max-Age=60; Path=\/; HttpOnly; SameSite=Lax$/,
    );
    const code = codeOf(first.response);
    expect(cookie).not.toContain(code);
    expect((await exchange(server, openBrowser(), { code })).text).toBe(INVALID);
    expect((await exchange(server, first.browser, { code })).text).toBe(INVALID);
    // A mark of another flow of the same browser is none.
    const both = openBrowser();
    for (const { browser } of [first, second])
      for (const [name, value] of browser.cookies) both.cookies.set(name, value);
    const other = await signIn('ada', '?return_to=/welcome');
    expect((await exchange(server, both, { code: codeOf(other.response) })).text).toBe(INVALID);
    const right = await exchange(server, both, { code: codeOf(second.response) });
    expect([right.status, right.body.email]).toEqual([200, 'Ada@x.test']);
    expect(
      right.headers.getSetCookie().filter((line) => /^oauth_code_.*Max-Age=0/.test(line)),
    ).toHaveLength(1);
    // Without a challenge at the start a verifier has nothing to prove.
    const none = await signIn('ada', '?return_to=/welcome');
    const verified = { code: codeOf(none.response), code_verifier: VERIFIER };
    expect((await exchange(server, none.browser, verified)).text).toBe(INVALID);
  });

  it('with a code_challenge the code is for whoever has the verifier', async () => {
    const start = () => signIn('ada', `?return_to=/welcome&code_challenge=${CHALLENGE}`);
    const { response } = await start();
    expect(response.headers.getSetCookie().join()).not.toContain('oauth_code_');
    const right = await exchange(server, openBrowser(), {
      code: codeOf(response),
      code_verifier: VERIFIER,
    });
    expect([right.status, right.body.email]).toEqual([200, 'Ada@x.test']);
    for (const code_verifier of [undefined, CHALLENGE, 'w'.repeat(43)]) {
      const again = await start();
      const code = codeOf(again.response);
      expect((await exchange(server, again.browser, { code, code_verifier })).text).toBe(INVALID);
      expect((await exchange(server, again.browser, { code, code_verifier: VERIFIER })).text).toBe(
        INVALID,
      );
    }
    const without = await signIn('ada', '?return_to=/welcome');
    const added = { code: codeOf(without.response), code_verifier: VERIFIER };
    expect((await exchange(server, without.browser, added)).text).toBe(INVALID);
    for (const bad of ['short', `${CHALLENGE}=`, `${CHALLENGE}&code_challenge=${CHALLENGE}`])
      expect((await server.call('GET', `/api/oauth/acme?code_challenge=${bad}`)).status, bad).toBe(
        400,
      );
  });

  it('a page asks for the address of the provider with POST, which require_api_key needs', async () => {
    const own = await start({ auth: { requireApiKey: true } });
    const wish = { return_to: '/welcome', code_challenge: CHALLENGE };
    const ask = (headers = {}, body: object = wish) =>
      own.call('POST', '/api/oauth/acme', body, headers);
    expect((await ask()).text).toBe('{"error":"API key required"}');
    expect((await own.call('GET', '/api/oauth/acme')).text).toBe('{"error":"API key required"}');
    expect((await ask(asRoot, { return_to: '//evil.test' })).text).toBe(
      '{"error":"Invalid redirect"}',
    );
    const { status, body, headers } = await ask(asRoot);
    expect([status, Object.keys(body)]).toEqual([200, ['url']]);
    const browser = openBrowser();
    const [name, value] = headers.getSetCookie()[0]!.split(';')[0]!.split('=');
    browser.cookies.set(`${own.url} ${name}`, value!);
    const back = await signInAt(browser, body.url, REDIRECT, 'ada');
    const response = await browser.visit(`${own.url}/api/oauth/acme/callback${back.search}`);
    const given = { code: codeOf(response), code_verifier: VERIFIER };
    expect((await exchange(own, browser, given)).text).toBe('{"error":"API key required"}');
    const login = await exchange(own, browser, given, asRoot);
    expect([login.status, login.body.email]).toEqual([200, 'Ada@x.test']);
    const { refreshToken } = login.body;
    const refresh = (more = {}) => own.call('POST', '/api/auth/refresh', { refreshToken }, more);
    expect((await refresh()).text).toBe('{"error":"API key required"}');
    expect((await refresh(asRoot)).status).toBe(200);
    await own.close();
  });

  it('somebody who cancels is refused, and the cookie is gone', async () => {
    const { status, text, browser } = await signIn(null);
    expect([status, text]).toEqual([401, '{"error":"OAuth access denied"}']);
    expect(
      [...browser.cookies.keys()].filter((name) => name.startsWith(`${server.url} oauth_`)),
    ).toEqual([]);
    expect(await server.events('oauth.refused')).toHaveLength(1);
  });

  it('a callback works once, in the browser that began it, with its own state', async () => {
    const { back, browser } = await signIn('ada');
    const again = await browser.visit(`${server.url}/api/oauth/acme/callback${back.search}`);
    expect([again.status, await again.text()]).toEqual([400, '{"error":"Invalid OAuth state"}']);
    const other = await openBrowser().visit(`${server.url}/api/oauth/acme/callback${back.search}`);
    expect(other.status).toBe(400);
  });

  it('the cookie replayed does not make a used state new', async () => {
    const browser = openBrowser();
    const begin = await browser.visit(`${server.url}/api/oauth/acme`);
    const kept = new Map(browser.cookies);
    const back = await signInAt(browser, begin.headers.get('location')!, REDIRECT, 'ada');
    const visit = async () =>
      (await browser.visit(`${server.url}/api/oauth/acme/callback${back.search}`)).status;
    expect(await visit()).toBe(200);
    for (const [name, value] of kept) browser.cookies.set(name, value);
    expect(await visit()).toBe(400);
  });

  it('two tabs do not disturb each other', async () => {
    const browser = openBrowser();
    const begins = [
      await browser.visit(`${server.url}/api/oauth/acme`),
      await browser.visit(`${server.url}/api/oauth/acme`),
    ];
    for (const begin of begins) {
      const back = await signInAt(browser, begin.headers.get('location')!, REDIRECT, 'ada');
      expect(
        (await browser.visit(`${server.url}/api/oauth/acme/callback${back.search}`)).status,
      ).toBe(200);
    }
    for (let index = 0; index < 8; index += 1) await browser.visit(`${server.url}/api/oauth/acme`);
    expect([...browser.cookies.keys()].filter((name) => name.includes('oauth_'))).toHaveLength(5);
  });

  it('a code of another browser is of no use: PKCE', async () => {
    const victim = openBrowser();
    const begun = await victim.visit(`${server.url}/api/oauth/acme`);
    const stolen = await signInAt(victim, begun.headers.get('location')!, REDIRECT, 'ada');
    const attacker = openBrowser();
    const own = await attacker.visit(`${server.url}/api/oauth/acme`);
    const state = new URL(own.headers.get('location')!).searchParams.get('state');
    const answer = await attacker.visit(
      `${server.url}/api/oauth/acme/callback?state=${state}&code=${stolen.searchParams.get('code')}&iss=${encodeURIComponent(openid.issuer)}`,
    );
    expect([answer.status, await answer.text()]).toEqual([502, '{"error":"OAuth provider error"}']);
  });

  it('a wrong or missing issuer in the answer is a mix-up (RFC 9207)', async () => {
    for (const iss of ['https://evil.test', null]) {
      const browser = openBrowser();
      const begin = await browser.visit(`${server.url}/api/oauth/acme`);
      const back = await signInAt(browser, begin.headers.get('location')!, REDIRECT, 'ada');
      if (iss) back.searchParams.set('iss', iss);
      else back.searchParams.delete('iss');
      const answer = await browser.visit(`${server.url}/api/oauth/acme/callback${back.search}`);
      expect([answer.status, await answer.text()]).toEqual([
        400,
        '{"error":"Invalid OAuth issuer"}',
      ]);
    }
  });

  it('an account that exists is linked when the provider proved its address', async () => {
    const bob = await server.register('bob@x.test');
    expect((await signIn('bob')).text).toBe(
      '{"error":"Account exists; sign in to link this provider"}',
    );
    // The provider did not prove Bob's address, so that ours is proved does not help.
    await server.kernel.store.db
      .updateTable('auth_users')
      .set({ email_verified_at: 1, verified_email: 'bob@x.test' })
      .where('user_id', '=', bob.body.id)
      .execute();
    expect((await signIn('bob')).status).toBe(409);
    // The classic: an attacker registered the address first and never proved it.
    const { body } = await server.register('carol@x.test');
    const linked = await signIn('carol');
    expect((await server.login('carol@x.test')).status).toBe(401);
    expect([linked.status, linked.body.id]).toEqual([200, body.id]);
    expect(
      (await server.events('oauth.linked')).filter(({ user_id }) => user_id === body.id),
    ).toHaveLength(1);
  });

  it('with linking: never it is always 409', async () => {
    const own = await start({ auth: { oauth: { linking: 'never' } } });
    const { body } = await own.register('carol@x.test');
    await own.kernel.store.db
      .updateTable('auth_users')
      .set({ email_verified_at: 1, verified_email: 'carol@x.test' })
      .where('user_id', '=', body.id)
      .execute();
    expect((await signIn('carol', '', own)).status).toBe(409);
    await own.close();
  });

  it('a signed-in user links a provider by a ticket, and unlinks it', async () => {
    const own = await start();
    const { body } = await own.register('dave@x.test');
    const begin = (token: string) => beginLink(own, token);
    const { query, cookie } = await begin(body.accessToken);
    expect(query).toMatch(/^\?link=[\w-]{43}$/);
    expect(cookie).toMatch(/^oauth_link=[\w-]{22}; Max-Age=60; Path=\/; HttpOnly; SameSite=Lax$/);
    const linked = await signIn('ada', query, own, cookie);
    expect([linked.status, linked.text]).toEqual([200, '{"message":"Provider linked"}']);
    expect((await signIn('ada', '', own)).body.id).toBe(body.id);
    expect(
      (
        await own.call('GET', `/api/oauth/acme${query}`, undefined, {
          Cookie: cookie.split(';')[0]!,
        })
      ).status,
    ).toBe(400);
    const other = await own.register('eve@x.test');
    const taken = await begin(other.body.accessToken);
    expect((await signIn('ada', taken.query, own, taken.cookie)).text).toBe(
      '{"error":"Identity already linked"}',
    );
    const unlink = () =>
      own.call('DELETE', '/api/auth/identities/acme', undefined, bearer(body.accessToken));
    expect([(await unlink()).status, (await unlink()).status]).toEqual([204, 404]);
    expect(
      (await own.call('POST', '/api/auth/link', { provider: 'nope' }, bearer(body.accessToken)))
        .status,
    ).toBe(404);
    own.advance(6 * 60_000);
    expect(
      (await own.call('POST', '/api/auth/link', { provider: 'acme' }, bearer(body.accessToken)))
        .text,
    ).toBe('{"error":"Reauthentication required"}');
    await own.close();
  });

  it('a ticket to link works in the browser that asked for it, and is used up by any other', async () => {
    const own = await start();
    const { body } = await own.register('mallory@x.test');
    const start1 = (query: string, cookie?: string) =>
      own.call(
        'GET',
        `/api/oauth/acme${query}`,
        undefined,
        cookie ? { Cookie: cookie.split(';')[0]! } : {},
      );
    const sent = await beginLink(own, body.accessToken);
    // A link that Mallory sends to Ada would give Mallory's account Ada's identity.
    expect((await start1(sent.query)).text).toBe('{"error":"Invalid or expired token"}');
    expect((await start1(sent.query, sent.cookie)).status).toBe(400);
    const [one, two] = [
      await beginLink(own, body.accessToken),
      await beginLink(own, body.accessToken),
    ];
    expect((await start1(two.query, one.cookie)).status).toBe(400);
    const good = await beginLink(own, body.accessToken);
    expect((await start1(good.query, good.cookie)).status).toBe(302);
    await own.close();
  });

  it('five callbacks of one new person at once make one user', async () => {
    const own = await start();
    const answers = await Promise.all(Array.from({ length: 5 }, () => signIn('carol', '', own)));
    expect(answers.map(({ status }) => status)).toEqual(Array(5).fill(200));
    expect(new Set(answers.map(({ body }) => body.id)).size).toBe(1);
    expect(await own.rows('users')).toHaveLength(1);
    await own.close();
  });

  it('a disabled user does not come in this way', async () => {
    const own = await start();
    const { body } = await signIn('ada', '', own);
    await own.call('POST', `/api/auth/admin/users/${body.id}/disable`, undefined, asRoot);
    expect((await signIn('ada', '', own)).text).toBe('{"error":"Account disabled"}');
    await own.close();
  });

  it('providers that are not there are 404, by any name and method', async () => {
    for (const name of [
      'nope',
      'constructor',
      '__proto__',
      'defaults',
      'providers',
      'google',
      'hasOwnProperty',
    ]) {
      expect((await server.call('GET', `/api/oauth/${name}`)).text, name).toBe(
        '{"error":"OAuth provider not configured"}',
      );
      expect((await server.call('POST', `/api/oauth/${name}`, {})).status, name).toBe(404);
      expect(
        (await server.call('GET', `/api/oauth/${name}/callback?state=x&code=y`)).status,
        name,
      ).toBe(404);
    }
    expect((await server.call('GET', '/api/oauth/acme/anything')).status).toBe(404);
    for (const method of ['DELETE', 'PUT'])
      expect((await server.call(method, '/api/oauth/acme')).status).toBeGreaterThanOrEqual(404);
  });
});

/** What a page gets that asks for a ticket. */
async function beginLink(
  server: TestServer,
  token: string,
): Promise<{ readonly query: string; readonly cookie: string }> {
  const { body, headers } = await server.call(
    'POST',
    '/api/auth/link',
    { provider: 'acme' },
    bearer(token),
  );
  return {
    query: (body.url as string).replace('/api/oauth/acme', ''),
    cookie: headers.getSetCookie().find((line) => line.startsWith('oauth_link='))!,
  };
}

describe('§2.11 where a flow may end', () => {
  const ORIGINS = ['https://app.test'];
  for (const bad of [
    '//evil.test',
    '/\\evil.test',
    '\\evil.test',
    'https://evil.test',
    'https://app.test.evil.test',
    'https://app.test@evil.test/',
    'javascript:alert(1)',
    '/\t/evil.test',
    '/a\r\nSet-Cookie: x',
    'http://app.test/',
    'https:evil.test',
    '/a\\..\\b',
    'evil.test',
    'https://user@app.test/',
  ]) {
    it(`${JSON.stringify(bad)} is refused`, () => {
      expect(() => checkReturnTo(bad, ORIGINS)).toThrow('Invalid redirect');
    });
  }
  it('paths and listed origins are taken, and a code is added in front of a fragment', () => {
    expect(checkReturnTo('/a/b?c=d#e', ORIGINS)).toBe('/a/b?c=d#e');
    expect(checkReturnTo('https://app.test/x', ORIGINS)).toBe('https://app.test/x');
    expect(checkReturnTo(undefined, ORIGINS)).toBeNull();
    expect(withParameter('/a?b=c#d#e', 'code', 'x y')).toBe('/a?b=c&code=x%20y#d#e');
  });
});
