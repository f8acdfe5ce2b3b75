import type { GraphQLError } from 'graphql';
import type { RequestContext } from '../context/request-context.ts';
import { noRoom } from '../store/answer-memory.ts';
import type { Engine } from './engine.ts';
import { limitError } from './limits.ts';

/** Stands in the place of what was not done in time. */
export const TIMEOUT = Symbol('timeout');

/**
 * What `work` comes to, or `TIMEOUT` when that takes longer than an operation may: then the signal of `context` is aborted.
 * Rejects when all the time went by waiting for memory.
 */
export function within<T>(
  { model, store: { memory } }: Pick<Engine, 'model' | 'store'>,
  work: Promise<T>,
  context: RequestContext,
): Promise<T | typeof TIMEOUT> {
  const { limits } = model.project.api;
  const milliseconds = timeLeft(limits.time, context);
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => {
      if (memory.isWaiting(context)) reject(noRoom(limits));
      context.cancel(new DOMException(sentence(limits.time), 'TimeoutError'));
      resolve(TIMEOUT);
    }, milliseconds);
    const end =
      <Value>(settle: (value: Value) => void) =>
      (value: Value) => {
        clearTimeout(timer);
        settle(value);
      };
    work.then(end(resolve), end(reject));
  });
}

const BEGAN = new WeakMap<RequestContext, number>();

/** The operations of a batch have the time of one request together, which began at `began` (of `performance.now()`). */
export const shareTime = (context: RequestContext, began: number): void =>
  void BEGAN.set(context, began);

function timeLeft(time: number, context: RequestContext): number {
  const began = BEGAN.get(context);
  return began === undefined ? time : Math.max(0, time - (performance.now() - began));
}

/** The error that the caller gets. */
export function timeoutError(milliseconds: number): GraphQLError {
  return limitError('TIMEOUT', sentence(milliseconds), {
    value: milliseconds,
    limit: milliseconds,
  });
}

const sentence = (milliseconds: number) => `the operation took longer than ${milliseconds} ms`;
