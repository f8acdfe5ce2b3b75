/** An object or a list of the answer, which may still be incomplete. */
export type Answer = Record<string | number, unknown>;

/**
 * An empty object without the members of `Object.prototype`, because any name may become a key,
 * even `__proto__`. An object from `Object.create(null)` is slow to fill and to serialise.
 */
export const EmptyAnswer = function EmptyAnswer() {} as unknown as new () => Answer;
EmptyAnswer.prototype = Object.create(null);

/** Pending values of an answer, and the places where they belong. */
export class Waiting {
  readonly #keys: (string | number)[] = [];
  readonly #values: Promise<unknown>[] = [];

  /** Writes `value` under `key` when it resolves. Until then, null is in its place. */
  add(key: string | number, value: Promise<unknown>): this {
    this.#keys.push(key);
    this.#values.push(value);
    return this;
  }

  /** Resolves when all values have arrived. */
  finish<T extends object>(answer: T): Promise<T> {
    return Promise.all(this.#values).then((values) => {
      values.forEach((value, index) => ((answer as Answer)[this.#keys[index] as string] = value));
      return answer;
    });
  }

  /** Ignores all pending values and their failures. */
  abandon(): void {
    this.#values.forEach((value) => void value.catch(() => {}));
  }
}
