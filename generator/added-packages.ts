import type { FileChange } from './files.ts';

/**
 * Packages of ours that a run has added to `package.json`, as the manifest asks for them since. Empty for a new project,
 * whose packages are all still to be installed.
 *
 * @example addedPackages(plan.changes) // ['@twofold/auth']
 */
export function addedPackages(changes: readonly FileChange[]): string[] {
  const change = changes.find(({ path, kind }) => path === 'package.json' && kind === 'update');
  if (!change) return [];
  const before = new Set(packagesOf(change.before));
  return packagesOf(change.after).filter((name) => !before.has(name));
}

/** The user's text may be anything; one that is no JSON has no packages. */
function packagesOf(text: string | null): string[] {
  try {
    const { dependencies } = JSON.parse(text ?? '{}') as { dependencies?: object };
    return Object.keys(dependencies ?? {}).filter((name) => name.startsWith('@twofold/'));
  } catch {
    return [];
  }
}
