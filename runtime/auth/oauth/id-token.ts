import { createPublicKey, type JsonWebKey, type KeyObject } from 'node:crypto';
import jwt from 'jsonwebtoken';
import { failure } from '../../errors.ts';
import { MINUTE, SECOND } from '../time.ts';
import { fetchJson } from './outside.ts';
import type { Provider } from './providers.ts';

type Jwk = JsonWebKey & { readonly kid?: string; readonly use?: string; readonly alg?: string };

const ALGORITHMS = ['RS256', 'ES256'] as const;
const CACHED = 10 * MINUTE;
const SKEW = 60;

/** Verifies id tokens (OpenID Connect Core section 3.1.3.7). Grant checks neither signature nor issuer nor expiry. */
export interface IdTokens {
  /** @throws AppError 401 `OAuth identity could not be verified`, 502 when the keys cannot be had. */
  verify(
    provider: Provider,
    token: string,
    nonce: string | undefined,
  ): Promise<Readonly<Record<string, unknown>>>;
}

export const notVerified = (cause?: unknown) =>
  failure.unauthenticated('OAuth identity could not be verified', { cause });

export function createIdTokens(now: () => number): IdTokens {
  const sets = new Map<string, { readonly keys: readonly Jwk[]; readonly at: number }>();
  const load = async (url: string) => {
    const { keys } = (await fetchJson(url)) as { keys?: unknown };
    const set = { keys: Array.isArray(keys) ? (keys as Jwk[]) : [], at: now() };
    sets.set(url, set);
    return set;
  };
  /** A key that is not in the set may be a new one: the set is read once more, and then that is it. */
  const keyFor = async (
    url: string,
    kid: string | undefined,
    algorithm: string,
  ): Promise<KeyObject> => {
    const known = sets.get(url);
    const fresh = known && now() - known.at < CACHED ? known : null;
    const key =
      (fresh && pick(fresh.keys, kid, algorithm)) ?? pick((await load(url)).keys, kid, algorithm);
    if (!key) throw notVerified('no such key');
    return key;
  };
  return {
    verify: async ({ oidc, clientId }, token, nonce) => {
      if (!oidc) throw notVerified();
      const header = readHeader(token);
      const algorithm = ALGORITHMS.find((each) => each === header?.alg);
      if (!header || !algorithm) throw notVerified('algorithm');
      const key = await keyFor(oidc.jwksUrl, header.kid, algorithm);
      const claims = check(token, key, algorithm, oidc.issuer, clientId, now());
      if (nonce === undefined || claims['nonce'] !== nonce) throw notVerified('nonce');
      return claims;
    },
  };
}

function readHeader(token: string): jwt.JwtHeader | null {
  try {
    return jwt.decode(token, { complete: true })?.header ?? null;
  } catch {
    return null;
  }
}

function check(
  token: string,
  key: KeyObject,
  algorithm: 'RS256' | 'ES256',
  issuer: string,
  clientId: string,
  now: number,
): Record<string, unknown> {
  let claims: unknown;
  try {
    claims = jwt.verify(token, key, {
      algorithms: [algorithm],
      issuer,
      audience: clientId,
      clockTolerance: SKEW,
      clockTimestamp: Math.floor(now / SECOND),
    });
  } catch (error) {
    throw notVerified(error);
  }
  if (typeof claims !== 'object' || claims === null) throw notVerified('payload');
  const { aud, azp, exp, sub, iat } = claims as Record<string, unknown>;
  if (!Number.isInteger(exp) || typeof sub !== 'string' || sub === '') throw notVerified('claims');
  if (typeof iat === 'number' && iat * SECOND > now + SKEW * SECOND)
    throw notVerified('issued in the future');
  if (azp !== undefined ? azp !== clientId : Array.isArray(aud) && aud.length > 1)
    throw notVerified('azp');
  return claims as Record<string, unknown>;
}

/** The key of that id and of the kind that the algorithm needs; without an id only when there is no choice. */
function pick(keys: readonly Jwk[], kid: string | undefined, algorithm: string): KeyObject | null {
  const kind = algorithm === 'RS256' ? 'RSA' : 'EC';
  const fitting = keys.filter(
    (key) =>
      key.kty === kind &&
      (key.use ?? 'sig') === 'sig' &&
      (key.alg ?? algorithm) === algorithm &&
      (kid === undefined || key.kid === kid),
  );
  if (fitting.length === 0 || (kid === undefined && fitting.length > 1)) return null;
  try {
    return createPublicKey({ key: fitting[0]!, format: 'jwk' });
  } catch {
    return null;
  }
}
