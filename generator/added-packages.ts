import { CRONER } from '../templates/seeded/croner.ts';
import type { FileChange } from './files.ts';

/**
 * Packages that a run has added to `package.json`, because the manifest now asks for them, or a job
 * with a schedule.
 * Empty for a new project, where all packages still have to be installed.
 *
 * @example addedPackages(plan.changes) // ['@twofold/auth']
 */
export function addedPackages(changes: readonly FileChange[]): string[] {
  const change = changes.find(({ path, kind }) => path === 'package.json' && kind === 'update');
  if (!change) return [];
  const before = new Set(packagesOf(change.before));
  return packagesOf(change.after).filter((name) => !before.has(name));
}

interface PackageFile {
  readonly dependencies?: object;
  readonly devDependencies?: object;
}

/** Users may write anything into the file: a text that is not JSON has no packages. */
function packagesOf(text: string | null): string[] {
  try {
    const { dependencies, devDependencies } = JSON.parse(text ?? '{}') as PackageFile;
    return Object.keys({ ...dependencies, ...devDependencies }).filter(
      (name) => name.startsWith('@twofold/') || name === CRONER,
    );
  } catch {
    return [];
  }
}
