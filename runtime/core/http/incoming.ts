import { IncomingMessage, type RequestListener, type ServerResponse } from 'node:http';
import { AsyncResource } from 'node:async_hooks';

/** Receives a body chunk by chunk. Exactly one of `end` and `abort` is called, as the last call. */
export interface BodySink {
  add(chunk: Buffer): void;
  end(): void;
  /** The client disconnected before the body was complete. */
  abort(): void;
}

/**
 * A request that holds the body as it arrives, until `readInto` takes it all at once or it is read
 * as the usual stream. The stream costs three events and as many rounds of `nextTick` for each
 * body, as much time as a small query.
 *
 * @example createServer({ IncomingMessage: Incoming }, (request) => (request as Incoming).readInto(sink));
 */
export class Incoming extends IncomingMessage {
  /**
   * Chunks that arrived before the first read; null marks the end of the body. Undefined after the
   * first read.
   */
  #held: (Buffer | null)[] | undefined = [];
  #heldBytes = 0;
  #sink: BodySink | undefined;

  /** Gives the body to `sink`. False when it is already being read. */
  readInto(sink: BodySink): boolean {
    const held = this.#takeHeld();
    if (!held) return false;
    this.#sink = sink;
    for (const chunk of held) this.#pass(chunk);
    // Otherwise Node would treat the body as unread, and resume the socket only to discard it.
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
    // A request made by `Object.create` from another one lacks the private members.
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

/** A request that was read but not handled yet. */
interface Waiting {
  /** Keeps the `AsyncLocalStorage` of the place where the request arrived. */
  readonly resource: AsyncResource;
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
}

/**
 * Handles the requests of one tick of the event loop together, after all of them were read. The
 * code and data of each step are then still in the processor's caches, and a small body has already
 * arrived.
 *
 * @param begin called for the first request of a tick.
 * @example createServer(batchByTick(koa.callback()));
 */
export function batchByTick(listener: RequestListener, begin?: () => void): RequestListener {
  let waiting: Waiting[] = [];
  const handleAll = () => {
    const batch = waiting;
    waiting = [];
    for (const each of batch) handle(listener, each);
  };
  return (request, response) => {
    if (waiting.push({ resource: new AsyncResource('REQUEST'), request, response }) > 1) return;
    // This is scheduled before `begin` runs. If `begin` waits for a `setImmediate`, that comes
    // after these requests were handled.
    setImmediate(handleAll);
    begin?.();
  };
}

function handle(listener: RequestListener, { resource, request, response }: Waiting): void {
  try {
    resource.runInAsyncScope(listener, undefined, request, response);
  } catch (error) {
    // The next requests are handled even if this one throws.
    queueMicrotask(() => {
      throw error;
    });
  }
}
