import type { GraphQLError } from 'graphql';
import type { RequestContext } from '../context/request-context.ts';
import { runningCommit } from '../data/write/own-commit.ts';
import { noRoom } from '../store/answer-memory.ts';
import type { Engine } from './engine.ts';
import { limitError } from '@twofold/schema';

/** The limit that an operation reached, instead of its answer. */
export interface Over {
  readonly over: GraphQLError;
}

/**
 * The result of `work`, or the limit when it takes longer than an operation may; the signal of
 * `context` is then aborted. Rejects when all the time was spent waiting for memory.
 */
export function withTimeLimit<T>(
  { model, store: { memory } }: Pick<Engine, 'model' | 'store'>,
  work: Promise<T>,
  context: RequestContext,
): Promise<T | Over> {
  const { limits } = model.project.api;
  const began = BEGAN.get(context);
  const left = began === undefined ? limits.time : limits.time - (performance.now() - began);
  return new Promise((resolve, reject) => {
    const timer = setTimeout(
      () => {
        if (memory.isWaiting(context)) reject(noRoom(limits));
        context.cancel(new DOMException(sentence(limits.time), 'TimeoutError'));
        const late = () => resolve({ over: timeoutError(limits.time) });
        // A write that was done in spite of the limit is answered: `work` ends before the next turn.
        const written = runningCommit(context);
        if (written) written.then(() => void setImmediate(late), late);
        else late();
      },
      Math.max(0, left),
    );
    work.finally(() => clearTimeout(timer)).then(resolve, reject);
  });
}

const BEGAN = new WeakMap<RequestContext, number>();

/**
 * The operations of a batch share the time limit of one request, which began at `began` (of
 * `performance.now()`).
 */
export const shareTime = (context: RequestContext, began: number): void =>
  void BEGAN.set(context, began);

const timeoutError = (milliseconds: number): GraphQLError =>
  limitError('TIMEOUT', sentence(milliseconds), { value: milliseconds, limit: milliseconds });

const sentence = (milliseconds: number) => `the operation took longer than ${milliseconds} ms`;
