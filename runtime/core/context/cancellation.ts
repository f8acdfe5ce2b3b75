/** Work that may be cancelled. */
export interface Cancellable {
  /** Whether `signal` is aborted. Reading this property does not create the signal. */
  readonly cancelled: boolean;
  readonly signal: AbortSignal;
}

/**
 * Tells that the result of some work is no longer needed. The signal is created on first use,
 * because it costs more than a small query.
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

  /** @param parent cancels this as well when it is cancelled. */
  constructor(parent?: Cancellable) {
    this.#parent = parent;
  }

  get cancelled(): boolean {
    return this.#reason !== undefined || this.#parent?.cancelled === true;
  }

  get signal(): AbortSignal {
    return (this.#signal ??= this.#makeSignal());
  }

  /** Aborts the signal. The reason of the first call is kept. */
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
