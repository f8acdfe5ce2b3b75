import { execFile } from 'node:child_process';
import { homedir } from 'node:os';
import type { Environment, Logger } from '@twofold/runtime/kernel';
import type { RegistryLogin } from '../engine/images.ts';

/** Milliseconds that a helper may take: some ask a cloud for a token. */
const TIMEOUT = 15_000;
const MAX_OUTPUT = 256 * 1024;
/** The user name with which a helper says that its secret is an identity token. */
const TOKEN_USER = '<token>';

interface Question {
  /** The name after `docker-credential-`. */
  readonly helper: string;
  /** The registry as Docker's settings name it. */
  readonly key: string;
  readonly host: string;
}

/**
 * Asks one of Docker's credential helpers, a program such as `docker-credential-ecr-login`, for the
 * user of a registry. It gets the registry on its standard input and answers in JSON. A helper that
 * fails counts as one without an answer.
 */
export async function askHelper(
  { helper, key, host }: Question,
  { env, log }: { readonly env: Environment; readonly log: Logger },
): Promise<RegistryLogin | undefined> {
  if (!/^[A-Za-z0-9][A-Za-z0-9._-]*$/.test(helper)) return undefined;
  try {
    return toLogin(host, JSON.parse(await run(`docker-credential-${helper}`, key, env)));
  } catch (error) {
    // The output is not logged: it may have a secret.
    const { code } = error as { readonly code?: unknown };
    const why = code === 'ENOENT' ? 'it is not installed' : `it ended with ${String(code)}`;
    log.warn(`docker-credential-${helper} has no user for ${host}: ${why}`);
    return undefined;
  }
}

function run(program: string, input: string, env: Environment): Promise<string> {
  return new Promise((resolve, reject) => {
    const child = execFile(
      program,
      ['get'],
      {
        env: { PATH: process.env['PATH'], HOME: homedir(), ...env },
        timeout: TIMEOUT,
        killSignal: 'SIGKILL',
        maxBuffer: MAX_OUTPUT,
      },
      (error, output) => (error ? reject(error) : resolve(output)),
    );
    // A helper that ends without reading its input is reported by its exit code.
    child.stdin?.on('error', () => {}).end(input);
  });
}

function toLogin(
  host: string,
  answer: { readonly Username?: unknown; readonly Secret?: unknown } | null,
): RegistryLogin | undefined {
  const { Username: username, Secret: secret } = answer ?? {};
  if (typeof username !== 'string' || typeof secret !== 'string' || secret === '') return undefined;
  return username === TOKEN_USER
    ? { host, username: '', password: '', identityToken: secret }
    : { host, username, password: secret };
}
