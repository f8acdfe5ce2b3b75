import {
  createHmac,
  createPublicKey,
  createSecretKey,
  generateKeyPairSync,
  verify,
} from 'node:crypto';
import jwt from 'jsonwebtoken';
import { describe, expect, it } from 'vitest';
import { accessTokens, openToken } from '../../runtime/auth/sessions/access-token.ts';
import {
  RFC_7515_A1,
  RFC_7515_A2,
  RFC_7515_A3,
  RFC_7520,
  UNSECURED,
  WYCHEPROOF_BASE64,
  WYCHEPROOF_HS256,
} from './jose-vectors.ts';
import { bearer, describeEachDatabase, SECRET, startServer } from './harness.ts';

const keyOf = (base64url: string) => createSecretKey(Buffer.from(base64url, 'base64url'));
const optionsWith = (key: ReturnType<typeof keyOf>, now = Date.now()) => ({
  verify: [key],
  leeway: 0,
  issuer: null,
  audience: null,
  maxBytes: 8192,
  now: () => now,
});
const text = (value: unknown) =>
  Buffer.from(typeof value === 'string' ? value : JSON.stringify(value)).toString('base64url');
const sign = (header: unknown, payload: unknown, secret: string | Buffer) =>
  `${text(header)}.${text(payload)}.${createHmac('sha256', secret)
    .update(`${text(header)}.${text(payload)}`)
    .digest('base64url')}`;

describe('§2.2 vectors of wycheproof', () => {
  for (const { key, vectors } of [WYCHEPROOF_HS256, WYCHEPROOF_BASE64]) {
    const options = optionsWith(keyOf(key));
    for (const { name, token, good } of vectors) {
      it(`${good ? 'the signature is right of' : 'refuses'} ${name}`, () => {
        expect(openToken(token, options) !== null).toBe(good);
        // None of them says what a token of ours says, so none of them is one.
        expect(accessTokens({ ...options, sign: options.verify[0]! }).verify(token)).toBeNull();
      });
    }
  }
});

describe('§2.2 vectors of the RFCs', () => {
  const key = keyOf(RFC_7515_A1.key);
  const before = optionsWith(key, (RFC_7515_A1.exp - 60) * 1000);

  it('RFC 7515 A.1 and RFC 7519 3.1: the token of joe is right until it expires', () => {
    expect(openToken(RFC_7515_A1.token, before)).toEqual({
      payload: { iss: 'joe', exp: RFC_7515_A1.exp, 'http://example.com/is_root': true },
    });
    expect(openToken(RFC_7515_A1.token, optionsWith(key, RFC_7515_A1.exp * 1000))).toBeNull();
    expect(openToken(RFC_7515_A1.token, optionsWith(key))).toBeNull();
    expect(openToken(RFC_7515_A1.token, optionsWith(key), true)).not.toBeNull();
    expect(openToken(RFC_7515_A1.token, { ...before, issuer: 'joe' })).not.toBeNull();
    expect(openToken(RFC_7515_A1.token, { ...before, issuer: 'ann' })).toBeNull();
    expect(openToken(RFC_7515_A1.token, { ...before, audience: 'shop' })).toBeNull();
  });

  it('RFC 7520 4.4: the signature over a text is right, and a text is no token of ours', () => {
    const options = optionsWith(keyOf(RFC_7520.key));
    expect(openToken(RFC_7520.token, options)).toEqual({
      payload: expect.stringMatching(/^It’s a dangerous business, Frodo/),
    });
    expect(
      accessTokens({ ...options, sign: options.verify[0]! }).verify(RFC_7520.token),
    ).toBeNull();
  });

  it('RFC 7515 A.2 and A.3: RS256 and ES256 are refused, right as they are', () => {
    for (const { key: jwk, token } of [RFC_7515_A2, RFC_7515_A3]) {
      const [header, payload, signature] = token.split('.') as [string, string, string];
      const publicKey = createPublicKey({ key: jwk, format: 'jwk' });
      expect(
        verify(
          'sha256',
          Buffer.from(`${header}.${payload}`),
          { key: publicKey, dsaEncoding: 'ieee-p1363' },
          Buffer.from(signature, 'base64url'),
        ),
      ).toBe(true);
      expect(openToken(token, { ...before, verify: [publicKey] })).toBeNull();
      expect(openToken(token, before)).toBeNull();
    }
  });

  it('RFC 7515 A.5 and RFC 7519 6.1: an unsecured token is refused', () => {
    expect(openToken(UNSECURED, before)).toBeNull();
  });
});

describeEachDatabase('§2.2 attacks of RFC 8725', (database) => {
  it('none of them gets past a server: 401 each, and the token itself 200', async () => {
    const server = await startServer({ database });
    const { accessToken } = (await server.register()).body;
    const claims = JSON.parse(
      Buffer.from(accessToken.split('.')[1], 'base64url').toString(),
    ) as Record<string, unknown>;
    const pair = generateKeyPairSync('rsa', { modulusLength: 2048 });
    const pem = pair.publicKey.export({ type: 'spki', format: 'pem' }) as string;
    const [, payload, signature] = accessToken.split('.') as [string, string, string];
    const none = ['none', 'None', 'NONE', 'nOnE', ''].map(
      (alg) =>
        [
          `2.1 alg ${alg || 'empty'}`,
          `${text({ alg, typ: 'JWT' })}.${payload}.${signature}`,
        ] as const,
    );
    const attacks = [
      ...none,
      ['2.1 no signature', `${text({ alg: 'none' })}.${payload}.`],
      ['2.1 no alg', sign({ typ: 'JWT' }, claims, SECRET)],
      ['2.1 alg twice, HS256 first', sign('{"alg":"HS256","alg":"none"}', claims, SECRET)],
      ["2.1 RS256 of one's own", jwt.sign(claims, pair.privateKey, { algorithm: 'RS256' })],
      [
        '2.1 HS256 with a public key as the secret',
        sign({ alg: 'HS256', typ: 'JWT' }, claims, pem),
      ],
      ['2.1 HS512 with the secret', jwt.sign(claims, SECRET, { algorithm: 'HS512' })],
      ['2.2 the empty secret', sign({ alg: 'HS256', typ: 'JWT' }, claims, '')],
      ['2.2 a guessed secret', sign({ alg: 'HS256', typ: 'JWT' }, claims, 'secret')],
      [
        '2.3 a signature of zeros (psychic)',
        `${text({ alg: 'ES256' })}.${payload}.${Buffer.alloc(64).toString('base64url')}`,
      ],
      [
        '2.3 our length in zeros',
        `${accessToken.slice(0, accessToken.lastIndexOf('.'))}.${Buffer.alloc(32).toString('base64url')}`,
      ],
      [
        '2.7 of another kind: scope host',
        sign(
          { alg: 'HS256', typ: 'JWT' },
          { ...claims, user_id: undefined, scope: 'host' },
          SECRET,
        ),
      ],
      [
        '2.9 a key in the header',
        jwt.sign(claims, pair.privateKey, {
          algorithm: 'RS256',
          header: { alg: 'RS256', jwk: pair.publicKey.export({ format: 'jwk' }) } as never,
        }),
      ],
      [
        '2.10 an address of keys in the header',
        jwt.sign(claims, pair.privateKey, {
          algorithm: 'RS256',
          header: {
            alg: 'RS256',
            jku: 'http://127.0.0.1:1/jwks',
            x5u: 'http://127.0.0.1:1/x',
          } as never,
        }),
      ],
      [
        '2.10 a kid that is a file',
        sign({ alg: 'HS256', typ: 'JWT', kid: '../../../../dev/null' }, claims, ''),
      ],
      [
        '2.10 a kid that is SQL',
        sign({ alg: 'HS256', typ: 'JWT', kid: "' union select 'x" }, claims, 'x'),
      ],
      [
        '3.10 an unknown critical header',
        sign({ alg: 'HS256', typ: 'JWT', crit: ['exp'] }, claims, SECRET),
      ],
      [
        '3.10 an unencoded payload (RFC 7797)',
        sign({ alg: 'HS256', typ: 'JWT', b64: false, crit: ['b64'] }, claims, SECRET),
      ],
      [
        'encrypted: five parts',
        `${text({ alg: 'dir', enc: 'A256GCM' })}..${payload}.${payload}.${signature}`,
      ],
      [
        'claims twice, the last one wins',
        sign(
          { alg: 'HS256', typ: 'JWT' },
          `${JSON.stringify(claims).slice(0, -1)},"user_id":2}`,
          SECRET,
        ),
      ],
    ] as const;
    const answers: [string, number, string][] = [];
    for (const [name, token] of attacks) {
      const { status, text: body } = await server.call(
        'GET',
        '/api/auth/me',
        undefined,
        bearer(token),
      );
      answers.push([name, status, body]);
    }
    expect(answers).toEqual(attacks.map(([name]) => [name, 401, '{"error":"Unauthorized"}']));
    expect((await server.call('GET', '/api/auth/me', undefined, bearer(accessToken))).status).toBe(
      200,
    );
    await server.close();
  });
});
