import { randomInt } from 'node:crypto';
import { mac, sameText } from '../secrets/keys.ts';
import type { UserId } from '../ids.ts';
import type { AuthParts } from '../parts.ts';
import type { HeldTicket } from './tickets.ts';

/** A code of six digits. */
export const newCode = (): string => String(randomInt(1_000_000)).padStart(6, '0');

/** How a code is stored. A plain hash of six digits could be reversed. */
export function sealCode({ keys }: AuthParts, purpose: string, code: string): string {
  return mac(keys.derived('mail-code'), `${purpose}|${code}`);
}

/** The subject of a reauthentication's code, which binds it to the user. */
export const reauthenticationOf = (userId: UserId): string => `reauthentication|${userId}`;

/** Whether a code is the one that was mailed for a ticket. */
export function isMailedCode(
  parts: AuthParts,
  { code: stored, entry }: HeldTicket,
  given: unknown,
): boolean {
  const code = String(given).replaceAll(/\s/g, '');
  return stored !== null && isSealedCode(parts, reauthenticationOf(entry.account.id), code, stored);
}

/** Whether `sealCode` made the value from this code, with the current secret or an earlier one. */
export function isSealedCode(
  { keys }: AuthParts,
  purpose: string,
  code: string,
  sealed: string,
): boolean {
  return keys
    .derivedAll('mail-code')
    .some((key) => sameText(mac(key, `${purpose}|${code}`), sealed));
}
