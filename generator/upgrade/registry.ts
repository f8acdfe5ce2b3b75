import { execFile, spawn } from 'node:child_process';
import { copyFileSync, existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { cleanEnvironment } from '../commands/install.ts';
import { CommandError } from '../failure.ts';
import { runProgram } from '../run-program.ts';
import type { Target } from './set-packages.ts';

/**
 * The version that the registry of a project has under a tag.
 *
 * @throws CommandError `REGISTRY` when npm cannot say it.
 */
export async function newestVersion(root: string, tag: string): Promise<string> {
  const words = ['view', `@twofold/generator@${tag}`, 'version'];
  try {
    const { stdout } = await promisify(execFile)('npm', words, {
      cwd: root,
      env: cleanEnvironment(),
    });
    return stdout.trim();
  } catch (error) {
    throw new CommandError('REGISTRY', {
      message: `the registry has no version ${tag} of @twofold/generator: ${lastLine(error)}`,
      fix: 'name a version or a folder with packs: --to VERSION|FOLDER',
    });
  }
}

const lastLine = (error: unknown) =>
  String((error as { stderr?: string }).stderr ?? error)
    .trim()
    .split('\n')
    .slice(0, 2)
    .join(' ');

/**
 * Runs the command with the generator of the target, which knows what its version changes. It is
 * installed in a temporary folder: the project is not touched before its transaction.
 *
 * @param words the arguments of the command line, after `upgrade`.
 * @returns the exit code of that program.
 */
export async function runTarget(
  root: string,
  target: Target,
  words: readonly string[],
): Promise<number> {
  const folder = mkdtempSync(join(tmpdir(), 'twofold-upgrade-'));
  try {
    const dependencies = Object.fromEntries(
      ['database', 'generator', 'runtime', 'schema'].map((short) => [
        `@twofold/${short}`,
        specOf(short, target),
      ]),
    );
    writeFileSync(join(folder, 'package.json'), JSON.stringify({ private: true, dependencies }));
    if (existsSync(join(root, '.npmrc')))
      copyFileSync(join(root, '.npmrc'), join(folder, '.npmrc'));
    const install = ['install', '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error'];
    await runProgram('npm', install, { cwd: folder, env: cleanEnvironment() });
    return await runIn(folder, words);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function specOf(short: string, { version, packs }: Target): string {
  const pack = packs?.names.find((each) => each.short === short);
  return packs && pack ? `file:${join(packs.folder, pack.file)}` : version;
}

async function runIn(folder: string, words: readonly string[]): Promise<number> {
  const program = join(folder, 'node_modules/@twofold/generator/generator/bin.js');
  const child = spawn(process.execPath, [program, 'upgrade', ...words], { stdio: 'inherit' });
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code) => resolve(code ?? 1));
  });
}
