import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto';
import { InternalError } from '@twofold/runtime/errors';
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Settings } from '@twofold/runtime/kernel';

/**
 * Encrypts secrets for the database. `about` names the row: a text that was sealed for one row
 * cannot be opened for another.
 */
export interface Seal {
  seal(text: string, about: string): string;
  open(sealed: string, about: string): string;
}

const VERSION = '1';

/**
 * Seals with AES-256-GCM. The key is derived from each secret with HKDF-SHA256 (RFC 5869). The
 * first secret seals, and all of them open, so that a secret can be replaced.
 *
 * @example
 * const { seal, open } = createSeal([process.env.JWT_SECRET]);
 * open(seal('s3cret', 'app:1'), 'app:1') // 's3cret'
 */
export function createSeal(secrets: readonly string[]): Seal {
  const keys = secrets.map((secret) =>
    Buffer.from(hkdfSync('sha256', secret, '', 'hosting-seal', 32)),
  );
  return {
    seal: (text, about) => seal(text, about, keys[0] as Buffer),
    open(sealed, about) {
      for (const key of keys) {
        const text = tryOpen(sealed, about, key);
        if (text !== null) return text;
      }
      throw new InternalError(
        `what is sealed for ${about} cannot be opened: the secret it was sealed with is gone`,
      );
    },
  };
}

function seal(text: string, about: string, key: Buffer): string {
  const nonce = randomBytes(12);
  const cipher = createCipheriv('aes-256-gcm', key, nonce).setAAD(Buffer.from(about));
  const body = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()]);
  return `${VERSION}.${Buffer.concat([nonce, cipher.getAuthTag(), body]).toString('base64url')}`;
}

function tryOpen(sealed: string, about: string, key: Buffer): string | null {
  const bytes = Buffer.from(sealed.slice(VERSION.length + 1), 'base64url');
  if (bytes.length < 28) return null;
  const decipher = createDecipheriv('aes-256-gcm', key, bytes.subarray(0, 12))
    .setAAD(Buffer.from(about))
    .setAuthTag(bytes.subarray(12, 28));
  try {
    return decipher.update(bytes.subarray(28), undefined, 'utf8') + decipher.final('utf8');
  } catch {
    return null;
  }
}

/**
 * The secrets for sealing: `JWT_SECRET`, and `JWT_SECRET_PREVIOUS` for opening only. A server
 * without users has a key of its own in `data/hosting.key`, which is created on first use and
 * readable only by its owner. After `generator host restore` the file has those of the other host
 * too, a line for each.
 */
export function sealingSecrets(settings: Settings, root: string): string[] {
  const secret = settings.text('JWT_SECRET');
  const previous = settings
    .text('JWT_SECRET_PREVIOUS', '')
    .split(',')
    .map((text) => text.trim());
  const file = fileIn(root);
  const secrets = [secret ?? '', ...previous, ...keysIn(file)].filter((text) => text !== '');
  return secrets.length > 0 ? secrets : [createKey(file)];
}

function createKey(file: string): string {
  const key = randomBytes(32).toString('base64url');
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, `${key}\n`, { mode: 0o600, flag: 'wx' });
  return key;
}

const fileIn = (root: string) => join(root, 'data/hosting.key');

const keysIn = (file: string): string[] =>
  existsSync(file)
    ? readFileSync(file, 'utf8')
        .split('\n')
        .map((line) => line.trim())
    : [];

/**
 * Keeps secrets of another host, so that what was sealed there can be opened here. @returns a
 * function that takes them away again.
 */
export function addSealingSecrets(root: string, secrets: readonly string[]): () => void {
  const file = fileIn(root);
  const before = existsSync(file) ? readFileSync(file) : null;
  const all = new Set([...keysIn(file), ...secrets].filter((text) => text !== ''));
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, `${[...all].join('\n')}\n`, { mode: 0o600 });
  return () => (before === null ? rmSync(file, { force: true }) : writeFileSync(file, before));
}
