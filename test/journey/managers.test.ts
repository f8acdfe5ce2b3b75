import { execFile, spawn } from 'node:child_process';
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { query } from '../server/program.ts';
import { root } from '../source-files.ts';

const execute = promisify(execFile);
const home = mkdtempSync(join(tmpdir(), 'twofold-managers-'));
const managers = join(home, 'managers');

/** As a shell has it: the managers on the path, nothing of npm's or the tests' own settings. */
function environment(more: Record<string, string> = {}): Record<string, string> {
  const kept = Object.entries(process.env).filter(
    ([name]) => !/^(npm_|VITEST|NODE_ENV|PORT|HOST|DATABASE_URL|CI$)/.test(name),
  ) as [string, string][];
  const path = [join(managers, 'node_modules/.bin'), process.env['PATH']].join(delimiter);
  return { ...Object.fromEntries(kept), PATH: path, ...more };
}

beforeAll(async () => {
  cpSync(join(root, 'test/journey/managers'), managers, { recursive: true });
  // Without a lock: it would have to name programs for systems that the registry may lack.
  const words = ['install', '--no-package-lock', '--ignore-scripts', '--no-audit', '--no-fund'];
  await execute('npm', [...words, '--fetch-retries=5'], { cwd: managers, env: environment() });
  // They put their own program together at install.
  for (const name of ['bun', 'pnpm']) await execute('npm', ['rebuild', name], { cwd: managers });
});
afterAll(() => rmSync(home, { recursive: true, force: true }));

/** Runs a script of a project until it says where it listens; resolves with what `asked` does. */
async function whileServing<T>(
  cwd: string,
  [command, ...words]: readonly [string, ...string[]],
  asked: (url: string) => Promise<T>,
): Promise<T> {
  const child = spawn(command, words, {
    cwd,
    env: environment({ PORT: '0' }),
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
  });
  let text = '';
  const ended = new Promise<void>((resolve) => void child.once('close', () => resolve()));
  const url = new Promise<string>((resolve, reject) => {
    const read = (chunk: Buffer) => {
      text += chunk;
      const found = /listening on (http:\/\/[^\s"]+)/.exec(text)?.[1];
      if (found) resolve(found);
    };
    child.stdout.on('data', read);
    child.stderr.on('data', read);
    void ended.then(() => reject(new Error(`it ended before it listened:\n${text}`)));
  });
  try {
    return await asked(await url);
  } finally {
    process.kill(-(child.pid as number), 'SIGKILL');
    await ended;
  }
}

const START = {
  pnpm: ['pnpm', 'start'],
  yarn: ['yarn', 'start'],
  bun: ['bun', 'run', 'start'],
} as const;
const CHECK = {
  pnpm: ['pnpm', 'run', 'check'],
  yarn: ['yarn', 'run', 'check'],
  bun: ['bun', 'run', 'check'],
} as const;
const LOCKS = { pnpm: 'pnpm-lock.yaml', yarn: 'yarn.lock', bun: 'bun.lock' } as const;

describe.each(['pnpm', 'yarn', 'bun'] as const)('a project installed by %s', (name) => {
  const project = join(home, name);

  it('installs, is right and answers', async () => {
    // A try that failed, as a registry did not answer, leaves a part of the project behind.
    rmSync(project, { recursive: true, force: true });
    const words = ['generator/bin.js', 'init', project, '--template', 'blog', '--manager', name];
    await execute(process.execPath, words, { cwd: root, env: environment() });
    const [command, ...checking] = CHECK[name];
    await execute(command, checking, { cwd: project, env: environment() });
    const answer = await whileServing(project, START[name], (url) =>
      query(url, '{ __typename posts { title } }'),
    );
    expect(answer).toEqual({ data: { __typename: 'Query', posts: expect.any(Array) } });
  });

  it('takes our packages from the project, never from a registry', () => {
    const lock = readFileSync(join(project, LOCKS[name]), 'utf8');
    const ours = lock.split('\n').filter((line) => line.includes('@twofold/'));
    expect(ours.length).toBeGreaterThan(0);
    expect(ours.filter((line) => /https?:|@npm:0/.test(line))).toEqual([]);
    expect(readdirSync(project)).toContain('vendor');
  });
});

it('pnpm 10 installs the Node of a project that npm made', async () => {
  const project = join(home, 'made-by-npm');
  const words = ['generator/bin.js', 'init', project, '--manager', 'npm', '--no-install'];
  await execute(process.execPath, words, { cwd: root, env: environment() });
  const pnpm = join(managers, 'node_modules/pnpm-10/bin/pnpm.cjs');
  await execute(process.execPath, [pnpm, 'install'], { cwd: project, env: environment() });
  const node = join(project, 'node_modules/node/bin/node');
  const { stdout } = await execute(node, ['--version'], { env: environment() });
  const { devDependencies } = JSON.parse(readFileSync(join(project, 'package.json'), 'utf8'));
  expect(stdout.trim()).toBe(`v${devDependencies.node}`);
});
