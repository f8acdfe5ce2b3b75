import type { PlaygroundInput, PlaygroundOutput } from './generate.ts';
import type { WorkerAnswer, WorkerRequest } from './worker.ts';

/** Runs the generator beside the page, so that typing never waits for it. */
export interface Runner {
  /** Starts a run. The answer of a run that was overtaken by a newer one is left out. */
  run(input: PlaygroundInput): void;
  close(): void;
}

/** Milliseconds that a run may take before it is given up. */
const PATIENCE = 10_000;

interface RunnerEvents {
  readonly done: (output: PlaygroundOutput) => void;
  readonly failed: (reason: string) => void;
}

/** Makes a runner. A run that does not end is stopped with its thread, and the next one has a new thread. */
export function createRunner({ done, failed }: RunnerEvents): Runner {
  let worker: Worker | undefined;
  let timer: ReturnType<typeof setTimeout> | undefined;
  let last = 0;
  const stop = () => {
    clearTimeout(timer);
    worker?.terminate();
    worker = undefined;
  };
  const heard = ({ data: { id, output, failure } }: MessageEvent<WorkerAnswer>) => {
    if (id !== last) return;
    clearTimeout(timer);
    if (output) done(output);
    else failed(failure ?? 'no answer');
  };
  const start = () => {
    const started = new Worker(new URL('./worker.ts', import.meta.url), { type: 'module' });
    started.addEventListener('message', heard);
    started.addEventListener('error', ({ message }) => (stop(), failed(message)));
    return started;
  };
  return {
    run: (input) => {
      last += 1;
      clearTimeout(timer);
      timer = setTimeout(() => (stop(), failed('the run took too long')), PATIENCE);
      worker ??= start();
      // A thread has no origin.
      // oxlint-disable-next-line unicorn/require-post-message-target-origin
      worker.postMessage({ id: last, input } satisfies WorkerRequest);
    },
    close: stop,
  };
}
