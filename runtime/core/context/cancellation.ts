/** Something that may come to an end before it is done. */
export interface Cancellable {
  /** Whether `signal` is aborted; asking makes no signal. */
  readonly cancelled: boolean;
  readonly signal: AbortSignal;
}

/**
 * Says that nobody waits any more for what is being worked on. The signal, which costs more than a small query, is made
 * when somebody asks for it.
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
    reason: DOMException = new DOMException('nobody waits for it any more', 'AbortError'),
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
