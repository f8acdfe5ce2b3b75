import type { Context as KoaContext } from 'koa';
import { emailKey } from './identity-rules.ts';
import { mac } from '../secrets/keys.ts';
import type { LockKey } from './lockout.ts';
import type { AuthParts } from '../parts.ts';

/**
 * The HMAC under which failures, limits and attempts of an e-mail address are stored. It does not
 * depend on whether an account exists.
 */
export function identifierOf({ identifierKey }: AuthParts, email: string): string {
  return mac(identifierKey, emailKey(email));
}

/** The bucket in which failures of an address count. A device that signed in before has its own. */
export function lockKeyFor(
  { devices }: AuthParts,
  koa: KoaContext,
  identifierHash: string,
): LockKey {
  const device = devices.read(koa, identifierHash);
  return { identifierHash, bucket: device ? `device:${device}` : 'public' };
}

export const lockKeyOf = (parts: AuthParts, koa: KoaContext, email: string): LockKey =>
  lockKeyFor(parts, koa, identifierOf(parts, email));
