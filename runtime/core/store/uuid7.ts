import { randomBytes } from 'node:crypto';

/**
 * A UUID of version 7, which sorts by the time of its creation. RFC 9562 §5.7.
 *
 * @example uuid7(Date.now()) // '019a…-7…'
 */
export function uuid7(now: number): string {
  const bytes = randomBytes(16);
  bytes.writeUIntBE(now, 0, 6);
  bytes[6] = 0x70 | (bytes[6]! & 0x0f);
  bytes[8] = 0x80 | (bytes[8]! & 0x3f);
  const hex = bytes.toString('hex');
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`;
}
