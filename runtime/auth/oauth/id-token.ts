import {
  createRemoteJWKSet,
  customFetch,
  errors,
  jwtVerify,
  type FetchImplementation,
  type JWTPayload,
  type JWTVerifyGetKey,
} from 'jose';
import { AppError, failure } from '@twofold/runtime/errors';
import { MINUTE, SECOND } from '../time.ts';
import { fetchJson } from './provider-http.ts';
import type { Provider } from './providers.ts';

/** Signatures that a public key proves. A MAC never counts: its key would be the client secret. */
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
/** For a provider that announces no algorithms. */
const USUAL = ['RS256', 'ES256'];
const CACHED = 10 * MINUTE;
/**
 * A set is read again for an unknown key at most once in this time: anyone may send ids of keys.
 */
const COOLDOWN = 30 * SECOND;
const SKEW = 60;

/**
 * Verifies id tokens (OpenID Connect Core section 3.1.3.7). Grant checks neither signature nor
 * issuer nor expiry.
 */
export interface IdTokens {
  /**
   * @throws AppError 401 `OAuth identity could not be verified`, 502 when the keys cannot be had.
   */
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
        issuer: oidc.issuer,
        audience: clientId,
        clockTolerance: SKEW,
        currentDate: new Date(time),
      }).then(
        ({ payload }) => payload,
        (error: unknown) => {
          throw error instanceof AppError ? error : notVerified(error);
        },
      );
      assertClaims(claims, clientId, time);
      if (nonce === undefined || claims['nonce'] !== nonce) throw notVerified('nonce');
      return claims;
    },
  };
}

/**
 * What the provider announces (`id_token_signing_alg_values_supported`), without what no public key
 * proves.
 */
function algorithmsOf(announced: readonly string[] | undefined): string[] {
  return announced ? ASYMMETRIC.filter((name) => announced.includes(name)) : USUAL;
}

/**
 * The keys of a provider, kept for ten minutes. The first key that is not in the set may be a new
 * one, so the set is read once more at once, and then not again before the cooldown is over.
 */
function createKeySet(url: string, now: () => number): JWTVerifyGetKey {
  const set = createRemoteJWKSet(new URL(url), {
    cacheMaxAge: CACHED,
    // The library's own cooldown would begin with the first reading: a key changed right after that
    // would be refused.
    cooldownDuration: Infinity,
    [customFetch]: boundedFetch,
  });
  let rereadAt = -Infinity;
  return async (header, token) => {
    try {
      return await set(header, token);
    } catch (error) {
      const unknown = error instanceof errors.JWKSNoMatchingKey;
      if (!unknown || (now() - rereadAt < COOLDOWN && !set.reloading)) throw error;
      if (!set.reloading) rereadAt = now();
      // Joins a reading that is under way.
      await set.reload();
      return set(header, token);
    }
  };
}

/** Within our limits of time and size, and without redirects. */
const boundedFetch: FetchImplementation = async (url) => Response.json(await fetchJson(url));

/** @throws AppError 401 */
function assertClaims({ aud, azp, exp, sub, iat }: JWTPayload, clientId: string, now: number) {
  if (!Number.isInteger(exp) || typeof sub !== 'string' || sub === '') throw notVerified('claims');
  if (typeof iat === 'number' && iat * SECOND > now + SKEW * SECOND)
    throw notVerified('issued in the future');
  if (azp !== undefined ? azp !== clientId : Array.isArray(aud) && aud.length > 1)
    throw notVerified('azp');
}
