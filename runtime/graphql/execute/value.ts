export const isThenable = (value: unknown): value is PromiseLike<unknown> => typeof value === 'object' && value !== null && typeof (value as { then?: unknown }).then === 'function';

/** A resolver may return its error. */
export function assertNoError<T>(value: T): T {
  if (value instanceof Error) throw value;
  return value;
}
