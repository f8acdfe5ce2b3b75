import { createCipheriv, createDecipheriv, type KeyObject, randomBytes } from 'node:crypto';

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
