import { lookUp } from '@twofold/schema';
import { isAbsolute, join, posix, relative, resolve } from 'node:path';
import type { Diagnostic, Project } from '@twofold/schema';
import { typeNamesOf } from '../../templates/owned/type-names.ts';
import { type PlannedFile, type Sources, TYPES_FILE } from '../files.ts';
import { takenTypes } from '../taken-types.ts';
import { type Disk, hasCode } from '../write/disk.ts';
import { LOCKFILE, parseLock } from '../write/lockfile.ts';
import { isInWorkTree } from '../write/work-tree.ts';
import { cachedFiles, type CodegenCache, type MadeEntry, printCache, readCache } from './cache.ts';
import type {
  CodegenDocument,
  CodegenEntry,
  CodegenFailure,
  CodegenFile,
  CodegenResult,
} from './entry.ts';
import { needsFrontEnd } from './front-end.ts';
import { inputsKey, type NamedPackages, namedPackages } from './inputs-key.ts';
import { packageFor } from './resolve-plugin.ts';
import { readEntries } from './read-entries.ts';
import { isTypesEntry, renamed, withOurNames } from './types-entry.ts';

/** The changes that `codegen:` adds to a run. */
export interface CodegenPlan {
  readonly files: readonly PlannedFile[];
  /** What an entry for `src/generated/types.ts` printed. Null until it has run; absent without one. */
  readonly types?: string | null;
  readonly findings: readonly Diagnostic[];
  /** The text of the cache after this run; null where nothing was made. */
  readonly cache: string | null;
  /** Whether a path of the lockfile is an output of an entry that made nothing in this run. */
  readonly isKept: (path: string) => boolean;
}

export interface CodegenOptions {
  readonly disk: Disk;
  /** The files that this run makes itself: no entry may name one. */
  readonly ours: ReadonlySet<string>;
  /** `false`: outputs for which `needsFrontEnd` is true stay as they are. */
  readonly client?: boolean;
  /** See `RunOptions.codegen`. */
  readonly mode?: false | (() => void);
  /** Milliseconds for one entry. */
  readonly timeLimit?: number;
}

/** Plans the outputs of all entries. An entry without changes takes its output from the cache. */
export async function planCodegen(
  project: Project,
  sources: Sources,
  options: CodegenOptions,
): Promise<CodegenPlan | undefined> {
  const all = (await readEntries(sources.manifest)).map((entry) => withOurNames(entry, project));
  if (all.length === 0) return undefined;
  const printsTypes = all.some(isTypesEntry);
  const { root } = sources;
  const cache = await readCache(root, options.disk);
  const others =
    options.client === false ? all.filter((each) => needsFrontEnd(each, project.clients)) : [];
  const entries = all.filter((each) => !others.includes(each));
  const stop = (findings: readonly Diagnostic[]): CodegenPlan => ({
    files: [],
    ...(printsTypes && { types: null }),
    findings,
    cache: null,
    isKept: isOutputOf(cache, all),
  });
  const asked = await askedFor(project, sources, { entries, cache, disk: options.disk });
  const early = asked.flatMap(({ entry, packages, key }) => [
    ...missingFindings(entry, packages.missing),
    ...(isTypesEntry(entry) ? clashFindings(entry, project) : []),
    ...(settled.has(key) ? [] : placeFindings(entry, root, options.ours)),
  ]);
  if (early.length > 0) return stop(early);
  const failures = await makeMissing({ root, sdl: project.sdl, asked, ...options });
  if (failures === null) return stop([]);
  if (failures.length > 0) return stop(failures);
  const made = asked.map(({ entry: { path }, key, files }): MadeEntry => ({
    path,
    key,
    files: files ?? lookUp(known, key),
  }));
  const taken = await takenFindings(made, { entries, root, ...options });
  if (taken.length > 0) return stop(taken);
  for (const { key, files } of made) {
    known.set(key, files);
    settled.add(key);
  }
  const files = made.flatMap((each) => each.files);
  const types = files.find(({ path }) => path === TYPES_FILE);
  return {
    findings: [],
    cache: printCache(
      made,
      others.map(({ path }) => path),
      cache,
    ),
    isKept: isOutputOf(cache, others),
    // Without the documents that they need, the types on disk stay.
    ...((types || printsTypes) && { types: types?.text ?? null }),
    files: files
      .filter((file) => file !== types)
      .map(({ path, text }) => ({ path, owner: 'generated', render: () => text })),
  };
}

interface Asked {
  readonly entry: CodegenEntry;
  readonly documents: readonly CodegenDocument[];
  readonly packages: NamedPackages;
  readonly key: string;
  /** Null where the plugins have to run. */
  readonly files: MadeEntry['files'] | null;
}

function askedFor(
  { sdl }: Project,
  sources: Sources,
  { entries, cache, disk }: { entries: readonly CodegenEntry[]; cache: CodegenCache; disk: Disk },
): Promise<Asked[]> {
  const { root } = sources;
  return Promise.all(
    entries.map(async (entry) => {
      const documents = await documentsOf(entry, sources);
      const packages = namedPackages(root, entry);
      const key = inputsKey({ root, sdl, entry, documents, packages });
      const onDisk = () => cachedFiles(root, cache.get(entry.path), { key, disk });
      return { entry, documents, packages, key, files: known.get(key) ?? (await onDisk()) };
    }),
  );
}

interface Making extends CodegenOptions {
  readonly root: string;
  readonly sdl: string;
  readonly asked: readonly Asked[];
}

/** Runs the plugins whose outputs are missing. Null if they run after this run, or not at all. */
async function makeMissing(making: Making): Promise<readonly Diagnostic[] | null> {
  const { asked, mode } = making;
  const missing = asked.filter(({ files }) => files === null);
  if (missing.length === 0) return [];
  if (mode === false) return null;
  if (mode === undefined) return findingsOf(missing, await runMissing(missing, making));
  const old = missing.filter(({ key }) => failed.has(key));
  if (old.length > 0) return old.map(({ entry, key }) => failedFinding(entry, lookUp(failed, key)));
  const keys = missing.map(({ key }) => key).join();
  if (running.has(keys)) return null;
  running.add(keys);
  void runMissing(missing, making)
    .finally(() => running.delete(keys))
    .then(mode);
  return null;
}

/** Failures of the inputs that this process ran already: `dev` does not run them at each save. */
const failed = new Map<string, CodegenFailure>();
const running = new Set<string>();

async function runMissing(
  missing: readonly Asked[],
  { root, sdl, timeLimit }: Making,
): Promise<readonly CodegenResult[]> {
  const { runPlugins } = await import('./run-plugins.ts');
  const entries = missing.map(({ entry, documents }) => ({ entry, documents }));
  const results = await runPlugins({ root, sdl, entries }, timeLimit);
  const isWhole = results.every((result) => 'files' in result);
  for (const [at, { key }] of missing.entries()) {
    const result = results[at]!;
    if ('failure' in result) failed.set(key, result.failure);
    else if (isWhole)
      known.set(
        key,
        result.files.map((file) => relativeTo(root, file)),
      );
  }
  return results;
}

const findingsOf = (missing: readonly Asked[], results: readonly CodegenResult[]): Diagnostic[] =>
  results.flatMap((result, at) =>
    'failure' in result ? [failedFinding(missing[at]!.entry, result.failure)] : [],
  );

/** Keys whose outputs lie where they may, by an earlier run of this process. */
const settled = new Set<string>();

/** The outputs that this process made, so that a save does not read the files again. */
const known = new Map<string, MadeEntry['files']>();

/** A preset may name a file by its absolute path. */
function relativeTo(root: string, { path: printed, text }: CodegenFile): CodegenFile {
  const inRoot = isAbsolute(printed) ? relative(root, printed) : printed;
  const path = posix.normalize(inRoot.replaceAll('\\', '/'));
  return path === TYPES_FILE ? renamed({ path, text }) : { path, text };
}

/** The documents of an entry, sorted by their place as graphql-codegen does it. */
async function documentsOf(entry: CodegenEntry, sources: Sources): Promise<CodegenDocument[]> {
  const { root } = sources;
  const read = entry.documents
    ? [await readOwn(entry, root, entry.documents)]
    : (sources.documents ?? []);
  return read
    .flatMap(({ texts }) => texts)
    .filter(({ isStatic }) => isStatic)
    .map(({ file, text }) => ({ location: resolve(root, file), text }))
    .toSorted((a, b) => (a.location < b.location ? -1 : a.location > b.location ? 1 : 0));
}

async function readOwn({ path }: CodegenEntry, root: string, globs: readonly string[]) {
  const { readGlobs } = await import('../documents/read-documents.ts');
  const output = posix.normalize(path);
  return readGlobs(
    root,
    globs,
    (file) => file === output || file.startsWith(posix.join(output, '/')),
  );
}

const entryAt = (entries: readonly CodegenEntry[], path: string): CodegenEntry =>
  entries.find((entry) => entry.path === path)!;

function finding(
  { at }: CodegenEntry,
  code: string,
  summary: string,
  advice: Pick<Diagnostic, 'why' | 'fix'>,
): Diagnostic {
  return { code, severity: 'error', summary, ...advice, at: { file: 'manifest.yaml', ...at } };
}

function missingFindings(
  entry: CodegenEntry,
  missing: readonly { readonly kind: 'plugin' | 'preset'; readonly name: string }[],
): Diagnostic[] {
  return missing.map(({ kind, name }) =>
    finding(
      entry,
      'CODEGEN_PACKAGE_MISSING',
      `the ${kind} ${name} of ${entry.path} is not installed`,
      {
        fix: /^\.{0,2}\//.test(name)
          ? `write the file ${name}`
          : `npm install -D ${packageFor(kind, name)}`,
      },
    ),
  );
}

/** In `types.ts` a type of the schema may have the name of another type of the file. */
function clashFindings(entry: CodegenEntry, project: Project): Diagnostic[] {
  return takenTypes(project.sdl, typeNamesOf(project.sdl)).map(([, name]) =>
    finding(
      entry,
      'CODEGEN_FAILED',
      `the type ${name} of the schema has the name of another type in ${TYPES_FILE}`,
      {
        why: 'our own types get another name then, which plugins cannot give',
        fix: `rename ${name}, or remove the entry`,
      },
    ),
  );
}

function placeFindings(entry: CodegenEntry, root: string, ours: ReadonlySet<string>): Diagnostic[] {
  if (isTypesEntry(entry)) return [];
  if (!isInWorkTree(root, entry.path))
    return [
      finding(entry, 'CODEGEN_PATH_OUTSIDE', `${entry.path} is outside of the git work tree`, {
        why: 'only files of the project and of its work tree are written',
        fix: 'name a path inside; without git, one inside the project',
      }),
    ];
  if (!ours.has(posix.normalize(entry.path))) return [];
  return [
    finding(entry, 'CODEGEN_PATH_TAKEN', `${entry.path} is a file that the generator writes`, {
      fix: 'name another path',
    }),
  ];
}

function failedFinding(entry: CodegenEntry, { plugin, message }: CodegenFailure): Diagnostic {
  const who = plugin ?? entry.preset ?? entry.plugins.map(({ name }) => name).join(', ');
  return finding(
    entry,
    'CODEGEN_FAILED',
    `${who} failed for ${entry.path}: ${withoutStack(message)}`,
    {
      why: 'nothing was written: all outputs of codegen are made, or none',
    },
  );
}

/** Some plugins put the stack of an error into its message. */
const withoutStack = (message: string) =>
  message
    .split('\n')
    .filter((line) => !/^\s+at .*[:(]\d*/.test(line))
    .map((line) => line.trim())
    .filter(Boolean)
    .join(' ')
    .slice(0, 2000);

interface TakenCheck {
  readonly entries: readonly CodegenEntry[];
  readonly root: string;
  readonly disk: Disk;
  readonly ours: ReadonlySet<string>;
}

/** Findings for outputs whose path another file has, or whose path is outside of the work tree. */
async function takenFindings(
  made: readonly MadeEntry[],
  { entries, root, disk, ours }: TakenCheck,
): Promise<Diagnostic[]> {
  const isNew = made.some(({ key }) => !settled.has(key));
  const lock = isNew ? parseLock(await disk.read(join(root, LOCKFILE))) : new Map();
  const seen = new Map<string, string>();
  const findings: Diagnostic[] = [];
  for (const { path: output, key, files } of made) {
    const entry = entryAt(entries, output);
    const checks = !settled.has(key);
    for (const { path } of files) {
      if (checks) findings.push(...placeFindings({ ...entry, path }, root, ours));
      const other = seen.get(path);
      const isTheirs =
        checks && path !== TYPES_FILE && !lock.has(path) && (await isThere(root, path, disk));
      if (other !== undefined || isTheirs)
        findings.push(
          finding(
            entry,
            'CODEGEN_PATH_TAKEN',
            other === undefined
              ? `${path} is there, and no run wrote it`
              : `${path} is an output of ${other} as well`,
            {
              fix:
                other === undefined ? 'remove the file, or name another path' : 'name another path',
            },
          ),
        );
      seen.set(path, output);
    }
  }
  return findings;
}

async function isThere(root: string, path: string, disk: Disk): Promise<boolean> {
  try {
    return (await disk.read(join(root, path))) !== null;
  } catch (error) {
    return hasCode(error, 'EISDIR');
  }
}

function isOutputOf(
  cache: CodegenCache,
  entries: readonly CodegenEntry[],
): (path: string) => boolean {
  const files = new Set(entries.flatMap(({ path }) => Object.keys(cache.get(path)?.files ?? {})));
  const outputs = entries.map(({ path }) => posix.normalize(path));
  return (path) =>
    files.has(path) ||
    outputs.some((output) => path === output || path.startsWith(posix.join(output, '/')));
}
