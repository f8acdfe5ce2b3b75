import { type AnswerMemory, bytesOf } from '../answer-memory.ts';
import { type Bounds, outOfTime, type ReadStatement, resultTooLarge } from '../bounds.ts';
import type { Mutex } from '../transactions/semaphore.ts';
import type { SharedReads } from './shared-reads.ts';
import { isTooBig, type SqliteConnection } from './sqlite-connection.ts';
import type { SqliteThreads } from './sqlite-threads.ts';
import type { Store } from '../store.ts';

/** Runs statements that read what requests answer. None delays other requests or outlives its client. */
export type SqliteAnswers = Pick<Store, 'answer' | 'answerRows'>;

/**
 * The largest answer in bytes that the main thread makes; a larger one is left to another thread.
 */
export const INLINE = 256 * 1024;

/**
 * Milliseconds that a statement may run in the main thread. They are counted as CPU time too,
 * because on a busy machine other processes use most of the elapsed time.
 */
const MAX_RUN_TIME = 2;

/** Milliseconds for which a slow statement goes directly to another thread. */
const SLOW_FOR = 10_000;

const TOO_SLOW = new Error('the statement takes too long here');

export interface FileParts {
  readonly reader: SqliteConnection;
  readonly shared: SharedReads;
  readonly threads: SqliteThreads;
}

/**
 * Answers from a file. A statement begins in the main thread, where a small one costs no more than
 * the statement alone. One that takes longer than `MAX_RUN_TIME`, or whose answer exceeds `INLINE`, is
 * ended and run again in another thread.
 */
export function fileAnswers({ reader, shared, threads }: FileParts): SqliteAnswers {
  const slow = new WeakMap<ReadStatement, number>();
  const rows = (text: string, values: readonly unknown[]) => {
    const found = reader.rowsWithin(text, values, INLINE);
    if (!found) throw TOO_SLOW;
    return found;
  };
  const here = <T>(
    statement: ReadStatement,
    work: () => T,
    elsewhere: () => Promise<unknown>,
  ): T | Promise<unknown> => {
    const since = performance.now();
    if ((slow.get(statement) ?? 0) > since) return elsewhere();
    try {
      let used: number | undefined;
      reader.onStep(() => {
        if (performance.now() - since <= MAX_RUN_TIME) return;
        const { user, system } = process.threadCpuUsage();
        used ??= user + system;
        if (user + system - used > MAX_RUN_TIME * 1000) throw TOO_SLOW;
      });
      return work();
    } catch (error) {
      if (error !== TOO_SLOW && !isTooBig(error)) throw error;
      slow.set(statement, since + SLOW_FOR);
      return elsewhere();
    }
  };
  return {
    answer: (statement, values, bounds) => {
      const { text, long } = statement;
      const work = () => shared.value(text, values) ?? null;
      const elsewhere = () =>
        threads.run({ kind: bounds.large ? 'bytes' : 'value', text, values }, bounds);
      if (long) return here(statement, work, elsewhere);
      try {
        return work();
      } catch (error) {
        if (!isTooBig(error)) throw error;
        return elsewhere();
      }
    },
    answerRows: async (statement, values, bounds) => {
      const { text } = statement;
      return (await here(
        statement,
        () => rows(text, values),
        () => threads.run({ kind: 'rows', text, values }, bounds),
      )) as Record<string, unknown>[];
    },
  };
}

/**
 * Answers from a database in memory, which has one connection in this thread: a statement delays
 * the others until it is done or reaches its time limit.
 */
export function memoryAnswers(
  one: SqliteConnection,
  mutex: Mutex,
  memory: AnswerMemory,
): SqliteAnswers {
  const alone = async <T>(bounds: Bounds, work: () => T): Promise<T> => {
    const { result } = bounds.limits;
    await memory.take(bounds, result);
    let bytes = 0;
    const release = await mutex.acquire();
    try {
      const answer = withinBounds(one, bounds, work);
      bytes = bytesOf(answer);
      return answer;
    } finally {
      release();
      memory.settle(bounds, result, bytes);
    }
  };
  return {
    answer: ({ text }, values, bounds) => alone(bounds, () => one.value(text, values) ?? null),
    answerRows: ({ text }, values, bounds) =>
      alone(bounds, () => {
        const rows = one.rowsWithin(text, values, bounds.limits.result);
        if (rows) return rows;
        throw resultTooLarge(bounds.limits);
      }),
  };
}

/** Runs a statement in this thread. While it runs, no event can stop it, so it checks the clock. */
export function withinBounds<T>(
  connection: SqliteConnection,
  { limits }: Bounds,
  work: () => T,
  since = performance.now(),
): T {
  connection.onStep(() => {
    if (performance.now() - since > limits.time) throw outOfTime(limits);
  });
  connection.bound(limits.result);
  try {
    return work();
  } catch (error) {
    throw isTooBig(error) ? resultTooLarge(limits) : error;
  } finally {
    connection.onStep(undefined);
    connection.bound(Infinity);
  }
}
