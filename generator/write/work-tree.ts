import { existsSync, lstatSync, realpathSync } from 'node:fs';
import { basename, dirname, isAbsolute, join, relative, resolve, sep } from 'node:path';

/**
 * The folder that a project belongs to, with links resolved: the work tree of Git around it, or
 * else the project's own folder.
 */
export function workTreeOf(root: string): { readonly path: string; readonly git: boolean } {
  const real = realPathOf(root);
  for (let folder = real; ; folder = dirname(folder)) {
    // A linked work tree and a submodule have a file of that name.
    if (existsSync(join(folder, '.git'))) return { path: folder, git: true };
    if (dirname(folder) === folder) return { path: real, git: false };
  }
}

/** Whether a path that a project names is in its work tree, with every link on the way resolved. */
export function isInWorkTree(root: string, path: string): boolean {
  const tree = workTreeOf(root).path;
  const real = realPathOf(resolve(root, path));
  return real === tree || isBelow(tree, real);
}

/**
 * Whether `path` is below `folder`. Git's own folder is not: files that were written there could
 * run as hooks.
 */
function isBelow(folder: string, path: string): boolean {
  const way = relative(folder, path);
  const parts = way.split(sep);
  return !isAbsolute(way) && parts[0] !== '..' && !parts.includes('.git');
}

/** The real path of a file that may not exist yet: that of the folder that does, and the rest. */
export function realPathOf(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    if (dirname(path) === path || isLink(path)) return path;
    return join(realPathOf(dirname(path)), basename(path));
  }
}

/** A link that leads nowhere counts as a place of its own: a write would follow it. */
function isLink(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() ?? false;
}
