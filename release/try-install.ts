import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { homedir, tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { fileURLToPath } from 'node:url';
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

/**
 * Installs the packs into empty folders as users would, and runs the tests of a generated project.
 */
export async function tryInstall(
  packs: readonly Pack[],
  print: (line: string) => void,
): Promise<string[]> {
  const home = await mkdtemp(join(tmpdir(), 'twofold-release-'));
  const registry = await serveRegistry(packs);
  const findings: string[] = [];
  try {
    const env = await environment(home, registry.url);
    await installPnpm(home, env);
    for (const manager of Object.keys(COMMANDS) as Manager[]) {
      const failed = await tryManager(manager, join(home, manager), env).catch(String);
      if (failed) findings.push(`${manager}: ${failed}`);
      else print(`${manager}: installed, init --template company, tests passed`);
    }
  } finally {
    await registry.close();
    await rm(home, { recursive: true, force: true });
  }
  return findings;
}

async function tryManager(
  manager: Manager,
  folder: string,
  env: NodeJS.ProcessEnv,
): Promise<undefined> {
  const { add, test } = COMMANDS[manager];
  await mkdir(folder);
  await writeFile(join(folder, 'package.json'), '{ "private": true, "type": "module" }\n');
  await runProgram(manager, [...add, '@twofold/generator'], { cwd: folder, env });
  const generator = join(folder, 'node_modules/.bin/generator');
  const words = ['init', 'shop', '--template', 'company', '--manager', manager];
  await runProgram(generator, words, { cwd: folder, env });
  await runProgram(manager, [...test], { cwd: join(folder, 'shop'), env });
  return undefined;
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

/** Installs the pinned pnpm, for machines without it. */
async function installPnpm(home: string, env: NodeJS.ProcessEnv): Promise<void> {
  const { dependencies } = JSON.parse(await readFile(MANAGERS, 'utf8')) as {
    dependencies: Record<string, string>;
  };
  const words = ['install', '--prefix', 'managers', '--no-audit', '--no-fund', '--no-package-lock'];
  await runProgram('npm', [...words, '--ignore-scripts', `pnpm@${dependencies['pnpm']}`], {
    cwd: home,
    env,
  });
  await runProgram('npm', ['rebuild', '--prefix', 'managers', 'pnpm'], { cwd: home, env });
}
