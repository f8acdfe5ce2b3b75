import type { GraphQLError } from 'graphql';
import type { RequestContext } from '../context/request-context.ts';
import { limitError } from './limits.ts';

/** Stands in the place of what was not done in time. */
export const TIMEOUT = Symbol('timeout');

/** What `work` comes to, or `TIMEOUT` after so many milliseconds: then the signal of `context` is aborted. */
export function within<T>(
  milliseconds: number,
  work: Promise<T>,
  context: RequestContext,
): Promise<T | typeof TIMEOUT> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => {
      context.cancel(new DOMException(sentence(milliseconds), 'TimeoutError'));
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

/** What the caller is told of it. */
export function timeoutError(milliseconds: number): GraphQLError {
  return limitError('TIMEOUT', sentence(milliseconds), {
    value: milliseconds,
    limit: milliseconds,
  });
}

const sentence = (milliseconds: number) => `the operation took longer than ${milliseconds} ms`;
