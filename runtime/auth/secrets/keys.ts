import {
  createCipheriv,
  createDecipheriv,
  createHmac,
  createSecretKey,
  hkdfSync,
  type KeyObject,
  randomBytes,
  timingSafeEqual,
} from 'node:crypto';

/** The purpose of a derived key. Keys of different purposes do not verify each other's texts. */
export type KeyPurpose =
  | 'refresh'
  | 'host-token'
  | 'oauth-flow'
  | 'identifier'
  | 'webhook-seal'
  | 'device'
  | 'link'
  | 'pages'
  | 'totp-seal'
  | 'ticket-seal'
  | 'mail-code';

/** Keys derived from `JWT_SECRET`, and from the earlier secrets in `JWT_SECRET_PREVIOUS`. */
export interface Keys {
  /** Signs access tokens. It is `JWT_SECRET` in UTF-8, so any HS256 verifier can check them. */
  readonly sign: KeyObject;
  /** `sign` first, then the keys of `JWT_SECRET_PREVIOUS`. */
  readonly verify: readonly KeyObject[];
  /** The current key of a purpose: HKDF-SHA256 (RFC 5869) with the purpose as `info`. */
  derived(purpose: KeyPurpose): KeyObject;
  /** The current key of a purpose and those of earlier secrets. */
  derivedAll(purpose: KeyPurpose): readonly KeyObject[];
}

/**
 * @example
 * const keys = createKeys(process.env.JWT_SECRET, []);
 * mac(keys.derived('identifier'), 'ada@example.test');
 */
export function createKeys(secret: string, previous: readonly string[]): Keys {
  const secrets = [secret, ...previous].map((text) => Buffer.from(text, 'utf8'));
  const verify = secrets.map((bytes) => createSecretKey(bytes));
  const cache = new Map<KeyPurpose, readonly KeyObject[]>();
  const derivedAll = (purpose: KeyPurpose) => {
    const known = cache.get(purpose) ?? secrets.map((bytes) => derive(bytes, purpose));
    cache.set(purpose, known);
    return known;
  };
  return { sign: verify[0]!, verify, derivedAll, derived: (purpose) => derivedAll(purpose)[0]! };
}

/** HMAC-SHA256 of `text` in base64url: 43 characters. */
export function mac(key: KeyObject, text: string): string {
  return createHmac('sha256', key).update(text).digest('base64url');
}

/** Compares two texts in constant time. */
export function sameText(left: string, right: string): boolean {
  const a = Buffer.from(left);
  const b = Buffer.from(right);
  return a.length === b.length && timingSafeEqual(a, b);
}

function derive(secret: Buffer, purpose: KeyPurpose): KeyObject {
  return createSecretKey(Buffer.from(hkdfSync('sha256', secret, '', purpose, 32)));
}

/** Encrypts with AES-256-GCM to nonce, ciphertext and tag in base64url, bound to `context`. */
export function seal(key: KeyObject, text: string, context: string): string {
  const nonce = randomBytes(12);
  const cipher = createCipheriv('aes-256-gcm', key, nonce).setAAD(Buffer.from(context));
  const sealed = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()]);
  return Buffer.concat([nonce, sealed, cipher.getAuthTag()]).toString('base64url');
}

/** Decrypts a text that was sealed with one of the keys and the same `context`, or returns null. */
export function unseal(keys: readonly KeyObject[], sealed: string, context: string): string | null {
  const bytes = Buffer.from(sealed, 'base64url');
  if (bytes.length < 28) return null;
  for (const key of keys) {
    try {
      const decipher = createDecipheriv('aes-256-gcm', key, bytes.subarray(0, 12))
        .setAAD(Buffer.from(context))
        .setAuthTag(bytes.subarray(-16));
      return Buffer.concat([decipher.update(bytes.subarray(12, -16)), decipher.final()]).toString(
        'utf8',
      );
    } catch {
      // Try the next key.
    }
  }
  return null;
}
