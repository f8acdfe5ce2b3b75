import { availableParallelism } from 'node:os';
import { bytesOf, createAnswerMemory } from '../answer-memory.ts';
import type { Asker, Bounds, ReadStatement } from '../bounds.ts';
import type { JsonText } from '../large-text.ts';
import type { Store } from '../store.ts';
import { createLongStatements } from './long-statements.ts';
import type { ReadReplicas } from './read-replicas.ts';
import type { Parts } from './statements.ts';

/**
 * The most connections for long statements; the others stay free for short ones. A database on this
 * machine has no more processors than the server, and one elsewhere keeps this one busy with answers.
 */
const LONG_CONNECTIONS = { slow: Math.min(4, Math.max(2, availableParallelism())), quick: 4 };

/** Bytes that are reserved for the answer of a short statement until its size is known. */
const SHORT_ANSWER_BYTES = 256 * 1024;

type Answered = JsonText | null | readonly Record<string, unknown>[];

/** What requests read: where their operation reads, and within the bounds of their answers. */
export function answersOf(
  parts: Parts,
  max: number,
  replicas: ReadReplicas<Parts> | undefined,
): Pick<Store, 'answer' | 'answerRows' | 'memory' | 'connections'> {
  const memory = createAnswerMemory();
  const long = createLongStatements({
    slow: Math.min(LONG_CONNECTIONS.slow, Math.max(1, max - 3)),
    quick: Math.min(LONG_CONNECTIONS.quick, Math.max(1, max - 1)),
  });
  const read = <T>(asker: Asker, run: (parts: Parts) => Promise<T>): Promise<T> =>
    replicas ? replicas.read(asker, run) : run(parts);
  /** Reserves memory for the answer of a statement, and limits the connections of long ones. */
  const within = <T extends Answered>(
    statement: ReadStatement,
    bounds: Bounds,
    run: (on: Parts) => Promise<T>,
  ): Promise<T> => {
    const { limits, asker } = bounds;
    const attempt = async () => {
      const kept = statement.long ? limits.result : Math.min(limits.result, SHORT_ANSWER_BYTES);
      const room = memory.take(bounds, kept);
      if (room) await room;
      let bytes = 0;
      try {
        const answer = await read(asker, run);
        bytes = bytesOf(answer);
        return answer;
      } finally {
        memory.settle(bounds, kept, bytes);
      }
    };
    return statement.long ? long.run(statement.text, attempt) : attempt();
  };
  const usedIn = ({ totalCount, idleCount }: Parts['pool']) => ({
    used: totalCount - idleCount,
    idle: idleCount,
  });
  return {
    answer: (statement, values, bounds) =>
      within(statement, bounds, (on) => on.textOf(statement.text, values, bounds, statement.long)),
    answerRows: (statement, values, bounds) =>
      within(statement, bounds, (on) => on.query(statement.text, values, bounds.asker)),
    memory,
    connections: () => ({
      ...usedIn(parts.pool),
      waiting: parts.pool.waitingCount + long.waiting,
      replicas: replicas?.pools.map(usedIn),
    }),
  };
}
