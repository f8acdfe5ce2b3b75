/**
 * What is there already, or comes later. A promise of what is known would cost as much as finding
 * it out.
 */
export type NowOrLater<T> = T | Promise<T>;

/**
 * Goes on with `next`: at once when `value` is there, else when it comes.
 *
 * @example andThen(check(token), (user) => user?.id)
 */
export function andThen<T, R>(
  value: NowOrLater<T>,
  next: (value: T) => NowOrLater<R>,
): NowOrLater<R> {
  return value instanceof Promise ? value.then(next) : next(value);
}
