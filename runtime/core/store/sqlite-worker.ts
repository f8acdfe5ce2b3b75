import { setPriority } from 'node:os';
import { isMainThread, parentPort, workerData } from 'node:worker_threads';
import { isTooBig, openSqlite } from './sqlite-connection.ts';

/** What a thread is given at its start. */
export interface ThreadSetup {
  readonly file: string;
  /** Whether it may write. */
  readonly writes: boolean;
  /** The number of the statement that is to end. */
  readonly flag: Int32Array;
}

/**
 * One statement. `rows` answers with all rows, which together may have so many bytes; `value` with the first one's first; `run`
 * is one of a transaction, and answers with its rows.
 */
export interface ThreadJob {
  readonly id: number;
  readonly kind: 'value' | 'rows' | 'run';
  readonly text: string;
  readonly values: readonly unknown[];
  readonly bytes: number;
}

export type ThreadAnswer =
  | { readonly kind: 'value'; readonly value: unknown }
  | { readonly kind: 'too large' }
  | { readonly kind: 'ended' }
  | { readonly kind: 'failed'; readonly message: string; readonly errcode: number | undefined };

const ENDED = new Error('ended');

/** The program of a thread: one connection that answers one statement after another. */
function serve({ file, writes, flag }: ThreadSetup): void {
  const connection = openSqlite(file, { readOnly: !writes });
  let current = 0;
  connection.onStep(() => {
    if (Atomics.load(flag, 0) === current) throw ENDED;
  });
  const valueOf = ({ kind, text, values, bytes }: ThreadJob): unknown => {
    if (kind === 'value') return connection.value(text, values) ?? null;
    return kind === 'run'
      ? connection.run(text, values).rows
      : connection.rowsWithin(text, values, bytes);
  };
  const answer = (job: ThreadJob): ThreadAnswer => {
    try {
      connection.bound(job.bytes);
      const value = valueOf(job);
      return value === undefined ? { kind: 'too large' } : { kind: 'value', value };
    } catch (error) {
      if (error === ENDED) return { kind: 'ended' };
      if (isTooBig(error)) return { kind: 'too large' };
      const { message, errcode } = error as { message: string; errcode?: number };
      return { kind: 'failed', message, errcode };
    }
  };
  parentPort?.on('message', (job: ThreadJob) => {
    current = job.id;
    parentPort?.postMessage(answer(job), []);
  });
}

if (!isMainThread && workerData?.flag) {
  // On Linux this is the priority of the thread alone: whatever it works on, the thread that takes requests goes first.
  if (process.platform === 'linux') setPriority(10);
  serve(workerData as ThreadSetup);
}
