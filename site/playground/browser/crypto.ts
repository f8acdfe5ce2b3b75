import { sha256 } from '@noble/hashes/sha2.js';
import { bytesToHex, utf8ToBytes } from '@noble/hashes/utils.js';

/**
 * In the place of `node:crypto`, of which the generator uses one hash. The browser's own SHA-256
 * answers later, and the generator does not wait.
 */
export function createHash(_algorithm: 'sha256') {
  const hash = sha256.create();
  const made = {
    update: (text: string) => (hash.update(utf8ToBytes(text)), made),
    digest: (_encoding: 'hex') => bytesToHex(hash.digest()),
  };
  return made;
}
