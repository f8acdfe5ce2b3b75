import { randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Settings } from '@twofold/runtime/kernel';

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
