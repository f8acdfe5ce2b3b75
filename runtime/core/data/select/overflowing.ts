import { AppError } from '../../errors.ts';

/** Runs statements whose sums the database may refuse because they are too large. */
export interface Overflowing {
  /**
   * Runs a statement. If it fails because a sum is too large, it runs the slower statement for sums
   * of any size. From then on the node of the plan is read with the slower statement at once.
   *
   * @throws AppError `OUT_OF_RANGE` for a sum of floats that no float holds.
   */
  read<T>(node: object, run: (wide: boolean) => T | Promise<T>): T | Promise<T>;
}

export function createOverflowing(): Overflowing {
  const large = new WeakSet<object>();
  return {
    read: (node, run) => {
      const again = (error: unknown) => {
        if (large.has(node) || !isTooLarge(error)) throw ofFloats(error);
        large.add(node);
        return run(true);
      };
      try {
        const value = run(large.has(node));
        return value instanceof Promise ? value.catch(again) : value;
      } catch (error) {
        return again(error);
      }
    },
  };
}

const messageOf = (error: unknown) => (error instanceof Error ? error.message : '');

/** SQLite's error of a sum beyond 64 bits. */
const isTooLarge = (error: unknown) => messageOf(error).includes('integer overflow');

/**
 * PostgreSQL ends a statement when a sum of floats becomes infinite. Returns the error that the
 * caller gets for that.
 */
const ofFloats = (error: unknown): unknown =>
  (error as { code?: string } | null)?.code === '22003' &&
  /out of range: (?:over|under)flow/.test(messageOf(error))
    ? new AppError(400, 'OUT_OF_RANGE', 'a sum is too large for its type', { cause: error })
    : error;
