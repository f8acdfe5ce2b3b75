import type { LlamaReply } from './messages.ts';

/** The stream that one answer is written to. */
export interface ResponseStream {
  /** Whether the status has been sent: from then on an error can only be an event. */
  readonly begun: boolean;
  /** The whole of an answer. */
  json(status: number, body: object): void;
  /** A piece of an answer, of the type that the first one gives it. */
  write(text: string): void;
  /** The last of what is written. */
  end(text: string): void;
}

/**
 * Pieces that come within so many milliseconds go together: no reader is faster, and each message
 * costs as much as a small model's token.
 */
const TOGETHER = 10;
/** By then the model works on the next token, and sending costs it nothing. */
const SOON = 1;
const EVENTS = {
  status: 200,
  headers: { 'content-type': 'text/event-stream; charset=utf-8', 'cache-control': 'no-cache' },
};

export function createResponseStream(
  id: number,
  send: (reply: LlamaReply) => void,
): ResponseStream {
  return new Pieces(id, send);
}

class Pieces implements ResponseStream {
  readonly #id: number;
  readonly #send: (reply: LlamaReply) => void;
  #held = '';
  #timer: NodeJS.Timeout | undefined;
  begun = false;

  constructor(id: number, send: (reply: LlamaReply) => void) {
    this.#id = id;
    this.#send = send;
  }

  json(status: number, body: object): void {
    this.#send({
      id: this.#id,
      head: { status, headers: { 'content-type': 'application/json' } },
      text: JSON.stringify(body),
      end: true,
    });
  }

  write(text: string): void {
    this.#held += text;
    if (this.begun) this.#timer ??= setTimeout(this.#flush, SOON);
    else this.#flush();
  }

  end(text: string): void {
    clearTimeout(this.#timer);
    this.#go(this.#held + text, true);
  }

  readonly #flush = (): void => {
    this.#timer = undefined;
    if (this.#held === '') return;
    this.#go(this.#held, false);
    this.#held = '';
    this.#timer = setTimeout(this.#flush, TOGETHER);
  };

  #go(text: string, end: boolean): void {
    this.#send({ id: this.#id, ...(!this.begun && { head: EVENTS }), text, end });
    this.begun = true;
  }
}
