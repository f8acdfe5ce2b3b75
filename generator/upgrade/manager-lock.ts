import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { cleanEnvironment } from '../commands/install.ts';
import { installedBy, type PackageManagerName } from '../commands/package-manager.ts';
import type { FileChange } from '../files.ts';
import { runProgram } from '../run-program.ts';

/** The lockfile of each package manager, and the arguments that write it and install nothing. */
const LOCKS: Readonly<Record<PackageManagerName, readonly [file: string, ...words: string[]]>> = {
  npm: [
    'package-lock.json',
    'install',
    '--package-lock-only',
    '--ignore-scripts',
    '--no-audit',
    '--no-fund',
  ],
  pnpm: [
    'pnpm-lock.yaml',
    'install',
    '--lockfile-only',
    '--ignore-scripts',
    '--no-frozen-lockfile',
  ],
  yarn: ['yarn.lock', 'install', '--mode=update-lockfile', '--no-immutable'],
  bun: ['bun.lock', 'install', '--lockfile-only', '--ignore-scripts'],
};

/** Settings of package managers that say which registry is asked, and how. */
const SETTINGS = ['.npmrc', 'pnpm-workspace.yaml', '.yarnrc.yml', 'bunfig.toml'];

/**
 * The project's lockfile for other packages, made in a temporary folder: so it is part of the same
 * transaction as `package.json`. None for a project without a lockfile of its own.
 *
 * @param changes what the upgrade changes: `package.json` and `vendor/`.
 * @throws CommandError `PROGRAM_FAILED` with the words of the package manager.
 */
export async function lockChange(
  root: string,
  changes: readonly FileChange[],
): Promise<FileChange | null> {
  const { name } = installedBy(root);
  const [file, ...words] = LOCKS[name];
  const packages = changes.filter(
    ({ path }) => path === 'package.json' || path.startsWith('vendor/'),
  );
  if (!existsSync(join(root, file)) || packages.every(({ kind }) => kind === 'same')) return null;
  const before = readFileSync(join(root, file), 'utf8');
  const folder = mkdtempSync(join(tmpdir(), 'twofold-lock-'));
  try {
    for (const each of [file, ...SETTINGS])
      if (existsSync(join(root, each))) copyFileSync(join(root, each), join(folder, each));
    for (const change of packages) writeTo(folder, change);
    await runProgram(name, words, { cwd: folder, env: cleanEnvironment() });
    const after = readFileSync(join(folder, file), 'utf8');
    const kind = after === before ? 'same' : 'update';
    return { path: file, owner: 'user', kind, before, after };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function writeTo(folder: string, { path, after, binary }: FileChange): void {
  if (after === null) return;
  mkdirSync(dirname(join(folder, path)), { recursive: true });
  writeFileSync(join(folder, path), after, binary ? 'latin1' : 'utf8');
}
