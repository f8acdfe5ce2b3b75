import { createHash, randomBytes } from 'node:crypto';
import type { IdKind } from '@twofold/schema';

/** A user's key: a positive integer, or a UUID when `database.ids` is `uuid`. */
export type UserId = number | string;

/** `bytes` of randomness as base64url text: 16 bytes are 22 characters, 32 are 43. */
export function randomToken(bytes: number): string {
  return randomBytes(bytes).toString('base64url');
}

/** SHA-256 in base64url: the form in which random secrets are stored. */
export function digest(text: string): string {
  return createHash('sha256').update(text).digest('base64url');
}

/** Crockford's base 32 without I, L, O and U. */
const ALPHABET = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';

/** A ULID: 48 bits of time and 80 random bits, so that ids sort by creation time. */
export function ulid(now: number): string {
  let time = '';
  for (let rest = now, index = 0; index < 10; index += 1, rest = Math.floor(rest / 32))
    time = ALPHABET[rest % 32] + time;
  return time + [...randomBytes(16)].map((byte) => ALPHABET[byte % 32]).join('');
}

/** A UUID of version 7 (RFC 9562 section 5.7). */
export function uuidV7(now: number): string {
  const bytes = randomBytes(16);
  bytes.writeUIntBE(now, 0, 6);
  bytes[6] = (bytes[6]! & 0x0f) | 0x70;
  bytes[8] = (bytes[8]! & 0x3f) | 0x80;
  return bytes.toString('hex').replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
}

/** A key that own code gives: the ids of its rows are text. */
export const storedUserId = (id: UserId): UserId =>
  /^\d{1,16}$/.test(String(id)) ? Number(id) : id;

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

/** Whether an untrusted value can be a user's key. */
export function isUserId(value: unknown): value is UserId {
  return typeof value === 'number'
    ? Number.isSafeInteger(value) && value > 0
    : typeof value === 'string' && UUID.test(value);
}

/** A path parameter as a user's key, or null when it cannot be one. */
export function parseUserId(text: string): UserId | null {
  const value = /^\d{1,16}$/.test(text) ? Number(text) : text.toLowerCase();
  return isUserId(value) ? value : null;
}

/**
 * Like `parseUserId`, but only for the type of key that the project's users have, because
 * PostgreSQL would fail on the other type.
 */
export function parseOwnUserId(ids: IdKind, text: string): UserId | null {
  const id = parseUserId(text);
  return (typeof id === 'string') === (ids === 'uuid') ? id : null;
}
