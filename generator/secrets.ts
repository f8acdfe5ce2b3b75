import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { parseEnv } from 'node:util';
import type { Project } from '@twofold/schema';
import type { Disk } from './write/disk.ts';

/** A random secret as `.env` holds it: 32 bytes. */
export const randomSecret = (): string => randomBytes(32).toString('base64url');

/**
 * Gives `.env` the secrets that the project cannot start without, as when `auth:` was added to the manifest. A value that
 * stands there, or in the environment, stays; without a `.env` nothing is written.
 *
 * @returns the names of what was added.
 */
export async function addSecrets(root: string, project: Project, disk: Disk): Promise<string[]> {
  const path = join(root, '.env');
  const text = await disk.read(path);
  if (text === null) return [];
  // Loaded here: a check with nothing to do needs no templates and no parser.
  const { secretsNeeded } = await import('../templates/seeded/env.ts');
  const missing = secretsNeeded(project, { ...parseEnv(text), ...process.env });
  if (missing.length === 0) return [];
  const part = join(root, '.env.part');
  await disk.write(part, missing.reduce(withSecret, text), 0o600);
  await disk.rename(part, path);
  return missing;
}

/** In the place of the empty line that `.env.example` has for it, or at the end. */
function withSecret(text: string, name: string): string {
  const line = `${name}=${randomSecret()}`;
  const empty = new RegExp(`^${name}=[ \\t]*$`, 'm');
  if (empty.test(text)) return text.replace(empty, line);
  return `${text}${text === '' || text.endsWith('\n') ? '' : '\n'}${line}\n`;
}
