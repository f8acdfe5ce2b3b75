import { readFile, stat } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join } from 'node:path';
import type { Environment, Logger } from '@twofold/runtime/kernel';
import type { RegistryLogin } from '../engine/images.ts';
import { askHelper } from './credential-helper.ts';
import { canonicalHost, DOCKER_HUB } from './host.ts';

/** The users that `docker login` has stored on this machine. */
export interface DockerLogins {
  /** The registries that the file names. */
  hosts(): Promise<readonly string[]>;
  find(host: string): Promise<RegistryLogin | undefined>;
}

/** The parts of Docker's `config.json` that are about registries. */
interface DockerConfig {
  readonly auths: Readonly<Record<string, StoredLogin>>;
  readonly credsStore?: string;
  readonly credHelpers: Readonly<Record<string, string>>;
}

interface StoredLogin {
  /** `user:password` in base64. */
  readonly auth?: string;
  readonly username?: string;
  readonly password?: string;
  readonly identitytoken?: string;
}

const EMPTY: DockerConfig = { auths: {}, credHelpers: {} };
const MAX_FILE = 1024 * 1024;
/** The key of Docker's own registry in the file. */
const HUB_KEY = 'https://index.docker.io/v1/';

/**
 * Reads `$DOCKER_CONFIG/config.json` or `~/.docker/config.json`, again whenever the file changes. A
 * file that cannot be read counts as empty, and is reported once.
 */
export function createDockerLogins(env: Environment, log: Logger): DockerLogins {
  const read = createReader(dockerConfigFile(env), log);
  return {
    async hosts() {
      const { auths, credHelpers } = await read();
      return [...new Set([...Object.keys(auths), ...Object.keys(credHelpers)].map(hostOfKey))];
    },
    async find(host) {
      const config = await read();
      const helper = helperFor(config, host);
      const stored = entryFor(config.auths, host);
      if (helper === undefined) return stored && toLogin(host, stored.value);
      const key = stored?.key ?? (host === DOCKER_HUB ? HUB_KEY : host);
      return askHelper({ helper, key, host }, { env, log });
    },
  };
}

/** The file into which `docker login` writes. */
function dockerConfigFile(env: Environment): string {
  const folder = env['DOCKER_CONFIG']?.trim() || join(env['HOME'] ?? homedir(), '.docker');
  return join(folder, 'config.json');
}

function createReader(file: string, log: Logger): () => Promise<DockerConfig> {
  let known = { mark: '', config: EMPTY };
  return async () => {
    const seen = await stat(file).catch(() => null);
    const mark = seen ? `${seen.ino} ${seen.size} ${seen.mtimeMs} ${seen.ctimeMs}` : '';
    if (mark !== known.mark) {
      const config = seen ? await readConfig(file, seen.size, log) : EMPTY;
      known = { mark, config };
    }
    return known.config;
  };
}

async function readConfig(file: string, size: number, log: Logger): Promise<DockerConfig> {
  try {
    if (size > MAX_FILE) throw new Error(`it is larger than ${MAX_FILE} bytes`);
    const value = JSON.parse(await readFile(file, 'utf8')) as Partial<DockerConfig> | null;
    const { credsStore } = value ?? {};
    return {
      auths: recordOf(value?.auths),
      credHelpers: recordOf(value?.credHelpers),
      ...(typeof credsStore === 'string' && credsStore !== '' && { credsStore }),
    };
  } catch (error) {
    // The parser quotes the text around a mistake, which may be a password.
    const why = error instanceof SyntaxError ? 'it is no JSON' : (error as Error).message;
    log.warn(`the registries of ${file} are not used: ${why}`);
    return EMPTY;
  }
}

const recordOf = <T>(value: Readonly<Record<string, T>> | undefined) =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? value : {};

/** Keys are hosts, or addresses such as `https://index.docker.io/v1/`. */
const hostOfKey = (key: string) =>
  canonicalHost(key.replace(/^https?:\/\//i, '').replace(/\/.*$/s, ''));

function entryFor<T>(record: Readonly<Record<string, T>>, host: string) {
  const entries = Object.entries(record).filter(([key]) => hostOfKey(key) === host);
  const [key, value] = entries.find(([each]) => each === host) ?? entries[0] ?? [];
  return key === undefined ? undefined : { key, value: value as T };
}

/** A helper of one host comes before the one for all hosts, as in Docker. */
const helperFor = ({ credHelpers, credsStore }: DockerConfig, host: string) =>
  entryFor(credHelpers, host)?.value ?? credsStore;

function toLogin(host: string, stored: StoredLogin): RegistryLogin | undefined {
  const text = typeof stored?.auth === 'string' ? decode(stored.auth) : '';
  const at = text.indexOf(':');
  const username = at > 0 ? text.slice(0, at) : (stored?.username ?? '');
  const password = at > 0 ? text.slice(at + 1) : (stored?.password ?? '');
  const identityToken = stored?.identitytoken ?? '';
  if (identityToken !== '') return { host, username, password: '', identityToken };
  return username === '' || password === '' ? undefined : { host, username, password };
}

/** Docker ends some passwords with NUL bytes. */
const decode = (text: string) => Buffer.from(text, 'base64').toString('utf8').replace(/\0+$/, '');
