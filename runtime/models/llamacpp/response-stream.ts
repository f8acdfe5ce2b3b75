import type { LlamaReply } from './messages.ts';

/**
 * Pieces within this many milliseconds are sent as one message. Readers do not notice the delay,
 * and a message costs as much time as one token of a small model.
 */
const BATCH_DELAY = 10;
/** Milliseconds to delay a message, so that the model has begun the next token when it is sent. */
const FIRST_DELAY = 1;
const EVENT_STREAM_HEAD = {
  status: 200,
  headers: { 'content-type': 'text/event-stream; charset=utf-8', 'cache-control': 'no-cache' },
};

/** The stream to which one answer is written. */
export class ResponseStream {
  readonly #id: number;
  readonly #send: (reply: LlamaReply) => void;
  #held = '';
  #timer: NodeJS.Timeout | undefined;
  begun = false;

  constructor(id: number, send: (reply: LlamaReply) => void) {
    this.#id = id;
    this.#send = send;
  }

  /** Sends a whole answer. */
  json(status: number, body: object): void {
    this.#send({
      id: this.#id,
      head: { status, headers: { 'content-type': 'application/json' } },
      text: JSON.stringify(body),
      end: true,
    });
  }

  /** Sends a piece of an event stream. */
  write(text: string): void {
    this.#held += text;
    if (this.begun) this.#timer ??= setTimeout(this.#flush, FIRST_DELAY);
    else this.#flush();
  }

  /** Sends the last piece. */
  end(text: string): void {
    clearTimeout(this.#timer);
    this.#go(this.#held + text, true);
  }

  readonly #flush = (): void => {
    this.#timer = undefined;
    if (this.#held === '') return;
    this.#go(this.#held, false);
    this.#held = '';
    this.#timer = setTimeout(this.#flush, BATCH_DELAY);
  };

  #go(text: string, end: boolean): void {
    this.#send({ id: this.#id, ...(!this.begun && { head: EVENT_STREAM_HEAD }), text, end });
    this.begun = true;
  }
}
