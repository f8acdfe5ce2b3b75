import { createHmac, createSecretKey, generateKeyPairSync, randomBytes } from 'node:crypto';
import { SignJWT } from 'jose';
import jwt from 'jsonwebtoken';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { accessTokens, hostTokens } from '../../runtime/auth/sessions/access-token.ts';
import { createKeys } from '../../runtime/auth/secrets/keys.ts';
import {
  API_KEY,
  asRoot,
  bearer,
  describeEachDatabase,
  GOOD,
  raw,
  SECRET,
  startServer,
  type TestServer,
  USER,
} from './harness.ts';

const part = (value: unknown) =>
  Buffer.from(typeof value === 'string' ? value : JSON.stringify(value)).toString('base64url');
const signed = (header: unknown, payload: unknown, secret = SECRET) => {
  const text = `${part(header)}.${part(payload)}`;
  return `${text}.${createHmac('sha256', secret).update(text).digest('base64url')}`;
};
const HS256 = { alg: 'HS256', typ: 'JWT' };

describeEachDatabase('§2.2 the bearer token', (database) => {
  let server: TestServer;
  let token: string;
  let claims: Record<string, unknown>;
  const me = (authorization: string) =>
    server.call('GET', '/api/auth/me', undefined, { Authorization: authorization });
  beforeAll(async () => {
    server = await startServer({ database, entity: USER });
    token = (await server.register('tokens@x.test')).body.accessToken;
    claims = JSON.parse(Buffer.from(token.split('.')[1]!, 'base64url').toString());
  });
  afterAll(() => server.close());

  it('is taken in any case of the word Bearer', async () => {
    expect((await me(`bearer ${token}`)).status).toBe(200);
    expect((await me(`BEARER ${token}`)).status).toBe(200);
  });

  it('two Authorization headers, or more than one space, are 401', async () => {
    for (const header of [
      `Bearer  ${token}`,
      `Bearer\t${token}`,
      `Bearer ${token} x`,
      `Bearer ${token}, Bearer ${token}`,
      `Bearer${token}`,
      token,
    ])
      expect([header.slice(0, 10), (await me(header)).status]).toEqual([header.slice(0, 10), 401]);
    // fetch joins headers of one name; a socket does not.
    for (const [first, second] of [
      [token, token],
      [token, 'x'],
      ['x', token],
    ]) {
      const head = await raw(
        server.url,
        `GET /elsewhere HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${first}\r\nauthorization: Bearer ${second}\r\nConnection: close\r\n\r\n`,
      );
      expect(head).toMatch(/^HTTP\/1\.1 401 [^]*\{"error":"Unauthorized"\}$/);
    }
  });

  it('another scheme is 401 also where nobody has to sign in, and is not called an invalid token', async () => {
    for (const header of ['Basic dXNlcjpwYXNz', 'Digest username="x"', 'x']) {
      const answer = await server.call('GET', '/elsewhere', undefined, { Authorization: header });
      expect([answer.status, answer.text, answer.headers.get('www-authenticate')]).toEqual([
        401,
        '{"error":"Unauthorized"}',
        'Bearer realm="api"',
      ]);
    }
    expect((await server.call('GET', '/elsewhere')).status).toBe(404);
    // What many clients send of somebody who is not signed in.
    expect(
      (await server.call('GET', '/elsewhere', undefined, { Authorization: '', 'X-API-Key': '' }))
        .status,
    ).toBe(404);
  });

  it('beside an API key: both have to be good, and the user is who calls', async () => {
    const both = (authorization: string, key: string, path = '/api/auth/me', method = 'GET') =>
      server.call(method, path, undefined, { Authorization: authorization, 'X-API-Key': key });
    const user = (await server.login('tokens@x.test')).body;
    expect((await both(`Bearer ${user.accessToken}`, API_KEY)).body.id).toBe(user.id);
    expect((await both(`Bearer ${user.accessToken}`, 'a wrong key')).text).toBe(
      '{"error":"Invalid API key"}',
    );
    expect((await both('Bearer nonsense', API_KEY, '/elsewhere')).text).toBe(
      '{"error":"Unauthorized"}',
    );
    // Routes of a session are the user's, those of management the key's.
    expect((await both(`Bearer ${user.accessToken}`, API_KEY, '/api/auth/sessions')).status).toBe(
      200,
    );
    expect(
      (await both(`Bearer ${user.accessToken}`, API_KEY, `/api/auth/admin/users/${user.id}`))
        .status,
    ).toBe(200);
    expect(
      (await both(`Bearer ${user.accessToken}`, 'x', `/api/auth/admin/users/${user.id}`)).status,
    ).toBe(401);
    const other = (await server.register()).body;
    const { key } = (
      await server.call(
        'POST',
        '/api/auth/admin/api-keys',
        { name: 'k', scopes: ['users:read'], user_id: other.id },
        asRoot,
      )
    ).body;
    expect((await both(`Bearer ${user.accessToken}`, key)).text).toBe('{"error":"Unauthorized"}');
    expect((await both(`Bearer ${other.accessToken}`, key)).body.id).toBe(other.id);
  });

  it('is never read from the query', async () => {
    for (const name of ['access_token', 'token', 'api_key', 'apiKey'])
      expect(
        (
          await server.call(
            'GET',
            `/api/auth/me?${name}=${name.startsWith('api') ? API_KEY : token}`,
          )
        ).status,
        name,
      ).toBe(401);
    expect((await server.call('GET', `/api/auth/admin/roles?api_key=${API_KEY}`)).text).toBe(
      '{"error":"API key required"}',
    );
  });

  it('says in WWW-Authenticate whether a token was there', async () => {
    const [none, bad] = [await server.call('GET', '/api/auth/me'), await me('Bearer nonsense')];
    expect([none.status, none.text, none.headers.get('www-authenticate')]).toEqual([
      401,
      '{"error":"Unauthorized"}',
      'Bearer realm="api"',
    ]);
    expect([bad.status, bad.text, bad.headers.get('www-authenticate')]).toEqual([
      401,
      '{"error":"Unauthorized"}',
      'Bearer realm="api", error="invalid_token"',
    ]);
  });

  const now = () => Math.floor(Date.now() / 1000);
  const forgeries: Record<string, () => string> = {
    'without a signature (alg none)': () => `${part({ alg: 'none', typ: 'JWT' })}.${part(claims)}.`,
    'alg none with our signature length': () =>
      `${part({ alg: 'none', typ: 'JWT' })}.${part(claims)}.${token.split('.')[2]}`,
    'signed with another secret': () =>
      signed(HS256, claims, 'another secret that is long enough to be one'),
    'of another payload under the old signature': () =>
      `${token.split('.')[0]}.${part({ ...claims, user_id: 2 })}.${token.split('.')[2]}`,
    'with a payload that is null': () => signed(HS256, 'null'),
    'with a payload that is no JSON': () => signed(HS256, '{"user_id":'),
    'with a payload that is an array': () => signed(HS256, [claims]),
    'with a payload that is a string': () => signed(HS256, '"text"'),
    'without exp': () => signed(HS256, { ...claims, exp: undefined }),
    'with an exp of text': () => signed(HS256, { ...claims, exp: String(claims['exp']) }),
    'with a fractional exp': () => signed(HS256, { ...claims, exp: now() + 100.5 }),
    'that is expired': () => signed(HS256, { ...claims, exp: now() - 1 }),
    'from the future': () => signed(HS256, { ...claims, iat: now() + 3600 }),
    'with crit': () => signed({ ...HS256, crit: ['b64'], b64: false }, claims),
    'with an unknown crit': () => signed({ ...HS256, crit: ['exp2'] }, claims),
    'with user_id -1': () => signed(HS256, { ...claims, user_id: -1 }),
    'with user_id 1.5': () => signed(HS256, { ...claims, user_id: 1.5 }),
    'with user_id "1; drop"': () => signed(HS256, { ...claims, user_id: '1; drop table users' }),
    'of another user in the same session': () => signed(HS256, { ...claims, user_id: 999 }),
    'without sid': () => signed(HS256, { ...claims, sid: undefined }),
    'with an unknown sid': () => signed(HS256, { ...claims, sid: 'nope' }),
    'with a numeric jti': () => signed(HS256, { ...claims, jti: 7 }),
    'with a jti that no database takes': () => signed(HS256, { ...claims, jti: 'a\0b' }),
    'with an exp that no database takes': () => signed(HS256, { ...claims, exp: 1e300 }),
    'with an iat that no database takes': () => signed(HS256, { ...claims, iat: -1e300 }),
    'with a sid that no database takes': () => signed(HS256, { ...claims, sid: 'a\0b' }),
    'without extend': () => signed(HS256, { ...claims, extend: undefined }),
    'with HS384': () => jwt.sign(claims, SECRET, { algorithm: 'HS384' }),
    "with RS256 and a public key of one's own": () =>
      jwt.sign(claims, generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey, {
        algorithm: 'RS256',
      }),
    'longer than max_bytes': () => signed(HS256, { ...claims, extend: { pad: 'x'.repeat(9000) } }),
    'with padding at its end': () => `${token}=`,
    'with a line break in it': () => token.replace('.', '.\t'),
    'with its last character changed in the unused bits': () =>
      token.slice(0, -1) + String.fromCharCode(token.charCodeAt(token.length - 1) + 1),
  };
  for (const [name, forge] of Object.entries(forgeries)) {
    it(`is refused ${name}`, async () => {
      const answer = await me(`Bearer ${forge()}`);
      expect([answer.status, answer.text]).toEqual([401, '{"error":"Unauthorized"}']);
    });
  }

  it('is refused as 401 in every one of 1,000 malformed headers', async () => {
    const statuses = new Set<number>();
    const alphabet = 'Bearer .eyJ=-_/+:;,"\\{}[]()<>@~^`|%$#!?&*0aZ\t';
    for (let index = 0; index < 1000; index += 1) {
      const length = randomBytes(1)[0]! % 80;
      const text = [...randomBytes(length)]
        .map((byte) => alphabet[byte % alphabet.length])
        .join('');
      statuses.add((await me(index % 3 === 0 ? text : `Bearer ${text}`)).status);
    }
    expect([...statuses]).toEqual([401]);
  });

  it('stops working when the user is deleted, and on every other path', async () => {
    const { body } = await server.register('gone@x.test');
    await server.kernel.store.db.deleteFrom('users').where('id', '=', body.id).execute();
    expect((await me(`Bearer ${body.accessToken}`)).status).toBe(401);
    expect(await server.rows('auth_users')).not.toContainEqual(
      expect.objectContaining({ user_id: body.id }),
    );
    expect(
      (await server.call('GET', '/elsewhere', undefined, bearer(body.accessToken))).status,
    ).toBe(401);
    expect((await server.call('GET', '/elsewhere')).status).toBe(404);
  });

  it('is no obstacle on login when it is stale', async () => {
    expect((await server.login('tokens@x.test', GOOD, bearer('stale'))).status).toBe(200);
  });
});

describe('§2.2 keys and purposes', () => {
  const keys = createKeys(SECRET, ['the secret before this one, also long enough']);
  const options = {
    leeway: 0,
    issuer: null,
    audience: null,
    maxBytes: 8192,
    now: () => Date.now(),
  };
  const access = accessTokens({ ...options, sign: keys.sign, verify: keys.verify });
  const host = hostTokens({
    ...options,
    sign: keys.derived('host-token'),
    verify: keys.derivedAll('host-token'),
  });
  const seconds = () => Math.floor(Date.now() / 1000);
  const claims = () => ({
    user_id: 1,
    exp: seconds() + 60,
    extend: { user_id: 1 },
    iat: seconds(),
    jti: 'j',
    sid: 's',
  });

  it('a host token is no access token and the other way round', () => {
    const ofHost = {
      scope: 'host' as const,
      exp: seconds() + 60,
      iat: seconds(),
      jti: 'j',
      sid: 's',
    };
    const hosted = host.sign(ofHost);
    // By their claims, where both were signed with one key.
    const sameKey = hostTokens({ ...options, sign: keys.sign, verify: keys.verify });
    expect(access.verify(sameKey.sign(ofHost))).toBeNull();
    expect(sameKey.verify(access.sign(claims()))).toBeNull();
    // By their keys, where a token has the claims of both.
    const both = { ...claims(), ...ofHost };
    expect(host.verify(access.sign(both))).toBeNull();
    expect(access.verify(host.sign(both))).toBeNull();
    expect(host.verify(hosted)).not.toBeNull();
    expect(access.verify(hosted)).toBeNull();
    expect(host.verify(access.sign(claims()))).toBeNull();
  });

  it('a token of the secret before is verified and a new one is never signed with it', () => {
    const old = accessTokens({ ...options, sign: keys.verify[1]!, verify: [keys.verify[1]!] });
    expect(access.verify(old.sign(claims()))).not.toBeNull();
    expect(old.verify(access.sign(claims()))).toBeNull();
  });

  it('issuer and audience are demanded once they are configured', async () => {
    const strict = accessTokens({
      ...options,
      issuer: 'https://shop.test',
      audience: 'shop',
      sign: keys.sign,
      verify: keys.verify,
    });
    expect(strict.verify(strict.sign(claims()))).toMatchObject({
      user_id: 1,
      iss: 'https://shop.test',
      aud: 'shop',
    });
    expect(strict.verify(access.sign(claims()))).toBeNull();
    for (const other of [{ issuer: 'https://other.test' }, { audience: 'other' }]) {
      const named = { issuer: 'https://shop.test', audience: 'shop', ...other };
      const foreign = accessTokens({ ...options, ...named, sign: keys.sign, verify: keys.verify });
      expect(strict.verify(foreign.sign(claims()))).toBeNull();
    }
  });

  it('leeway is what the manifest says and no more', () => {
    let now = Date.now();
    const lenient = accessTokens({
      ...options,
      leeway: 30_000,
      now: () => now,
      sign: keys.sign,
      verify: keys.verify,
    });
    const token = lenient.sign(claims());
    now += 85_000;
    expect(lenient.verify(token)).not.toBeNull();
    now += 10_000;
    expect(lenient.verify(token)).toBeNull();
  });

  it('a token that jose makes with the same secret verifies', async () => {
    const token = await new SignJWT(claims())
      .setProtectedHeader({ alg: 'HS256', typ: 'JWT' })
      .sign(createSecretKey(Buffer.from(SECRET)));
    expect(access.verify(token)).toMatchObject({ user_id: 1 });
  });

  it('derived keys differ from the secret and from each other', () => {
    const purposes = [
      'refresh',
      'host-token',
      'oauth-flow',
      'identifier',
      'webhook-seal',
      'device',
    ] as const;
    const hex = [keys.sign, ...purposes.map((purpose) => keys.derived(purpose))].map((key) =>
      key.export().toString('hex'),
    );
    expect(new Set(hex).size).toBe(purposes.length + 1);
  });
});
