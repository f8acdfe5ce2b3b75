/**
 * A value, or a promise of it. A value that is known already is not wrapped in a promise, because
 * that would cost as much as looking the value up.
 */
export type NowOrLater<T> = T | Promise<T>;

/**
 * Calls `next` with the value: at once when it is known already, otherwise when the promise
 * resolves.
 *
 * @example andThen(check(token), (user) => user?.id)
 */
export function andThen<T, R>(
  value: NowOrLater<T>,
  next: (value: T) => NowOrLater<R>,
): NowOrLater<R> {
  return value instanceof Promise ? value.then(next) : next(value);
}
