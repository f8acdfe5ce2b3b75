import { Worker } from 'node:worker_threads';
import type { CodegenResult, CodegenTask } from './entry.ts';

/** Milliseconds after which a plugin that does not end is ended. */
const TIME_LIMIT = 60_000;

const THREAD = new URL(
  import.meta.url.endsWith('.ts') ? './plugin-thread.ts' : './plugin-thread.js',
  import.meta.url,
);

/**
 * Runs the plugins of some entries in a thread of this process. What they print to standard output
 * goes to standard error, because a command's own output stands there.
 */
export function runPlugins(
  task: CodegenTask,
  timeLimit: number = TIME_LIMIT,
): Promise<readonly CodegenResult[]> {
  const thread = new Worker(THREAD, { workerData: task, stdout: true, stderr: true });
  thread.stdout.on('data', (chunk: Buffer) => void process.stderr.write(chunk));
  thread.stderr.on('data', (chunk: Buffer) => void process.stderr.write(chunk));
  let running = task.entries[0]?.entry.path;
  return new Promise((resolve) => {
    const end = (results: readonly CodegenResult[]) => {
      clearTimeout(timer);
      void thread.terminate();
      resolve(results);
    };
    const fail = (message: string) =>
      end(
        task.entries.map(({ entry: { path } }) =>
          path === running ? { path, failure: { message } } : { path, files: [] },
        ),
      );
    let timer = setTimeout(fail, timeLimit, ENDLESS);
    thread.on('message', (message: readonly CodegenResult[] | { readonly begins: string }) => {
      if (!('begins' in message)) return end(message);
      running = message.begins;
      clearTimeout(timer);
      timer = setTimeout(fail, timeLimit, ENDLESS);
    });
    thread.on('error', (error) => fail(error.message));
    thread.on('exit', (code) => fail(`the plugin ended the process with ${code}`));
  });
}

const ENDLESS = 'it did not end within 60 seconds';
