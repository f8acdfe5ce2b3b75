import { type IncomingMessage, ServerResponse } from 'node:http';

/**
 * Characters. Node joins headers and a text to one string: for a longer text the copy costs more
 * than a second write.
 */
const LONG_TEXT = 16_384;

/**
 * A response that writes ASCII text as Latin-1. The bytes are the same, and Node need not allocate
 * a buffer of three times the size, as it does for UTF-8.
 *
 * @example createServer({ ServerResponse: Outgoing }, koa.callback());
 */
export class Outgoing<
  Request extends IncomingMessage = IncomingMessage,
> extends ServerResponse<Request> {
  override end(chunk?: unknown, encoding?: unknown, done?: unknown): this {
    if (typeof chunk !== 'string' || encoding !== undefined || !this.#isAscii(chunk))
      return super.end(chunk, encoding as BufferEncoding, done as () => void);
    if (chunk.length > LONG_TEXT && !this.headersSent) {
      this.cork();
      this.flushHeaders();
    }
    return super.end(chunk, 'latin1');
  }

  /** Koa has set the length in bytes, which equals the number of characters only for ASCII. */
  #isAscii(text: string): boolean {
    return !this.headersSent && Number(this.getHeader('Content-Length')) === text.length;
  }
}
