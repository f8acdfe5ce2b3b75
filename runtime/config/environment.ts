import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseEnv } from 'node:util';
import type { Environment } from './settings.ts';

/**
 * The environment of this process over the `.env` file of `root`, if there is one: what is set outside wins.
 *
 * @example const settings = createSettings(readEnvironment(process.cwd(), process.env));
 */
export function readEnvironment(root: string, env: Environment): Environment {
  return { ...readDotEnv(join(root, '.env')), ...env };
}

function readDotEnv(file: string): Environment {
  try {
    return parseEnv(readFileSync(file, 'utf8')) as Environment;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return {};
    throw error;
  }
}
