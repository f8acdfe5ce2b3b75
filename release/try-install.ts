import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { homedir, tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { runProgram } from '../generator/run-program.ts';
import type { Pack } from './read-pack.ts';
import { serveRegistry } from './registry.ts';

const MANAGERS = fileURLToPath(new URL('../test/journey/managers/package.json', import.meta.url));

/** The arguments that add a package to a folder, and those that run the tests of a project. */
const COMMANDS = {
  npm: { add: ['install', '--no-audit', '--no-fund'], test: ['test'] },
  pnpm: { add: ['add'], test: ['test'] },
} as const;

type Manager = keyof typeof COMMANDS;

/** A Node and a package manager with which the packs are tried. */
interface Trial {
  readonly manager: Manager;
  /** `newest`: what the package `node` has as its latest version. */
  readonly node: 'ours' | 'newest';
}

export interface InstallTrial {
  /** Also tries the newest Node; without it only the one that runs. */
  readonly newestNode: boolean;
  readonly print: (line: string) => void;
}

/**
 * Installs `create-twofold` into empty folders as users would, makes a project with it and runs the
 * tests of the project: with each package manager, and on each Node.
 *
 * @returns what failed.
 */
export async function tryInstall(
  packs: readonly Pack[],
  { newestNode, print }: InstallTrial,
): Promise<string[]> {
  const home = await mkdtemp(join(tmpdir(), 'twofold-release-'));
  const registry = await serveRegistry(packs);
  const findings: string[] = [];
  try {
    const env = await environment(home, registry.url);
    await installPrograms(home, env, newestNode);
    const file = packs.find(({ manifest }) => manifest.name === CREATE);
    if (file) await writeFile(join(home, file.file), file.bytes);
    for (const node of newestNode ? (['ours', 'newest'] as const) : (['ours'] as const))
      for (const manager of Object.keys(COMMANDS) as Manager[])
        findings.push(
          ...(await tryOne({ manager, node }, { home, env, file: file?.file ?? CREATE, print })),
        );
  } finally {
    await registry.close();
    await rm(home, { recursive: true, force: true });
  }
  return findings;
}

const CREATE = 'create-twofold';

interface Bench {
  readonly home: string;
  readonly env: NodeJS.ProcessEnv;
  /** The tarball of `create-twofold`. */
  readonly file: string;
  readonly print: (line: string) => void;
}

async function tryOne(trial: Trial, bench: Bench): Promise<string[]> {
  const env = trial.node === 'ours' ? bench.env : withNewestNode(bench);
  const version = await versionOfNode(env);
  const title = `${trial.manager} on Node ${version}`;
  try {
    await makeAndTest(trial, { ...bench, env });
    bench.print(`${title}: create-twofold shop --template company, tests passed`);
    return [];
  } catch (error) {
    return [`${title}: ${String(error)}`];
  }
}

async function makeAndTest({ manager, node }: Trial, { home, env, file }: Bench): Promise<void> {
  const { add, test } = COMMANDS[manager];
  const folder = join(home, `${manager}-${node}`);
  await mkdir(folder);
  await writeFile(join(folder, 'package.json'), '{ "private": true, "type": "module" }\n');
  await runProgram(manager, [...add, join(home, file)], { cwd: folder, env });
  const create = join(folder, 'node_modules/.bin', CREATE);
  const words = ['shop', '--template', 'company', '--manager', manager];
  const shop = join(folder, 'shop');
  if (node === 'ours') await runProgram(create, words, { cwd: folder, env });
  else {
    await runProgram(create, [...words, '--no-install'], { cwd: folder, env });
    await leaveOutNode(shop);
    await runProgram(manager, ['install'], { cwd: shop, env });
  }
  await runProgram(manager, [...test], { cwd: shop, env });
}

/** A project has a Node of its own, which its scripts would use in place of the newest one. */
async function leaveOutNode(shop: string): Promise<void> {
  const path = join(shop, 'package.json');
  const manifest = JSON.parse(await readFile(path, 'utf8')) as {
    devDependencies: Record<string, string>;
  };
  delete manifest.devDependencies['node'];
  await writeFile(path, `${JSON.stringify(manifest, null, 2)}\n`);
}

const withNewestNode = ({ home, env }: Bench): NodeJS.ProcessEnv => ({
  ...env,
  PATH: [join(home, 'newest/node_modules/.bin'), env['PATH']].join(delimiter),
});

async function versionOfNode(env: NodeJS.ProcessEnv): Promise<string> {
  const { stdout } = await promisify(execFile)('node', ['--version'], { env });
  return stdout.trim().slice(1);
}

/** Our packages come from the local registry; all others from their usual one. */
async function environment(home: string, url: string): Promise<NodeJS.ProcessEnv> {
  const file = process.env['NPM_CONFIG_USERCONFIG'] ?? join(homedir(), '.npmrc');
  const existing = await readFile(file, 'utf8').catch(() => '');
  const settings = join(home, 'npmrc');
  await writeFile(settings, `${existing}\n@twofold:registry=${url}\n`);
  const kept = Object.entries(process.env).filter(
    ([name]) => !/^(npm_(?!config_registry)|NODE_ENV|PORT|HOST|DATABASE_URL|VITEST)/.test(name),
  );
  const path = [join(home, 'managers/node_modules/.bin'), process.env['PATH']].join(delimiter);
  return { ...Object.fromEntries(kept), PATH: path, NPM_CONFIG_USERCONFIG: settings };
}

/** Installs the pinned pnpm, for machines without it, and the newest Node. */
async function installPrograms(
  home: string,
  env: NodeJS.ProcessEnv,
  newestNode: boolean,
): Promise<void> {
  const { dependencies } = JSON.parse(await readFile(MANAGERS, 'utf8')) as {
    dependencies: Record<string, string>;
  };
  await installProgram('managers', `pnpm@${dependencies['pnpm']}`, { home, env });
  if (newestNode) await installProgram('newest', 'node@latest', { home, env });
}

/** Its install script puts the program together; scripts of other packages do not run. */
async function installProgram(
  folder: string,
  program: string,
  { home, env }: Pick<Bench, 'home' | 'env'>,
): Promise<void> {
  const words = ['install', '--prefix', folder, '--no-audit', '--no-fund', '--no-package-lock'];
  await runProgram('npm', [...words, '--ignore-scripts', program], { cwd: home, env });
  const name = program.split('@')[0] as string;
  await runProgram('npm', ['rebuild', '--prefix', folder, name], { cwd: home, env });
}
