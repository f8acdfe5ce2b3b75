import { resolve } from 'node:path';
import type { CommandCall } from '../cli/command.ts';
import { EXIT, type ExitCode } from '../failure.ts';
import { run as runPipeline } from '../pipeline.ts';
import { watchFolders } from '../watch-folders.ts';
import { disk } from '../write/disk.ts';
import { reportPlan, runOptions } from './plan-report.ts';

/** `generator generate --watch`: runs again whenever an input is saved, until it is stopped. */
export async function watch(call: CommandCall): Promise<ExitCode> {
  const root = resolve(call.cwd);
  const options = { ...runOptions(call), known: new Map() };
  const generate = async () => reportPlan(await runPipeline(root, options, disk), call, false);
  await generate();
  call.terminal.note('Watching. Ctrl+C stops.');
  const watcher = watchInputs(root, generate, (error) => call.terminal.say(String(error)));
  await new Promise<void>((done) => process.once('SIGINT', done).once('SIGTERM', done));
  watcher.close();
  return EXIT.done;
}

/** Whether a saved file is something a run reads. */
export function isInput(path: string): boolean {
  return /^(schema\.graphql|manifest\.yaml|schema[\\/][^\\/]+\.graphql|src[\\/](extend|auth-events|scalars|routes)\.ts|src[\\/](resolvers|plugins)[\\/][^\\/]+\.ts)$/.test(path);
}

const QUIET = 8;

/**
 * Calls `changed` with the saved paths after inputs were saved, and with the time at which the first was seen, never twice at a time. Saves that come while it runs lead to one more run.
 * Editors write a file in several steps, so that a pause of some milliseconds makes one save of them.
 */
export function watchInputs(root: string, changed: (paths: ReadonlySet<string>, seen: number) => Promise<void>, failed: (error: unknown) => void, accept = isInput): { close(): void } {
  let timer: NodeJS.Timeout | undefined;
  let running = false;
  let saved = new Set<string>();
  let seen = 0;
  const start = async () => {
    if (running) return;
    running = true;
    while (saved.size > 0) {
      const paths = saved;
      saved = new Set();
      await changed(paths, seen).catch(failed);
    }
    running = false;
  };
  const watcher = watchFolders(root, (path) => {
    if (!accept(path)) return;
    if (saved.size === 0) seen = performance.now();
    saved.add(path);
    clearTimeout(timer);
    timer = setTimeout(() => void start(), QUIET);
  });
  return { close: () => (clearTimeout(timer), watcher.close()) };
}
