import { cpSync, existsSync, mkdirSync, readdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join, relative, sep } from 'node:path';
import { planSources } from '../../pipeline.ts';
import { disk } from '../../write/disk.ts';
import type { Side } from '../side.ts';

/** Folders of a project that no compiler reads. */
const SKIPPED = new Set(['node_modules', '.git', '.generator', 'dist', 'data', 'coverage']);

/** Copies the texts of a project that a compiler reads. */
export function copyTexts(from: string, to: string): void {
  cpSync(from, to, {
    recursive: true,
    verbatimSymlinks: true,
    filter: (path) => {
      const name = path.slice(path.lastIndexOf(sep) + 1);
      return path === from || (!SKIPPED.has(name) && (!name.includes('.') || isText(name)));
    },
  });
}

const isText = (name: string) => /\.([cm]?[jt]sx?|json)$/.test(name) || name.startsWith('.');

/** Configurations above the project, which its own may extend. */
export function copySettings(from: string, to: string): void {
  mkdirSync(to, { recursive: true });
  for (const name of readdirSync(from))
    if (/^(tsconfig.*|package)\.json$/.test(name)) cpSync(join(from, name), join(to, name));
}

/**
 * Links each `node_modules` of the work tree into the copy, because the copy has no packages of its
 * own.
 */
export function linkPackages(levels: readonly (readonly [string, string])[]): void {
  for (const [from, to] of levels) {
    const [packages, link] = [join(from, 'node_modules'), join(to, 'node_modules')];
    if (existsSync(packages) && !existsSync(link)) symlinkSync(packages, link, 'junction');
  }
}

/** Each folder from the project up to the top, with its counterpart. */
export function levelsOf(
  project: string,
  top: string,
  copy: string,
): (readonly [string, string])[] {
  const names = relative(top, project).split(sep).filter(Boolean);
  return names.reduce(
    (levels, name) => [[join(levels[0]![0], name), join(levels[0]![1], name)], ...levels],
    [[top, copy]] as (readonly [string, string])[],
  );
}

/** Writes what a run would write now, so that the code meets the types of its own schema. */
export async function writeGenerated(side: Side, folder: string): Promise<void> {
  const { changes } = await planSources(
    { ...side.sources, root: folder },
    { force: true, client: false, codegen: false },
    disk,
  );
  for (const { path, after, owner } of changes) {
    if (after === null || (owner !== 'generated' && existsSync(join(folder, path)))) continue;
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), after);
  }
}
