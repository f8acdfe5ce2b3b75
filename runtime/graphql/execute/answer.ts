/** An object or a list of the answer, or what of it there is yet. */
export type Answer = Record<string | number, unknown>;

/**
 * An empty object. Any name may become a key of it, `__proto__` as well, so nothing of `Object.prototype` may be in the way;
 * `Object.create(null)` would give one that is slow to fill and to write.
 */
export const EmptyAnswer = function EmptyAnswer() {} as unknown as new () => Answer;
EmptyAnswer.prototype = Object.create(null);

/** What of an answer is still to come. */
export class Waiting {
  readonly #places: Promise<void>[] = [];

  /** Keeps the place `key` of `answer` for a value. */
  add(answer: Answer, key: string | number, value: Promise<unknown>): this {
    answer[key] = null;
    this.#places.push(
      value.then((done) => {
        answer[key] = done;
      }),
    );
    return this;
  }

  /** Resolves when everything is there. */
  finish<T>(answer: T): Promise<T> {
    return Promise.all(this.#places).then(() => answer);
  }

  /** What still runs has nobody left to tell. */
  abandon(): void {
    this.#places.forEach((place) => void place.catch(() => {}));
  }
}
