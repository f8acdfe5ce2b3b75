import { setPriority } from 'node:os';
import { isMainThread, parentPort, workerData } from 'node:worker_threads';
import { LimitReached } from '../bounds.ts';
import { isTooBig, openSqlite } from './sqlite-connection.ts';

/** The data that a thread gets at its start. */
export interface ThreadSetup {
  readonly file: string;
  /** Whether it may write. */
  readonly writes: boolean;
  /** Shared memory with the number of the statement that is to end. */
  readonly flag: Int32Array;
}

/**
 * One statement. `rows` returns all rows, limited to `bytes` in total; `value` returns the first
 * column of the first row, and `bytes` returns it as UTF-8, so that a large text is never copied
 * into JavaScript's heap; `run` is a statement of a transaction, and returns its rows.
 */
export interface ThreadJob {
  readonly id: number;
  readonly kind: 'value' | 'bytes' | 'rows' | 'run';
  readonly text: string;
  readonly values: readonly unknown[];
  readonly bytes: number;
}

export type ThreadAnswer =
  | { readonly kind: 'value'; readonly value: unknown }
  | { readonly kind: 'too large' }
  | { readonly kind: 'too much text' }
  | { readonly kind: 'ended' }
  | { readonly kind: 'failed'; readonly message: string; readonly errcode: number | undefined };

const ENDED = new Error('ended');

const isBytes = (value: unknown): value is Uint8Array<ArrayBuffer> => value instanceof Uint8Array;

/** The main function of a thread: one connection that runs one statement after another. */
function serve({ file, writes, flag }: ThreadSetup): void {
  const connection = openSqlite(file, { readOnly: !writes, foreign: true });
  // An adopted file may hold its texts as UTF-16.
  const utf8 = connection.value('pragma encoding', []) === 'UTF-8';
  let current = 0;
  connection.onStep(() => {
    if (Atomics.load(flag, 0) === current) throw ENDED;
  });
  const valueOf = ({ kind, text, values, bytes }: ThreadJob): unknown => {
    if (kind === 'bytes' && utf8)
      return connection.value(`select cast((${text}) as blob)`, values) ?? null;
    if (kind === 'bytes' || kind === 'value') return connection.value(text, values) ?? null;
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
      if (error instanceof LimitReached) return { kind: 'too much text' };
      const { message, errcode } = error as { message: string; errcode?: number };
      return { kind: 'failed', message, errcode };
    }
  };
  parentPort?.on('message', (job: ThreadJob) => {
    current = job.id;
    const answered = answer(job);
    const value = answered.kind === 'value' ? answered.value : undefined;
    parentPort?.postMessage(answered, isBytes(value) ? [value.buffer] : []);
  });
}

if (!isMainThread && workerData?.flag) {
  // On Linux this sets the priority of this thread alone, so that the main thread goes first.
  if (process.platform === 'linux') setPriority(10);
  serve(workerData as ThreadSetup);
}
