import {
  createRemoteJWKSet,
  customFetch,
  errors,
  type FetchImplementation,
  type JWTPayload,
  jwtVerify,
  type JWTVerifyGetKey,
} from 'jose';
import { AppError, failure } from '@twofold/runtime/errors';
import { MINUTE, SECOND } from '../base/time.ts';
import { fetchJson } from './provider-http.ts';
import type { Provider } from './providers.ts';

/** Algorithms with a public key. HMAC is not accepted: its key would be the client secret. */
const ASYMMETRIC = [
  'RS256',
  'RS384',
  'RS512',
  'PS256',
  'PS384',
  'PS512',
  'ES256',
  'ES384',
  'ES512',
  'EdDSA',
  'Ed25519',
];
/** Algorithms to accept from a provider that announces none. */
const DEFAULT_ALGORITHMS = ['RS256', 'ES256'];
const KEY_SET_LIFETIME = 10 * MINUTE;
/**
 * Milliseconds between two reads of a key set because of an unknown key id. Anyone can send made-up
 * key ids, so the reads must be limited.
 */
const KEY_SET_COOLDOWN = 30 * SECOND;
const CLOCK_SKEW = 60;

/** Verifies id tokens (OpenID Connect Core 3.1.3.7), as grant checks no signature and no expiry. */
export interface IdTokens {
  /** @throws AppError 401 for an invalid token, 502 when the keys cannot be fetched. */
  verify(
    provider: Provider,
    token: string,
    nonce: string | undefined,
  ): Promise<Readonly<Record<string, unknown>>>;
}

export const notVerified = (cause?: unknown) =>
  failure.unauthenticated('OAuth identity could not be verified', { cause });

export function createIdTokens(now: () => number): IdTokens {
  const sets = new Map<string, JWTVerifyGetKey>();
  return {
    verify: async ({ oidc, clientId }, token, nonce) => {
      if (!oidc) throw notVerified();
      const keys = sets.get(oidc.jwksUrl) ?? createKeySet(oidc.jwksUrl, now);
      sets.set(oidc.jwksUrl, keys);
      const time = now();
      const claims = await jwtVerify(token, keys, {
        algorithms: algorithmsOf(oidc.algorithms),
        audience: clientId,
        clockTolerance: CLOCK_SKEW,
        currentDate: new Date(time),
      }).then(
        ({ payload }) => payload,
        (error: unknown) => {
          throw error instanceof AppError ? error : notVerified(error);
        },
      );
      assertIssuer(claims, oidc.issuer);
      assertClaims(claims, clientId, time);
      if (nonce === undefined || claims['nonce'] !== nonce) throw notVerified('nonce');
      return claims;
    },
  };
}

/**
 * The algorithms that the provider announces (`id_token_signing_alg_values_supported`), without
 * those that use no public key.
 */
function algorithmsOf(announced: readonly string[] | undefined): string[] {
  return announced ? ASYMMETRIC.filter((name) => announced.includes(name)) : DEFAULT_ALGORITHMS;
}

/**
 * The keys of a provider, cached for ten minutes. A key id that is not in the set may belong to a
 * new key, so the set is fetched again at once, and then not before the cooldown has passed.
 */
function createKeySet(url: string, now: () => number): JWTVerifyGetKey {
  const set = createRemoteJWKSet(new URL(url), {
    cacheMaxAge: KEY_SET_LIFETIME,
    // The cooldown of the library would begin with the first fetch, and a key that is changed right
    // after it would be refused.
    cooldownDuration: Infinity,
    [customFetch]: boundedFetch,
  });
  let rereadAt = -Infinity;
  return async (header, token) => {
    try {
      return await set(header, token);
    } catch (error) {
      const unknown = error instanceof errors.JWKSNoMatchingKey;
      if (!unknown || (now() - rereadAt < KEY_SET_COOLDOWN && !set.reloading)) throw error;
      if (!set.reloading) rereadAt = now();
      // Joins a fetch that is already running.
      await set.reload();
      return set(header, token);
    }
  };
}

/** Fetches with our limits of time and size, and without redirects. */
const boundedFetch: FetchImplementation = async (url) => Response.json(await fetchJson(url));

/** Microsoft has an issuer for each organization, whose id is the claim `tid`. */
function assertIssuer({ iss, tid }: JWTPayload, issuer: string): void {
  const expected = issuer.replace('{tenantid}', () => {
    if (typeof tid !== 'string' || !/^[0-9a-f-]{36}$/.test(tid)) throw notVerified('tid');
    return tid;
  });
  if (iss !== expected) throw notVerified('issuer');
}

/** @throws AppError 401 */
function assertClaims({ aud, azp, exp, sub, iat }: JWTPayload, clientId: string, now: number) {
  if (!Number.isInteger(exp) || typeof sub !== 'string' || sub === '') throw notVerified('claims');
  if (typeof iat === 'number' && iat * SECOND > now + CLOCK_SKEW * SECOND)
    throw notVerified('issued in the future');
  if (azp !== undefined ? azp !== clientId : Array.isArray(aud) && aud.length > 1)
    throw notVerified('azp');
}
