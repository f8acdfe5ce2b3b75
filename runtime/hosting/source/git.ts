import { spawn } from 'node:child_process';
import { readdir, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { failure } from '@twofold/runtime/errors';
import type { PublicKey } from '../ssh/keys.ts';
import { createSshSession, type SshAccess, type SshSession } from '../ssh/ssh-session.ts';
import { assertGitRef, type GitPolicy, parseGitUrl, resolveGitHost } from './git-url.ts';
import { makeFolder } from './leftovers.ts';

export interface GitRequest {
  readonly url: string;
  /** A branch, tag or commit. The default is the remote's default branch. */
  readonly ref?: string;
  readonly token?: string;
  /** For `ssh:`. */
  readonly ssh?: SshAccess;
}

export interface GitOptions {
  readonly policy: GitPolicy;
  readonly signal: AbortSignal;
  readonly onLine: (line: string) => void;
  /** The most bytes that the fetched repository may have. */
  readonly limit: number;
}

/** A fetched commit. `archive` is a tar of its files. */
export interface Fetched {
  readonly commit: string;
  /** The key of the host, if git spoke SSH. */
  readonly hostKey: PublicKey | null;
  archive(): AsyncIterable<Buffer>;
  remove(): Promise<void>;
}

const NO_ACCESS: SshAccess = { privateKey: undefined, pinned: undefined };
const TIMEOUT = 5 * 60_000;

/**
 * Fetches one commit without a work tree, so that nothing of the repository is checked out or run:
 * no hooks, filters, submodules or links on our disk. git gets the token from an askpass program,
 * so it never appears in an argument or a URL.
 *
 * @throws AppError 400 for an address or name that is not taken, 422 when git cannot fetch it.
 */
export async function fetchGit(request: GitRequest, options: GitOptions): Promise<Fetched> {
  const parsed = parseGitUrl(request.url, options.policy);
  if (request.ref !== undefined) assertGitRef(request.ref);
  const address = await resolveGitHost(parsed, options.policy);
  const folder = await makeFolder('git');
  const remove = () => rm(folder, { recursive: true, force: true });
  try {
    const ssh =
      parsed.protocol === 'ssh:'
        ? await createSshSession(folder, { ...parsed, address }, request.ssh ?? NO_ACCESS)
        : null;
    const env = await environment(folder, { token: request.token, ssh });
    const pin =
      parsed.protocol === 'ssh:'
        ? []
        : ['-c', `http.curloptResolve=${parsed.host}:${parsed.port}:${address}`];
    const git = (...args: string[]) =>
      run(['-C', folder, ...SAFE_OPTIONS, ...pin, ...args], { env, folder, ...options });
    await git('init', '--bare', '--quiet');
    await git(
      'fetch',
      '--depth',
      '1',
      '--no-tags',
      '--no-recurse-submodules',
      '--end-of-options',
      parsed.url,
      request.ref ?? 'HEAD',
    ).catch(async (error) => {
      throw (!options.signal.aborted && (await ssh?.explain())) || error;
    });
    const hostKey = (await ssh?.hostKey()) ?? null;
    const commit = (await git('rev-parse', '--verify', 'FETCH_HEAD^{commit}')).trim();
    return { commit, hostKey, remove, archive: () => archive(folder, commit, env) };
  } catch (error) {
    await remove();
    throw error;
  }
}

const SAFE_OPTIONS = [
  '-c',
  'http.followRedirects=false',
  '-c',
  'core.hooksPath=/dev/null',
  '-c',
  'protocol.file.allow=never',
  '-c',
  'fetch.fsckObjects=true',
  '-c',
  'gc.auto=0',
  '-c',
  'core.attributesFile=/dev/null',
  '-c',
  'credential.helper=',
];

/** Passes only `PATH` and `SSL_CERT_FILE` of this process's environment to git. */
async function environment(
  folder: string,
  { token, ssh }: { token: string | undefined; ssh: SshSession | null },
): Promise<NodeJS.ProcessEnv> {
  const askpass = join(folder, 'askpass');
  await writeFile(
    askpass,
    '#!/bin/sh\ncase "$1" in Username*) echo x-access-token;; *) printf "%s\\n" "$TWOFOLD_GIT_TOKEN";; esac\n',
    { mode: 0o700 },
  );
  return {
    PATH: process.env['PATH'],
    HOME: folder,
    LC_ALL: 'C',
    GIT_ALLOW_PROTOCOL: 'https:http:ssh',
    GIT_TERMINAL_PROMPT: '0',
    GIT_CONFIG_NOSYSTEM: '1',
    GIT_CONFIG_GLOBAL: '/dev/null',
    GIT_LFS_SKIP_SMUDGE: '1',
    ...(ssh && { GIT_SSH_COMMAND: ssh.command }),
    GIT_ASKPASS: askpass,
    TWOFOLD_GIT_TOKEN: token ?? '',
    ...(process.env['SSL_CERT_FILE'] && {
      SSL_CERT_FILE: process.env['SSL_CERT_FILE'],
      GIT_SSL_CAINFO: process.env['SSL_CERT_FILE'],
    }),
  };
}

interface Run extends GitOptions {
  readonly env: NodeJS.ProcessEnv;
  readonly folder: string;
}

function run(
  args: readonly string[],
  { env, folder, signal, onLine, limit }: Run,
): Promise<string> {
  return new Promise((resolve, reject) => {
    const child = spawn('git', args, {
      env,
      stdio: ['ignore', 'pipe', 'pipe'],
      signal,
      timeout: TIMEOUT,
      killSignal: 'SIGKILL',
    });
    const watch = setInterval(
      () => void sizeOf(folder).then((bytes) => bytes > limit && child.kill('SIGKILL')),
      1000,
    );
    let output = '';
    let said = '';
    child.stdout
      .setEncoding('utf8')
      .on('data', (text: string) => (output = (output + text).slice(-10_000)));
    child.stderr
      .setEncoding('utf8')
      .on('data', (text: string) => (said = (said + text).slice(-2000)));
    child.on('error', (error: NodeJS.ErrnoException) => {
      clearInterval(watch);
      reject(
        error.code === 'ENOENT'
          ? failure.unavailable('git is not installed on this server')
          : failure.unprocessable('The repository cannot be fetched: cancelled'),
      );
    });
    child.on('close', (code) => {
      clearInterval(watch);
      for (const line of said.split('\n')) if (line.trim() !== '') onLine(line);
      if (code === 0) resolve(output);
      else
        reject(
          failure.unprocessable(`The repository cannot be fetched: ${lastOutput(said, code)}`),
        );
    });
  });
}

const lastOutput = (said: string, code: number | null) =>
  said
    .trim()
    .split('\n')
    .at(-1)
    ?.replace(/^fatal: /, '') ||
  (code === null ? 'it took too long or is too large' : `git ended with ${code}`);

async function* archive(
  folder: string,
  commit: string,
  env: NodeJS.ProcessEnv,
): AsyncGenerator<Buffer> {
  const child = spawn('git', ['-C', folder, ...SAFE_OPTIONS, 'archive', '--format=tar', commit], {
    env,
    stdio: ['ignore', 'pipe', 'ignore'],
    timeout: TIMEOUT,
  });
  const ended = new Promise<number | null>((resolve) =>
    child.on('close', resolve).on('error', () => resolve(-1)),
  );
  try {
    for await (const chunk of child.stdout) yield chunk as Buffer;
    if ((await ended) !== 0) throw failure.unprocessable('The repository cannot be read');
  } finally {
    child.kill('SIGKILL');
  }
}

async function sizeOf(folder: string): Promise<number> {
  const names = await readdir(folder, { recursive: true }).catch(() => []);
  const sizes = await Promise.all(
    names.map(async (name) => (await stat(join(folder, name)).catch(() => ({ size: 0 }))).size),
  );
  return sizes.reduce((sum, size) => sum + size, 0);
}
