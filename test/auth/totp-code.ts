import { createHmac } from 'node:crypto';

/** An app that shows TOTP codes: RFC 6238 by hand, so that no library is compared with itself. */
const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567';

export function fromBase32(text: string): Buffer {
  const bits = [...text].map((each) => ALPHABET.indexOf(each).toString(2).padStart(5, '0'));
  const bytes = bits.join('').match(/.{8}/g) ?? [];
  return Buffer.from(bytes.map((each) => Number.parseInt(each, 2)));
}

/** The code of a secret at a time in milliseconds; `steps` later or earlier. */
export function codeAt(secret: string, now: number, steps = 0): string {
  const counter = Buffer.alloc(8);
  counter.writeBigUInt64BE(BigInt(Math.floor(now / 30_000) + steps));
  const mac = createHmac('sha1', fromBase32(secret)).update(counter).digest();
  const offset = mac[19]! & 15;
  const value = mac.readUInt32BE(offset) & 0x7fffffff;
  return String(value % 1_000_000).padStart(6, '0');
}
