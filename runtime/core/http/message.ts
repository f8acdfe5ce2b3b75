import { IncomingMessage } from 'node:http';

/** Takes a body as it comes. */
export interface BodyTaker {
  add(chunk: Buffer): void;
  end(): void;
}

/**
 * A request whose body can be had straight from the parser: as a stream it passes a queue, three events and as many rounds of
 * `nextTick`, which together take as long as a small query. Nobody is told when the client goes away in the middle of it.
 *
 * @example createServer({ IncomingMessage: Message }, (request) => (request as Message).giveBody(taker));
 */
export class Message extends IncomingMessage {
  #taker: BodyTaker | undefined;

  /** To be called before the listener of the request returns: nothing of the body has come by then. */
  giveBody(taker: BodyTaker): void {
    this.#taker = taker;
  }

  override push(chunk: Buffer | null, encoding?: BufferEncoding): boolean {
    const taker = this.#taker;
    if (!taker) return super.push(chunk, encoding);
    if (chunk) taker.add(chunk);
    else taker.end();
    return true;
  }
}
