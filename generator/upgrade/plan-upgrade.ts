import { join } from 'node:path';
import { newDefaultsOf, type ChangedDefault, type SourceText, lookUp } from '@twofold/schema';
import { readdirSync, readFileSync } from 'node:fs';
import type { FileChange, Sources } from '../files.ts';
import { planSources, type RunPlan } from '../pipeline.ts';
import { readSources } from '../read.ts';
import type { Disk } from '../write/disk.ts';
import { newPath } from '../write/scaffold.ts';
import {
  breakingEntries,
  readChangelog,
  touchingEntries,
  type TouchingEntry,
} from './changelog.ts';
import { lockChange } from './manager-lock.ts';
import { runCodemods, type CodemodNote, type CodemodRun } from './run-codemods.ts';
import { sourceOf, vendorChanges, withPackages, type Target } from './set-packages.ts';
import type { Range } from './versions.ts';
import type { ProjectText } from './codemod.ts';

/** An upgrade up to its last step: nothing is written. */
export interface UpgradePlan {
  readonly run: RunPlan;
  readonly changes: readonly FileChange[];
  readonly codemods: readonly CodemodNote[];
  readonly byHand: readonly CodemodNote[];
  readonly breaking: readonly TouchingEntry[];
  /** Entries of the changelog that break other projects. */
  readonly otherBreaking: number;
  readonly defaults: readonly ChangedDefault[];
}

export interface UpgradeInput {
  readonly root: string;
  readonly range: Range;
  readonly target: Target;
  /** Whether the lockfile of the package manager is made too; it asks the registry. */
  readonly lock: boolean;
}

/**
 * Plans all steps over the texts that the steps before them give: packages, codemods, generated
 * files and the merge of the scaffold.
 */
export async function planUpgrade(
  { root, range, target, lock }: UpgradeInput,
  disk: Disk,
): Promise<UpgradePlan> {
  const files = readProjectTexts(root);
  const modified = await runCodemods(files, range);
  const packages = await packagesOf(root, { target, modified, disk });
  const texts = new Map([...modified.texts, ...packages.texts]);
  const sources = withTexts(await readSources(root), texts, target);
  const run = await planSources(sources, {}, withOverlay(disk, root, texts));
  const changes = await combine(root, { run, texts, disk });
  const all = run.project === null ? [] : [...changes, ...vendorChanges(root, target)];
  const locked = lock && run.project !== null ? await lockChange(root, all) : null;
  const entries = breakingEntries(readChangelog(), range);
  const breaking = touchingEntries(entries, files);
  return {
    run,
    changes: [...all, ...(locked ? [locked] : [])],
    codemods: modified.done,
    byHand: [...modified.byHand, ...packages.byHand, ...conflictsOf(changes)],
    breaking,
    otherBreaking: entries.length - breaking.length,
    defaults: newDefaultsOf(await settingsOf(sources.manifest)),
  };
}

interface Overlaid {
  readonly target: Target;
  readonly modified: CodemodRun;
  readonly disk: Disk;
}

async function packagesOf(
  root: string,
  { target, modified, disk }: Overlaid,
): Promise<{ readonly texts: Map<string, string>; readonly byHand: readonly CodemodNote[] }> {
  const path = 'package.json';
  const before = modified.texts.get(path) ?? (await disk.read(join(root, path)));
  if (before === null) return { texts: new Map(), byHand: [] };
  const { text, byHand } = withPackages(before, target);
  return { texts: new Map(text === before ? [] : [[path, text]]), byHand };
}

/** The inputs as the codemods and the new packages leave them. */
function withTexts(sources: Sources, texts: ReadonlyMap<string, string>, target: Target): Sources {
  const replaced = (source: SourceText): SourceText => ({
    ...source,
    text: texts.get(source.file) ?? source.text,
  });
  const { pages, documents, manifest } = sources;
  return {
    ...sources,
    schema: sources.schema.map(replaced),
    manifest: manifest && replaced(manifest),
    resolvers: sources.resolvers.map(replaced),
    otherUserTexts: sources.otherUserTexts.map(replaced),
    migrations: sources.migrations.map(replaced),
    ...(pages && { pages: { ...pages, texts: pages.texts.map(replaced) } }),
    ...(documents && { documents }),
    scalars: texts.get('src/scalars.ts') ?? sources.scalars,
    packages: sourceOf(target),
  };
}

/** The disk with other texts of some files; nothing is written to it. */
function withOverlay(disk: Disk, root: string, texts: ReadonlyMap<string, string>): Disk {
  const byPath = new Map([...texts].map(([path, text]) => [join(root, path), text]));
  return {
    ...disk,
    read: async (path, encoding) => byPath.get(path) ?? (await disk.read(path, encoding)),
  };
}

/** The changes of the run, from the texts that are on disk, and those that no run makes. */
async function combine(
  root: string,
  {
    run,
    texts,
    disk,
  }: {
    readonly run: RunPlan;
    readonly texts: ReadonlyMap<string, string>;
    readonly disk: Disk;
  },
): Promise<FileChange[]> {
  if (run.project === null) return [];
  const planned = run.changes.map(async (change): Promise<FileChange> => {
    if (!texts.has(change.path)) return change;
    const before = await disk.read(join(root, change.path));
    const after = change.kind === 'same' ? lookUp(texts, change.path) : change.after;
    return { ...change, before, after, kind: before === after ? 'same' : 'update' };
  });
  const known = new Set(run.changes.map(({ path }) => path));
  const others = [...texts]
    .filter(([path]) => !known.has(path))
    .map(async ([path, after]): Promise<FileChange> => {
      const before = await disk.read(join(root, path));
      return { path, owner: 'user', kind: 'update', before, after };
    });
  return Promise.all([...planned, ...others]);
}

/** Merges that wait in a `.new` file, at their first conflict. */
function conflictsOf(changes: readonly FileChange[]): CodemodNote[] {
  return changes
    .filter(({ kind }) => kind === 'conflict')
    .map(({ path, after }) => {
      const lines = (after ?? '').split('\n');
      const line = lines.findIndex((each) => each.startsWith('<<<<<<<')) + 1;
      const file = path.replace(/\.new$/, '');
      return {
        codemod: 'merge',
        file: newPath(file),
        line: Math.max(1, line),
        what: `${file} and the new version changed the same lines: take over what you want, then remove this file`,
      };
    });
}

async function settingsOf(manifest: SourceText | null): Promise<Readonly<Record<string, unknown>>> {
  const { parse } = await import('yaml');
  try {
    const value = parse(manifest?.text ?? '') as unknown;
    return typeof value === 'object' && value !== null ? { ...value } : {};
  } catch {
    return {}; // A finding says what is wrong with it.
  }
}

/** Folders that hold nothing of the user's, or nothing that is text. */
const LEFT_OUT = new Set(['node_modules', '.git', '.generator', 'vendor', 'data', 'dist']);
const GENERATED = 'src/generated';
const TEXT =
  /\.(?:[cm]?[jt]sx?|json|ya?ml|graphql|gql|sql|md|html|vue|svelte)$|(?:^|\/)Dockerfile$/;
/** Bytes above which a file is data, and not code. */
const LARGEST = 1 << 20;

/**
 * The user's text files below the project's folder, sorted by path. Files that are not UTF-8 are
 * left out: an edit could not keep their other bytes. Links are not followed.
 */
function readProjectTexts(root: string, folder = ''): ProjectText[] {
  const entries = readdirSync(join(root, folder), { withFileTypes: true });
  return entries
    .toSorted((a, b) => (a.name < b.name ? -1 : 1))
    .flatMap((entry) => {
      const path = folder === '' ? entry.name : `${folder}/${entry.name}`;
      if (entry.isDirectory())
        return LEFT_OUT.has(entry.name) || path === GENERATED ? [] : readProjectTexts(root, path);
      const text = entry.isFile() && TEXT.test(path) ? readText(join(root, path)) : null;
      return text === null ? [] : [{ path, text }];
    });
}

function readText(path: string): string | null {
  const bytes = readFileSync(path);
  if (bytes.length > LARGEST) return null;
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return null;
  }
}
