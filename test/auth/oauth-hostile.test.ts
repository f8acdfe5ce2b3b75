import {
  createHash,
  createHmac,
  generateKeyPairSync,
  randomBytes,
  type webcrypto,
} from 'node:crypto';
import { decodeJwt, exportJWK, generateKeyPair, SignJWT } from 'jose';
import jwt from 'jsonwebtoken';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { createIdTokens } from '../../runtime/auth/oauth/id-token.ts';
import type { Provider } from '../../runtime/auth/oauth/providers.ts';
import { openBrowser } from './browser.ts';
import { describeEachDatabase, startServer, type TestServer, USER } from './harness.ts';
import { honest, type HostileProvider, json, startHostile, STRANGER } from './hostile-provider.ts';

const BASE = 'http://127.0.0.1:1/api/oauth';
const credentials = (name: string) => ({
  [`${name}_CLIENT_ID`]: 'shop',
  [`${name}_CLIENT_SECRET`]: 'hush',
  [`${name}_REDIRECT_URL`]: `${BASE}/${name.toLowerCase()}/callback`,
});

const SIGNATURES = ['RS512', 'PS256', 'ES384', 'ES512', 'EdDSA', 'Ed25519'];

describeEachDatabase('§2.11 a hostile provider', (database) => {
  let provider: HostileProvider;
  let server: TestServer;
  beforeEach(async () => {
    provider = await startHostile();
    const urls = {
      authorize_url: `${provider.issuer}/authorize`,
      access_url: `${provider.issuer}/token`,
      profile_url: `${provider.issuer}/userinfo`,
    };
    server = await startServer({
      database,
      entity: USER,
      env: {
        ...credentials('GOOGLE'),
        ...credentials('GITHUB'),
        ...credentials('FACEBOOK'),
        ...credentials('PLAIN'),
      },
      auth: {
        oauth: {
          providers: [
            {
              name: 'google',
              preset: 'google',
              options: { issuer: provider.issuer, id_token: true },
            },
            { name: 'github', preset: 'github', options: urls },
            { name: 'facebook', preset: 'facebook', options: urls },
            {
              name: 'plain',
              preset: 'oauth2',
              options: {
                ...urls,
                subject: 'data.user.uid',
                email: 'data.mail',
                email_verified: 'data.ok',
                name: 'data.title',
                avatar: 'data.image',
              },
            },
          ],
        },
      },
    });
  });
  afterEach(async () => {
    await server.close();
    await provider.close();
  });

  const flow = async (name = 'google', more = '', callbackName = name) => {
    const browser = openBrowser();
    const begin = await browser.visit(`${server.url}/api/oauth/${name}`);
    const query = new URL(begin.headers.get('location')!).searchParams;
    provider.nonce = query.get('nonce') ?? '';
    const response = await browser.visit(
      `${server.url}/api/oauth/${callbackName}/callback?code=c&state=${query.get('state')}${more}`,
    );
    const text = await response.text();
    return { status: response.status, text, body: JSON.parse(text), query };
  };
  const none = async () => expect(await server.rows('auth_identities')).toEqual([]);

  it('is believed when it is honest, and PKCE and the nonce are really sent', async () => {
    const { status, body } = await flow();
    expect([status, body.email]).toEqual([200, 'hostile@x.test']);
    const form = provider.forms[0]!;
    expect(form.get('code_verifier')!.length).toBeGreaterThanOrEqual(43);
    expect(form.get('redirect_uri')).toBe(`${BASE}/google/callback`);
  });

  const now = () => Math.floor(Date.now() / 1000);
  const unsigned = (claims: object) =>
    `${Buffer.from('{"alg":"none"}').toString('base64url')}.${Buffer.from(JSON.stringify(claims)).toString('base64url')}.`;
  const withToken = (make: () => string) => () =>
    void (provider.answer = (_, __, response) =>
      json(response, { access_token: 'at', id_token: make() }));
  const lies: Record<string, () => void> = {
    'is not signed (alg none)': withToken(() =>
      unsigned({
        iss: provider.issuer,
        aud: 'shop',
        sub: 'x',
        nonce: provider.nonce,
        exp: now() + 300,
      }),
    ),
    'is signed by a stranger': withToken(() => provider.idToken(STRANGER)),
    'is signed with the client secret (HS256)': withToken(() => provider.idToken('hush', 'HS256')),
    'is signed with the public key as an HMAC secret': withToken(() => {
      const [header, payload] = [
        Buffer.from('{"alg":"HS256","kid":"one"}').toString('base64url'),
        provider.idToken().split('.')[1],
      ];
      return `${header}.${payload}.${createHmac('sha256', 'public').update(`${header}.${payload}`).digest('base64url')}`;
    }),
    'uses RS512, which the provider does not announce': withToken(() =>
      provider.idToken(provider.privateKey, 'RS512'),
    ),
    'is for another client': () => void (provider.claims = { aud: 'another' }),
    'is for several and authorised for another': () =>
      void (provider.claims = { aud: ['shop', 'another'], azp: 'another' }),
    'is for several and says for none': () => void (provider.claims = { aud: ['shop', 'another'] }),
    'is of another issuer': () => void (provider.claims = { iss: 'https://evil.test' }),
    'has another nonce': () => void (provider.claims = { nonce: 'other' }),
    'has no nonce': () => void (provider.claims = { nonce: undefined }),
    'expired two minutes ago': () => void (provider.claims = { exp: now() - 120 }),
    'has no expiry': () => void (provider.claims = { exp: undefined }),
    'comes from the future': () => void (provider.claims = { iat: now() + 3600 }),
    'has no subject': () => void (provider.claims = { sub: undefined }),
    'has an unknown key id': withToken(() =>
      jwt.sign(decodeJwt(provider.idToken()), provider.privateKey, {
        algorithm: 'RS256',
        keyid: 'two',
      }),
    ),
  };
  for (const [name, lie] of Object.entries(lies)) {
    it(`an id token that ${name} is refused`, async () => {
      lie();
      const { status, text } = await flow();
      expect([status, text]).toEqual([401, '{"error":"OAuth identity could not be verified"}']);
      expect(provider.requests).toContain('/token');
      await none();
    });
  }

  it('our own check wants a nonce too', async () => {
    const idTokens = createIdTokens(Date.now);
    const own = {
      clientId: 'shop',
      oidc: {
        issuer: provider.issuer,
        jwksUrl: `${provider.issuer}/jwks`,
        issuerInResponse: false,
      },
    } as Provider;
    provider.nonce = 'right';
    await expect(idTokens.verify(own, provider.idToken(), 'right')).resolves.toMatchObject({
      sub: 'sub-1',
    });
    for (const nonce of ['wrong', undefined, ''])
      await expect(idTokens.verify(own, provider.idToken(), nonce)).rejects.toThrow(
        'OAuth identity could not be verified',
      );
  });

  it('no email at all makes no user', async () => {
    provider.claims = { email: undefined };
    provider.userinfo = { sub: 'sub-1' };
    expect((await flow()).text).toBe('{"error":"OAuth identity could not be verified"}');
    await none();
  });

  it('userinfo of another subject than the id token is refused, of the same is taken', async () => {
    provider.claims = { email: undefined, email_verified: undefined };
    provider.userinfo = { sub: 'somebody else', email: 'victim@x.test', email_verified: true };
    expect((await flow()).status).toBe(401);
    provider.userinfo = { sub: 'sub-1', email: 'right@x.test', email_verified: true };
    expect((await flow()).body.email).toBe('right@x.test');
  });

  it('a key that was rotated is read once more, and the set is kept otherwise', async () => {
    await flow();
    await flow();
    expect(provider.requests.filter((path) => path === '/jwks')).toHaveLength(1);
    provider.kid = 'two';
    expect((await flow()).status).toBe(200);
    expect(provider.requests.filter((path) => path === '/jwks')).toHaveLength(2);
  });

  it('unknown key ids do not make the server read the set again and again', async () => {
    await flow();
    const reads = () => provider.requests.filter((path) => path === '/jwks').length;
    for (let turn = 0; turn < 8; turn += 1) {
      provider.answer = (own, _, response) =>
        json(response, {
          access_token: 'at',
          id_token: jwt.sign(decodeJwt(own.idToken()), own.privateKey, {
            algorithm: 'RS256',
            keyid: `made up ${turn}`,
          }),
        });
      expect((await flow()).status).toBe(401);
    }
    expect(reads()).toBe(2);
    provider.answer = honest;
    provider.kid = 'new';
    expect((await flow()).status).toBe(401);
    server.advance(31_000);
    provider.claims = { exp: now() + 300, iat: now() };
    expect([(await flow()).status, reads()]).toEqual([200, 3]);
  });

  it.each(SIGNATURES)('an id token signed with %s is taken when it is announced', async (name) => {
    const { publicKey, privateKey } = await generateKeyPair(name);
    provider.algorithms = ['RS256', 'HS256', 'none', name];
    provider.jwks = { keys: [{ ...(await exportJWK(publicKey)), kid: 'one', use: 'sig' }] };
    const sign = async (algorithm: string, key: webcrypto.CryptoKey | Uint8Array) =>
      new SignJWT(decodeJwt(provider.idToken()))
        .setProtectedHeader({ alg: algorithm, kid: 'one' })
        .sign(key);
    const answerWith = (algorithm: string, key: webcrypto.CryptoKey | Uint8Array) => {
      provider.answer = async (_, __, response) =>
        json(response, { access_token: 'at', id_token: await sign(algorithm, key) });
    };
    answerWith('HS256', new TextEncoder().encode('hush, and long enough to be a secret'));
    expect((await flow()).status).toBe(401);
    answerWith(name, privateKey);
    expect((await flow()).body.email).toBe('hostile@x.test');
  });

  it('a key of another kind than the algorithm is no key', async () => {
    provider.jwks = {
      keys: [
        {
          ...generateKeyPairSync('ec', { namedCurve: 'P-256' }).publicKey.export({ format: 'jwk' }),
          kid: 'one',
        },
      ],
    };
    expect((await flow()).status).toBe(401);
  });

  const faults: Record<string, HostileProvider['answer']> = {
    'without any token': (_, __, response) => json(response, {}),
    'with an access token alone': (_, __, response) => json(response, { access_token: 'at' }),
    'that is an error': (_, __, response) =>
      json(response, { error: 'invalid_grant', error_description: 'hush' }, 400),
    'of 500': (_, __, response) => response.writeHead(500).end('broken'),
    'that redirects': (own, __, response) =>
      response.writeHead(302, { Location: `${own.issuer}/elsewhere` }).end(),
    'that is no JSON': (_, __, response) =>
      response.writeHead(200, { 'Content-Type': 'application/json' }).end('<html>'),
    'that breaks off': (_, __, response) => response.destroy(),
  };
  for (const [name, answer] of Object.entries(faults)) {
    it(`a token answer ${name} is 502`, async () => {
      provider.answer = answer;
      expect((await flow()).text).toBe('{"error":"OAuth provider error"}');
      expect(provider.requests).not.toContain('/elsewhere');
      expect(server.logs.join()).not.toContain('hush,');
      await none();
    });
  }

  it('a provider that hangs is left after five seconds', async () => {
    provider.answer = () => {};
    const begun = Date.now();
    expect((await flow()).status).toBe(502);
    expect(Date.now() - begun).toBeLessThan(8000);
  });

  it('a provider that drips is left after five seconds', async () => {
    provider.answer = (_, __, response) => {
      response.writeHead(200, { 'Content-Type': 'application/json' });
      const timer = setInterval(() => response.write(' '), 200);
      response.on('close', () => clearInterval(timer));
    };
    const begun = Date.now();
    expect((await flow()).status).toBe(502);
    expect(Date.now() - begun).toBeLessThan(8000);
  });

  it('an answer without end does not fill the memory', async () => {
    let written = 0;
    provider.answer = (_, __, response) => {
      response.writeHead(200, { 'Content-Type': 'application/json' });
      const block = Buffer.alloc(1 << 20, 32);
      const pump = () => {
        while (!response.destroyed && written < 500 << 20) {
          written += block.length;
          if (!response.write(block)) return void response.once('drain', pump);
        }
      };
      pump();
    };
    const before = process.memoryUsage().rss;
    expect((await flow()).status).toBe(502);
    expect(written).toBeLessThan(400 << 20);
    expect(process.memoryUsage().rss - before).toBeLessThan(400 << 20);
  });

  it('a profile of 100 KiB is too much', async () => {
    provider.answer = (_, __, response) => json(response, { access_token: 'at' });
    provider.userinfo = { data: { user: { uid: 7 }, pad: 'x'.repeat(100_000) } };
    expect((await flow('plain')).status).toBe(502);
  });

  it('a flow begun for one provider does not end at another', async () => {
    expect((await flow('google', '', 'github')).text).toBe('{"error":"Invalid OAuth state"}');
    await none();
  });

  it('errors of the provider are told as ours, and never echoed', async () => {
    const { text, status } = await flow(
      'google',
      '&error=server_error&error_description=%3Cscript%3E%0Aevil',
    );
    expect([status, text]).toEqual([502, '{"error":"OAuth provider error"}']);
    expect(server.logs.join()).toContain('<script> evil');
  });

  it('GitHub: the primary verified address, the id as text', async () => {
    provider.answer = (_, __, response) => json(response, { access_token: 'at' });
    provider.userinfo = {
      id: 4711,
      login: 'octo',
      name: 'Octo Cat',
      email: 'public@x.test',
      avatar_url: 'https://a.test/o.png',
    };
    provider.emails = [
      { email: 'old@x.test', primary: false, verified: true },
      { email: 'octo@x.test', primary: true, verified: true },
    ];
    const { body } = await flow('github');
    expect(body).toMatchObject({
      email: 'octo@x.test',
      first_name: 'Octo',
      last_name: 'Cat',
      avatar_url: 'https://a.test/o.png',
    });
    expect((await server.rows('auth_identities'))[0]).toMatchObject({
      subject: '4711',
      email_verified: 1,
    });
    provider.userinfo = { id: 4712, email: 'second@x.test' };
    provider.emails = [{ email: 'second@x.test', primary: true, verified: false }];
    expect((await flow('github')).status).toBe(200);
    expect(
      (await server.rows('auth_identities')).find(({ subject }) => subject === '4712'),
    ).toMatchObject({ email_verified: 0 });
  });

  it('Facebook: an address never counts as proved', async () => {
    provider.answer = (_, __, response) => json(response, { access_token: 'at' });
    provider.userinfo = {
      id: '99',
      name: 'F B',
      email: 'fb@x.test',
      email_verified: true,
      picture: { data: { url: 'https://p.test/1' } },
    };
    expect((await flow('facebook')).body).toMatchObject({
      email: 'fb@x.test',
      avatar_url: 'https://p.test/1',
    });
    expect((await server.rows('auth_identities'))[0]).toMatchObject({ email_verified: 0 });
  });

  it('any other provider by paths into its answer', async () => {
    provider.answer = (_, __, response) => json(response, { access_token: 'at' });
    provider.userinfo = {
      data: {
        user: { uid: 'u-1' },
        mail: 'plain@x.test',
        ok: true,
        title: 'Plain Jane',
        image: 'javascript:alert(1)',
      },
    };
    expect((await flow('plain')).body).toMatchObject({
      email: 'plain@x.test',
      first_name: 'Plain',
      avatar_url: '',
    });
    expect((await server.rows('auth_identities'))[0]).toMatchObject({
      provider: 'plain',
      subject: 'u-1',
      email_verified: 1,
    });
    provider.userinfo = { data: { user: {}, mail: 'x@x.test' } };
    expect((await flow('plain')).status).toBe(401);
  });

  it('an id token that a page got by itself signs in once, with the nonce that it hides', async () => {
    const nonce = randomBytes(16).toString('hex');
    provider.nonce = createHash('sha256').update(nonce).digest('hex');
    const idToken = provider.idToken();
    const post = (name: string, body: object) =>
      server.call('POST', `/api/oauth/${name}/callback`, body);
    // Whoever has the token alone knows the hash only.
    for (const wrong of [provider.nonce, `${nonce}x`])
      expect((await post('google', { idToken, nonce: wrong })).text).toBe(
        '{"error":"OAuth identity could not be verified"}',
      );
    expect((await post('google', { idToken: provider.idToken(STRANGER), nonce })).status).toBe(401);
    expect(
      (
        await post('google', {
          idToken: unsigned({
            iss: provider.issuer,
            aud: 'shop',
            sub: 'x',
            nonce: provider.nonce,
            exp: now() + 300,
          }),
          nonce,
        })
      ).status,
    ).toBe(401);
    expect((await post('google', { idToken })).text).toBe('{"error":"nonce is required"}');
    expect((await post('google', { idToken, nonce: 'short' })).status).toBe(400);
    await none();
    const answers = await Promise.all(
      Array.from({ length: 5 }, () => post('google', { idToken, nonce })),
    );
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 400, 400, 400, 400]);
    expect(answers.find(({ status }) => status === 200)!.body).toMatchObject({
      email: 'hostile@x.test',
      accessToken: expect.any(String),
    });
    expect((await post('google', { idToken, nonce })).text).toBe('{"error":"Invalid OAuth state"}');
    // Off by default, and for providers that have no id tokens.
    for (const name of ['github', 'plain', 'nope', 'constructor'])
      expect((await post(name, { idToken, nonce })).text, name).toBe(
        '{"error":"OAuth provider not configured"}',
      );
    const own = await startServer({
      database,
      env: credentials('GOOGLE'),
      auth: {
        oauth: {
          providers: [{ name: 'google', preset: 'google', options: { issuer: provider.issuer } }],
        },
      },
    });
    expect((await own.call('POST', '/api/oauth/google/callback', { idToken, nonce })).status).toBe(
      404,
    );
    await own.close();
  });

  it('an issuer that describes another one is not used', async () => {
    const other = await startHostile();
    const own = await startServer({
      database,
      env: credentials('GOOGLE'),
      auth: {
        oauth: {
          providers: [
            { name: 'google', preset: 'google', options: { issuer: `${other.issuer}/` } },
          ],
        },
      },
    });
    expect((await own.call('GET', '/api/oauth/google')).status).toBe(502);
    await own.close();
    await other.close();
  });

  it('no provider token is stored', async () => {
    provider.answer = honest;
    await flow();
    for (const table of [
      'auth_identities',
      'auth_sessions',
      'auth_security_events',
      'auth_one_time_tokens',
      'auth_oauth_used_states',
    ])
      expect(JSON.stringify(await server.rows(table))).not.toContain('"at"');
  });
});
