/** An object or a list of the answer, or what of it there is yet. */
export type Answer = Record<string | number, unknown>;

/**
 * An empty object. Any name may become a key of it, `__proto__` as well, so nothing of `Object.prototype` may be in the way;
 * `Object.create(null)` would give one that is slow to fill and to write.
 */
export const EmptyAnswer = function EmptyAnswer() {} as unknown as new () => Answer;
EmptyAnswer.prototype = Object.create(null);

/** What of an answer is still to come, and where it belongs. */
export class Waiting {
  readonly #keys: (string | number)[] = [];
  readonly #values: Promise<unknown>[] = [];

  /** The place `key` is for `value`; null stands there until then. */
  add(key: string | number, value: Promise<unknown>): this {
    this.#keys.push(key);
    this.#values.push(value);
    return this;
  }

  /** Resolves when everything is there. */
  finish<T extends object>(answer: T): Promise<T> {
    return Promise.all(this.#values).then((values) => {
      values.forEach((value, index) => ((answer as Answer)[this.#keys[index] as string] = value));
      return answer;
    });
  }

  /** What still runs is not needed any more, and its failures are not reported. */
  abandon(): void {
    this.#values.forEach((value) => void value.catch(() => {}));
  }
}
