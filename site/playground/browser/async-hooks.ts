/**
 * In the place of `node:async_hooks`. The store keeps there what a running migration records; the
 * playground runs none, it only reads the statements.
 */
export class AsyncLocalStorage<Value> {
  #value: Value | undefined;

  getStore(): Value | undefined {
    return this.#value;
  }

  run<Result>(value: Value, work: () => Result): Result {
    const before = this.#value;
    this.#value = value;
    try {
      return work();
    } finally {
      this.#value = before;
    }
  }
}
