import { type IncomingMessage, ServerResponse } from 'node:http';

/** Characters. Node joins the head and a text to one string: for a long text the copy costs more than a second write. */
const LONG = 16_384;

/**
 * A response that writes a text of ASCII as Latin-1. The bytes are the same, and Node needs no buffer of three times the
 * size, which it allocates for UTF-8.
 *
 * @example createServer({ ServerResponse: Outgoing }, koa.callback());
 */
export class Outgoing<
  Request extends IncomingMessage = IncomingMessage,
> extends ServerResponse<Request> {
  override end(chunk?: unknown, encoding?: unknown, done?: unknown): this {
    if (typeof chunk !== 'string' || encoding !== undefined || !this.#isAscii(chunk))
      return super.end(chunk, encoding as BufferEncoding, done as () => void);
    if (chunk.length > LONG && !this.headersSent) {
      this.cork();
      this.flushHeaders();
    }
    return super.end(chunk, 'latin1');
  }

  /** Koa has counted the bytes: they are as many as the characters only if each is ASCII. */
  #isAscii(text: string): boolean {
    return !this.headersSent && Number(this.getHeader('Content-Length')) === text.length;
  }
}
