import type { GraphQLError } from 'graphql';
import type { RequestContext } from '../context/request-context.ts';
import { limitError } from './limits.ts';

/** Stands in the place of what was not done in time. */
export const TIMEOUT = Symbol('timeout');

/** What `work` comes to, or `TIMEOUT` after so many milliseconds: then the signal of `context` is aborted. */
export async function within<T>(milliseconds: number, work: Promise<T>, context: RequestContext): Promise<T | typeof TIMEOUT> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<typeof TIMEOUT>((resolve) => {
    timer = setTimeout(resolve, milliseconds, TIMEOUT);
  });
  const done = await Promise.race([work, late]).finally(() => clearTimeout(timer));
  if (done === TIMEOUT) context.cancel(new DOMException(sentence(milliseconds), 'TimeoutError'));
  return done;
}

/** What the caller is told of it. */
export function timeoutError(milliseconds: number): GraphQLError {
  return limitError('TIMEOUT', sentence(milliseconds), { value: milliseconds, limit: milliseconds });
}

const sentence = (milliseconds: number) => `the operation took longer than ${milliseconds} ms`;
