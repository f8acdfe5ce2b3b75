import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { generateKeyPairSync, type KeyObject } from 'node:crypto';
import type { AddressInfo } from 'node:net';
import jwt from 'jsonwebtoken';

/** What a provider does at its token endpoint in one test. */
export type TokenAnswer = (
  provider: HostileProvider,
  form: URLSearchParams,
  response: ServerResponse,
) => void;

const keys = generateKeyPairSync('rsa', { modulusLength: 2048 });
export const STRANGER = generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey;

/** A provider that does what a test says: also what none should. */
export interface HostileProvider {
  readonly issuer: string;
  /** Claims of the next id token, over the right ones. */
  claims: Record<string, unknown>;
  /** The nonce that the flow was begun with. */
  nonce: string;
  kid: string;
  jwks: object | null;
  /** What its description says of how id tokens are signed; null: nothing. */
  algorithms: readonly string[] | null;
  userinfo: Record<string, unknown> | null;
  emails: unknown;
  answer: TokenAnswer;
  readonly requests: string[];
  readonly forms: URLSearchParams[];
  readonly privateKey: KeyObject;
  idToken(key?: KeyObject | string, algorithm?: jwt.Algorithm): string;
  close(): Promise<void>;
}

export const honest: TokenAnswer = (provider, _, response) =>
  json(response, { access_token: 'at', token_type: 'Bearer', id_token: provider.idToken() });

export const json = (response: ServerResponse, value: unknown, status = 200) =>
  response.writeHead(status, { 'Content-Type': 'application/json' }).end(JSON.stringify(value));

export async function startHostile(): Promise<HostileProvider> {
  const http = createServer((request, response) => void serve(provider, request, response));
  await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve));
  const issuer = `http://127.0.0.1:${(http.address() as AddressInfo).port}`;
  const provider: HostileProvider = {
    issuer,
    claims: {},
    nonce: '',
    kid: 'one',
    jwks: null,
    algorithms: null,
    userinfo: null,
    emails: null,
    answer: honest,
    requests: [],
    forms: [],
    privateKey: keys.privateKey,
    idToken(key = keys.privateKey, algorithm = 'RS256') {
      const now = Math.floor(Date.now() / 1000);
      const claims = {
        iss: issuer,
        aud: 'shop',
        sub: 'sub-1',
        nonce: provider.nonce,
        iat: now,
        exp: now + 300,
        email: 'hostile@x.test',
        email_verified: true,
        name: 'Host Ile',
        ...provider.claims,
      };
      return jwt.sign(
        Object.fromEntries(Object.entries(claims).filter(([, value]) => value !== undefined)),
        key,
        { algorithm, ...(provider.kid && { keyid: provider.kid }) },
      );
    },
    close: async () => {
      http.closeAllConnections();
      await new Promise<void>((resolve) => http.close(() => resolve()));
    },
  };
  return provider;
}

async function serve(
  provider: HostileProvider,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const path = request.url!.split('?')[0]!;
  provider.requests.push(path);
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  const { issuer } = provider;
  if (path === '/.well-known/openid-configuration')
    return void json(response, {
      issuer,
      authorization_endpoint: `${issuer}/authorize`,
      token_endpoint: `${issuer}/token`,
      jwks_uri: `${issuer}/jwks`,
      userinfo_endpoint: `${issuer}/userinfo`,
      ...(provider.algorithms && {
        id_token_signing_alg_values_supported: provider.algorithms,
      }),
    });
  if (path === '/jwks')
    return void json(
      response,
      provider.jwks ?? {
        keys: [
          {
            ...keys.publicKey.export({ format: 'jwk' }),
            kid: provider.kid,
            use: 'sig',
            alg: 'RS256',
          },
        ],
      },
    );
  if (path === '/userinfo')
    return void (provider.userinfo ? json(response, provider.userinfo) : json(response, {}, 401));
  if (path === '/userinfo/emails') return void json(response, provider.emails);
  if (path !== '/token') return void json(response, {}, 404);
  const form = new URLSearchParams(Buffer.concat(chunks).toString());
  provider.forms.push(form);
  provider.answer(provider, form, response);
}
