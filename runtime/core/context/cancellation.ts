/** Something that may come to an end before it is done. */
export interface Cancellable {
  /** Whether `signal` is aborted; asking makes no signal. */
  readonly cancelled: boolean;
  readonly signal: AbortSignal;
}

/**
 * Says that the result of some work is no longer needed. The signal, which costs more than a small query, is made on first
 * use.
 *
 * @example
 * const cancellation = new Cancellation();
 * fetch(url, { signal: cancellation.signal });
 * cancellation.cancel(new DOMException('it took longer than 10000 ms', 'TimeoutError'));
 */
export class Cancellation implements Cancellable {
  readonly #parent: Cancellable | undefined;
  #own: AbortController | undefined;
  #signal: AbortSignal | undefined;
  #reason: DOMException | undefined;

  /** @param parent what it is a part of: it ends with that. */
  constructor(parent?: Cancellable) {
    this.#parent = parent;
  }

  get cancelled(): boolean {
    return this.#reason !== undefined || this.#parent?.cancelled === true;
  }

  get signal(): AbortSignal {
    return (this.#signal ??= this.#makeSignal());
  }

  /** Aborts the signal; the first reason stands. */
  cancel(
    reason: DOMException = new DOMException('its result is no longer needed', 'AbortError'),
  ): void {
    this.#reason ??= reason;
    this.#own?.abort(this.#reason);
  }

  #makeSignal(): AbortSignal {
    this.#own = new AbortController();
    if (this.#reason) this.#own.abort(this.#reason);
    return this.#parent
      ? AbortSignal.any([this.#own.signal, this.#parent.signal])
      : this.#own.signal;
  }
}
