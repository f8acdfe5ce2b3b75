import { resolve, join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { createKnown } from '@twofold/schema';
import type { CommandCall } from '../cli/command.ts';
import { explainFailure } from '../cli/explain-failure.ts';
import { EXIT, type ExitCode } from '../failure.ts';
import type { Sources } from '../files.ts';
import { run as runPipeline, type RunPlan, type RunOptions } from '../pipeline.ts';
import { readSources } from '../read.ts';
import { watchFolders } from '../watch-folders.ts';
import { disk } from '../write/disk.ts';
import { installedBy } from './package-manager.ts';
import { reportPackages, reportPlan, reportSecrets, runOptions } from './plan-report.ts';
import { watchedDocuments, type WatchedDocuments } from '../documents/watched-documents.ts';

/** `generator generate --watch`: runs again whenever an input is saved, until it is stopped. */
export async function watch(call: CommandCall): Promise<ExitCode> {
  const root = resolve(call.cwd);
  const runOnce = createRuns(root, {
    ...runOptions(call),
    draft: true,
    known: createKnown(),
    added: new Set<string>(),
  });
  const generate = async (...save: Parameters<typeof runOnce>) => {
    const plan = await runOnce(...save);
    if (!plan) return;
    await reportPlan(plan, call, false);
    await reportSecrets(plan, call);
    if (reportPackages(plan, call).length > 0)
      call.terminal.note(`\nNext:\n  ${installedBy(root).name} install`);
  };
  const failed = (error: unknown) => void explainFailure(error, call.terminal);
  const watcher = await watchInputs(root, generate, failed);
  call.terminal.note('Watching. Ctrl+C stops.');
  await untilInterrupted();
  watcher.close();
  return EXIT.done;
}

/**
 * Resolves on SIGINT and SIGTERM, and when the shell of an npm script is gone: npm signals only that
 * shell, and many a shell passes nothing on.
 */
export function untilInterrupted(): Promise<void> {
  const parent = process.ppid;
  return new Promise<void>((done) => {
    process.once('SIGINT', done).once('SIGTERM', done);
    if (process.env['npm_lifecycle_event'] !== undefined)
      setInterval(() => process.ppid !== parent && done(), 500).unref();
  });
}

/**
 * Runs of one project, one after the other. An editor saves a file in several steps. A run that was
 * requested while another one was at work returns null if that one has already read the last step.
 */
export function createRuns(
  root: string,
  options: RunOptions,
): (paths: ReadonlySet<string>, seen: number) => Promise<RunPlan | null> {
  let last: { readonly sources: Sources; readonly ended: number } | null = null;
  return async (paths, seen) => {
    const onlyTexts = [...paths].every(isText);
    if (
      onlyTexts &&
      last &&
      seen < last.ended &&
      isDeepStrictEqual(withoutMigrations(await readSources(root)), withoutMigrations(last.sources))
    )
      return null;
    last = null;
    const plan = await runPipeline(root, options, disk);
    last = { sources: plan.sources, ended: performance.now() };
    return plan;
  };
}

/** Removes the migrations, because a run writes them itself: they are no change by the user. */
function withoutMigrations(sources: Sources): Sources {
  return { ...sources, migrations: [], lockedMigrations: [] };
}

const INPUTS: readonly RegExp[] = [
  /^(schema\.graphql|manifest\.yaml)$/,
  /^schema[\\/].+\.graphql$/,
  /^src[\\/](extend|auth-events|auth-hooks|scalars|routes|middleware|credentials)\.ts$/,
  /^src[\\/](hooks|resolvers|plugins)[\\/][^\\/]+\.ts$/,
  /^src[\\/]console[\\/].+\.[jt]s$/,
  /^codegen[\\/].+\.[cm]?[jt]s$/,
];

/** Whether a saved file is something a run reads. */
export const isInput = (path: string): boolean => INPUTS.some((input) => input.test(path));

/** Schema and manifest. A run reads them a second time before it writes or reports anything. */
const isText = (path: string) => /\.(graphql|gql|yaml)$/.test(path);

/**
 * Milliseconds within which several saved files count as one save. Only for files that a run passes
 * on to the server.
 */
const SAVE_WINDOW = 2;

type Changed = (paths: ReadonlySet<string>, seen: number) => Promise<void>;

/**
 * Calls `changed` at once, and later with the saved paths and the time at which the first save was
 * seen. Calls never overlap. Saves during a call lead to one more call, which includes the paths of
 * the first one. Editors write a file in several steps: a run that reads half of a schema notices
 * that and starts again.
 *
 * `again` calls `changed` as after a save of the manifest.
 *
 * @returns after the first call.
 * @throws the error of the first call; errors of later calls go to `failed`.
 */
export async function watchInputs(
  root: string,
  changed: Changed,
  failed: (error: unknown) => void,
  accept = isInput,
): Promise<{ close(): void; again(): void }> {
  let timer: NodeJS.Timeout | undefined;
  let running = true;
  let closed = false;
  let saved = new Set<string>();
  let seen = 0;
  const start = async () => {
    if (running || closed) return;
    running = true;
    while (saved.size > 0) {
      // The paths are filtered again here: only after a run is it known which files it wrote
      // itself.
      const paths = new Set([...saved].filter((path) => accept(path) || documents.has(path)));
      saved = new Set();
      if (paths.size > 0) await changed(paths, seen).catch(failed);
      if (paths.has('manifest.yaml')) await documents.refresh();
    }
    running = false;
  };
  const seenSave = (path: string) => {
    if (!accept(path) && !documents.has(path)) return;
    if (saved.size === 0) seen = performance.now();
    saved.add(path);
    clearTimeout(timer);
    if (isText(path)) setImmediate(start);
    else timer = setTimeout(start, SAVE_WINDOW);
  };
  const documents = createDocumentWatch(root, seenSave);
  const watcher = await watchFolders(root, seenSave);
  const close = () => {
    closed = true;
    clearTimeout(timer);
    watcher.close();
    documents.close();
  };
  await documents.refresh();
  await changed(new Set(), performance.now()).catch((error: unknown) => {
    close();
    throw error;
  });
  running = false;
  void start();
  const again = () => {
    if (closed) return;
    if (saved.size === 0) seen = performance.now();
    saved.add('manifest.yaml');
    void start();
  };
  return { close, again };
}

/** Follows the documents of front ends, also those that are not in the project's folder. */
interface DocumentWatch {
  /** Whether a saved path is one of a document. */
  has(path: string): boolean;
  /** Reads the manifest again, and watches the folders that it names now. */
  refresh(): Promise<void>;
  close(): void;
}

function createDocumentWatch(root: string, saved: (path: string) => void): DocumentWatch {
  let watched: WatchedDocuments = watchedDocuments(root);
  const watchers = new Map<string, { close(): void }>();
  let closed = false;
  const refresh = async () => {
    watched = watchedDocuments(root);
    for (const [folder, watcher] of watchers)
      if (!watched.folders.includes(folder)) {
        watcher.close();
        watchers.delete(folder);
      }
    for (const folder of watched.folders) {
      if (watchers.has(folder)) continue;
      const watcher = await watchFolders(join(root, folder), (name) => saved(`${folder}/${name}`));
      if (closed) watcher.close();
      else watchers.set(folder, watcher);
    }
  };
  return {
    has: (path) => watched.has(path.replaceAll('\\', '/')),
    refresh,
    close: () => {
      closed = true;
      for (const watcher of watchers.values()) watcher.close();
    },
  };
}
