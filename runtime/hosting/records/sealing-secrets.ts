import { randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Settings } from '@twofold/runtime/kernel';

/**
 * The secrets for sealing: `JWT_SECRET`, and `JWT_SECRET_PREVIOUS` for opening only. A server
 * without users has a key of its own in `data/hosting.key`, which is created on first use and
 * readable only by its owner.
 */
export function sealingSecrets(settings: Settings, root: string): string[] {
  const secret = settings.text('JWT_SECRET');
  const previous = settings
    .text('JWT_SECRET_PREVIOUS', '')
    .split(',')
    .map((text) => text.trim());
  const file = join(root, 'data/hosting.key');
  const known = existsSync(file) ? readFileSync(file, 'utf8').trim() : '';
  const secrets = [secret ?? '', ...previous, known].filter((text) => text !== '');
  return secrets.length > 0 ? secrets : [createKey(file)];
}

function createKey(file: string): string {
  const key = randomBytes(32).toString('base64url');
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, `${key}\n`, { mode: 0o600, flag: 'wx' });
  return key;
}
