import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseEnv } from 'node:util';
import { ConfigError } from '../errors.ts';
import type { Environment } from './settings.ts';

const ADVICE: Readonly<Record<string, string>> = {
  EACCES: 'give this user the right to read it, or start the server as its owner',
  EPERM: 'give this user the right to read it, or start the server as its owner',
  EISDIR: 'it is a folder, and should be a file of lines NAME=value',
};

/**
 * The environment of this process, merged over the `.env` file of `root` if there is one. The
 * process's own variables win.
 *
 * @throws ConfigError when the file exists and cannot be read.
 * @example const settings = createSettings(readEnvironment(process.cwd(), process.env));
 */
export function readEnvironment(root: string, env: Environment): Environment {
  return { ...readDotEnv(join(root, '.env')), ...env };
}

function readDotEnv(file: string): Environment {
  try {
    return parseEnv(readFileSync(file, 'utf8')) as Environment;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT') return {};
    throw new ConfigError([
      `${file} cannot be read (${code}): ${ADVICE[code ?? ''] ?? 'check the file'}`,
    ]);
  }
}
