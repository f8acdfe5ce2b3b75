import { type AnswerMemory, bytesOf } from './answer-memory.ts';
import { type Bounds, outOfTime, type ReadStatement, resultTooLarge } from './bounds.ts';
import type { Mutex } from './semaphore.ts';
import type { SharedReads } from './shared-reads.ts';
import { isTooBig, type SqliteConnection } from './sqlite-connection.ts';
import type { SqliteThreads } from './sqlite-threads.ts';
import type { Store } from './store.ts';

/** Statements whose answers go to callers: none holds up the process, or outlives its caller. */
export type SqliteAnswers = Pick<Store, 'answer' | 'answerRows'>;

/** Bytes of an answer that is made in the thread that takes requests. */
export const INLINE = 256 * 1024;

/** Milliseconds that a statement may run there, and then of the processor's own time: on a busy machine most of them were others'. */
const SLICE = 2;

/** Milliseconds for which a statement that took longer goes to another thread at once. */
const REMEMBERED = 10_000;

const TOO_SLOW = new Error('the statement takes too long here');

export interface FileParts {
  readonly reader: SqliteConnection;
  readonly shared: SharedReads;
  readonly threads: SqliteThreads;
}

/**
 * Of a file: a statement begins in the thread that takes requests, where a small one is answered for the price of the statement
 * alone. One that takes longer than `SLICE`, or answers with more than `INLINE`, is ended and run again by another thread.
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
        if (performance.now() - since <= SLICE) return;
        const { user, system } = process.threadCpuUsage();
        used ??= user + system;
        if (user + system - used > SLICE * 1000) throw TOO_SLOW;
      });
      return work();
    } catch (error) {
      if (error !== TOO_SLOW && !isTooBig(error)) throw error;
      slow.set(statement, since + REMEMBERED);
      return elsewhere();
    }
  };
  return {
    answer: (statement, values, bounds) => {
      const { text, long } = statement;
      const work = () => shared.value(text, values) ?? null;
      const elsewhere = () => threads.run({ kind: 'value', text, values }, bounds);
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

/** In memory there is one connection, in this thread: a statement holds up the others until it is done or its time is over. */
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

/** Runs a statement in this thread, which nothing can tell to stop meanwhile: it ends by the clock. */
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
