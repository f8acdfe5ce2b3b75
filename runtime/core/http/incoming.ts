import { IncomingMessage } from 'node:http';

/** Receives a body chunk by chunk. One of `end` and `abort` is called last, once. */
export interface BodySink {
  add(chunk: Buffer): void;
  end(): void;
  /** The client went away before the body was whole. */
  abort(): void;
}

/**
 * A request that keeps what arrives of its body until it is read: at once by `readInto`, or as the usual stream. A body that
 * passes through the stream costs three events and as many rounds of `nextTick`, as much time as a small query takes.
 *
 * @example createServer({ IncomingMessage: Incoming }, (request) => (request as Incoming).readInto(sink));
 */
export class Incoming extends IncomingMessage {
  /** What came before the first read, with null for the end of the body; undefined from the first read on. */
  #held: (Buffer | null)[] | undefined = [];
  #heldBytes = 0;
  #sink: BodySink | undefined;

  /** Gives the body to `sink`. False when it is already being read. */
  readInto(sink: BodySink): boolean {
    const held = this.#takeHeld();
    if (!held) return false;
    this.#sink = sink;
    for (const chunk of held) this.#pass(chunk);
    // Node would otherwise take the body for unread, and resume the socket only to throw it away.
    super._read(0);
    return true;
  }

  override push(chunk: Buffer | null, encoding?: BufferEncoding): boolean {
    if (this.#sink) return this.#pass(chunk);
    if (!this.#held) return super.push(chunk, encoding);
    this.#held.push(chunk);
    this.#heldBytes += chunk?.length ?? 0;
    return this.#heldBytes < this.readableHighWaterMark;
  }

  override _read(size: number): void {
    for (const chunk of this.#takeHeld() ?? []) super.push(chunk);
    super._read(size);
  }

  override _destroy(error: Error | null, callback: (error?: Error | null) => void): void {
    if (#sink in this) this.#endSink()?.abort();
    super._destroy(error, callback);
  }

  #takeHeld(): (Buffer | null)[] | undefined {
    // A request that `Object.create` made of another one has none of the private members.
    if (!(#held in this)) return undefined;
    const held = this.#held;
    this.#held = undefined;
    return held;
  }

  #pass(chunk: Buffer | null): true {
    if (chunk) this.#sink?.add(chunk);
    else this.#endSink()?.end();
    return true;
  }

  #endSink(): BodySink | undefined {
    const sink = this.#sink;
    this.#sink = undefined;
    return sink;
  }
}
