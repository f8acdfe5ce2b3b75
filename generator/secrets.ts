import { randomBytes } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseEnv } from 'node:util';
import type { Project } from '@twofold/schema';
import type { Disk } from './write/disk.ts';

/** The environment, with `.env` as fallback: the same order as in the project's own server. */
export const environmentOf = (root: string): Readonly<Record<string, string | undefined>> => ({
  ...settingsIn(root),
  ...process.env,
});

/** What `.env` sets; nothing without the file. */
export function settingsIn(root: string): Readonly<Record<string, string | undefined>> {
  const path = join(root, '.env');
  return existsSync(path) ? parseEnv(readFileSync(path, 'utf8')) : {};
}

/** A random secret of 32 bytes for `.env`. */
export const randomSecret = (): string => randomBytes(32).toString('base64url');

/**
 * Adds the secrets without which the project does not start to `.env`, for example after `auth:`
 * was added to the manifest. Values that are in the file or in the environment stay. Without a
 * `.env` nothing is written.
 *
 * @returns the names of the added secrets.
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

/** Replaces the empty line copied from `.env.example`, or appends a line. */
function withSecret(text: string, name: string): string {
  const line = `${name}=${randomSecret()}`;
  const empty = new RegExp(`^${name}=[ \\t]*$`, 'm');
  if (empty.test(text)) return text.replace(empty, line);
  return `${text}${text === '' || text.endsWith('\n') ? '' : '\n'}${line}\n`;
}
