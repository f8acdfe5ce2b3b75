import type { KeyObject } from 'node:crypto';
import jwt from 'jsonwebtoken';
import { createBoundedCache } from '@twofold/runtime/kernel';
import { isOpaqueId } from '../base/identity-rules.ts';
import { isUserId, type UserId } from '../base/ids.ts';
import { MINUTE, SECOND } from '../base/time.ts';

/** Claims of an access token. Times are Unix seconds. */
export interface AccessClaims {
  readonly user_id: UserId;
  readonly exp: number;
  readonly extend: Readonly<Record<string, unknown>>;
  readonly iat: number;
  readonly jti: string;
  readonly sid: string;
  /** The administrator who acts as the user. */
  readonly impersonated_by?: UserId;
}

/** Claims of the operator's token. */
export interface HostClaims {
  readonly scope: 'host';
  readonly exp: number;
  readonly iat: number;
  readonly jti: string;
  readonly sid: string;
}

export interface TokenOptions {
  readonly sign: KeyObject;
  readonly verify: readonly KeyObject[];
  /** Milliseconds after `exp` in which a token still counts. */
  readonly leeway: number;
  readonly issuer: string | null;
  readonly audience: string | null;
  readonly maxBytes: number;
  readonly now: () => number;
}

/** Signs and checks one kind of token (JWT, RFC 7519, HS256 and nothing else). */
export interface Tokens<Claims> {
  sign(claims: Claims): string;
  /**
   * Returns the claims, or null if the token is invalid for any reason. Logout sets `ignoreExpiry`,
   * because an expired token may still log out.
   */
  verify(token: string, options?: { readonly ignoreExpiry?: boolean }): Claims | null;
}

/**
 * A part of a JWT in canonical base64url (RFC 4648 section 3.5): no padding, and the unused bits of
 * the last character are zero. So a token has exactly one spelling. `TOKEN_FORMAT` demands three
 * parts, of which the last holds the 32 bytes of HMAC-SHA256.
 */
const BASE64URL =
  '(?:[A-Za-z0-9_-]{4})*(?:[A-Za-z0-9_-][AQgw]|[A-Za-z0-9_-]{2}[AEIMQUYcgkosw048])?';
const TOKEN_FORMAT = new RegExp(
  `^(?!\\.)${BASE64URL}\\.(?!\\.)${BASE64URL}\\.[A-Za-z0-9_-]{42}[AEIMQUYcgkosw048]$`,
);
const HEADER = { alg: 'HS256', typ: 'JWT' } as const;
const MAX_CACHED_TOKENS = 10_000;
const MAX_CACHED_BYTES = 16 * 1024 * 1024;

/**
 * Tokens of users.
 *
 * @example
 * const tokens = accessTokens(options);
 * tokens.verify(tokens.sign({ user_id: 1, exp, extend: { user_id: 1 }, iat, jti, sid }))?.user_id;
 * // 1
 */
export function accessTokens(options: TokenOptions): Tokens<AccessClaims> {
  return createTokens(options, isAccessClaims);
}

/**
 * Tokens of the operator. They are signed with another key, so that a user's token is never
 * accepted as an operator's token or the reverse.
 */
export function hostTokens(options: TokenOptions): Tokens<HostClaims> {
  return createTokens(options, isHostClaims);
}

/** Claims of a verified token, and the time until which the cached verification holds. */
interface VerifiedToken<Claims> {
  readonly claims: Claims;
  readonly until: number;
}

function createTokens<Claims extends { exp: number; iat: number }>(
  options: TokenOptions,
  accepts: (claims: Record<string, unknown>) => claims is Record<string, unknown> & Claims,
): Tokens<Claims> {
  const cache = createBoundedCache<VerifiedToken<Claims>>({
    entries: MAX_CACHED_TOKENS,
    bytes: MAX_CACHED_BYTES,
  });
  const check = (token: string, ignoreExpiry: boolean) => {
    const claims = openToken(token, options, ignoreExpiry)?.payload;
    return isObject(claims) && accepts(claims) && claims.iat * SECOND <= options.now() + MINUTE
      ? (claims as Claims)
      : null;
  };
  return {
    sign: (claims) => jwt.sign({ ...claims, ...named(options) }, options.sign, { header: HEADER }),
    verify: (token, { ignoreExpiry = false } = {}) => {
      const now = options.now();
      const known = ignoreExpiry ? undefined : cache.get(token);
      if (known && known.until > now) return known.claims;
      const claims = check(token, ignoreExpiry);
      if (claims && !ignoreExpiry) {
        const until = Math.min(claims.exp * SECOND + options.leeway, now + MINUTE);
        cache.set(token, { claims, until }, token.length);
      }
      return claims;
    },
  };
}

/**
 * Returns the payload of a token that one of the keys signed with HS256 and that is neither expired
 * nor for another audience; null otherwise. The content of the payload is not checked: it may be no
 * object.
 */
export function openToken(
  token: string,
  options: Omit<TokenOptions, 'sign'>,
  ignoreExpiry = false,
): { readonly payload: unknown } | null {
  if (token.length > options.maxBytes || !TOKEN_FORMAT.test(token)) return null;
  for (const key of options.verify) {
    const found = verifyWith(key, token, options, ignoreExpiry);
    // Secrets rotate, so the next key may match.
    if (found)
      return 'crit' in found.header || 'b64' in found.header ? null : { payload: found.payload };
  }
  return null;
}

/**
 * On hostile input jsonwebtoken throws SyntaxError and TypeError besides its own errors. All of
 * them mean that the token is invalid.
 */
function verifyWith(
  key: KeyObject,
  token: string,
  options: Omit<TokenOptions, 'sign'>,
  ignoreExpiration: boolean,
): jwt.Jwt | null {
  try {
    return jwt.verify(token, key, {
      algorithms: ['HS256'],
      clockTimestamp: Math.floor(options.now() / SECOND),
      clockTolerance: Math.floor(options.leeway / SECOND),
      ignoreExpiration,
      complete: true,
      ...(options.issuer !== null && { issuer: options.issuer }),
      ...(options.audience !== null && { audience: options.audience }),
    });
  } catch {
    return null;
  }
}

function named({ issuer, audience }: TokenOptions): { iss?: string; aud?: string } {
  return { ...(issuer !== null && { iss: issuer }), ...(audience !== null && { aud: audience }) };
}

function isAccessClaims(
  claims: Record<string, unknown>,
): claims is Record<string, unknown> & AccessClaims {
  return hasTimes(claims) && isUserId(claims['user_id']) && isObject(claims['extend']);
}

function isHostClaims(
  claims: Record<string, unknown>,
): claims is Record<string, unknown> & HostClaims {
  return hasTimes(claims) && claims['scope'] === 'host';
}

function hasTimes(claims: Record<string, unknown>): boolean {
  return (
    Number.isSafeInteger(claims['exp']) &&
    Number.isSafeInteger(claims['iat']) &&
    isOurId(claims['jti']) &&
    isOurId(claims['sid'])
  );
}

/** Claims go into SQL, and PostgreSQL refuses text with a NUL and integers beyond 64 bits. */
function isOurId(claim: unknown): boolean {
  return typeof claim === 'string' && isOpaqueId(claim);
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
