import type { OutgoingHttpHeaders } from 'node:http';
import { constants, type ServerHttp2Stream } from 'node:http2';
import type { ClientResponse } from './client.ts';
import type { ResponseHead } from './response-reader.ts';

/** A response over HTTP/2 with the methods of a response over HTTP/1.1. */
export class Http2Response implements ClientResponse {
  statusCode = 200;
  sendDate = true;
  readonly #stream: ServerHttp2Stream;
  #trailers: readonly [string, string][] = [];

  constructor(stream: ServerHttp2Stream) {
    this.#stream = stream;
  }

  get headersSent(): boolean {
    return this.#stream.headersSent;
  }

  get destroyed(): boolean {
    return this.#stream.destroyed || this.#stream.closed;
  }

  /** HTTP/2 has no reason phrase. */
  writeHead(status: number, _reason: string | undefined, headers: string[] | OutgoingHttpHeaders) {
    this.statusCode = status;
    const list = Array.isArray(headers)
      ? fieldLines(status, headers)
      : fieldLines(status, Object.entries(headers).flat().map(String));
    if (this.destroyed) return;
    const waitForTrailers = !list.includes('content-length');
    if (waitForTrailers) this.#stream.on('wantTrailers', () => this.#sendTrailers());
    // Node takes `sendDate` here as for HTTP/1.1; its types lack it.
    const options = { sendDate: this.sendDate, waitForTrailers };
    this.#stream.respond(list as never, options);
  }

  /** The head is sent by `writeHead` already. */
  flushHeaders(): void {}

  write(data: Buffer | string): boolean {
    return !this.destroyed && this.#stream.write(data);
  }

  addTrailers(trailers: readonly [string, string][]): void {
    this.#trailers = trailers;
  }

  end(data?: Buffer | string, encoding: BufferEncoding = 'utf8'): void {
    if (this.destroyed) return;
    if (data === undefined) this.#stream.end();
    else this.#stream.end(data, encoding);
    // Otherwise the client would continue to send a body that is not read.
    if (!this.#stream.endAfterHeaders && !this.#stream.readableEnded)
      this.#stream.once('finish', () => this.#stream.close(constants.NGHTTP2_NO_ERROR));
  }

  /** Resets the stream, so that an incomplete response does not look complete. */
  destroy(): void {
    if (this.destroyed) return;
    // `close` ends the writable side first, which would send END_STREAM before the reset.
    this.#stream._final = (done) => done();
    this.#stream.close(constants.NGHTTP2_INTERNAL_ERROR);
  }

  on(event: 'close', listener: () => void): void {
    this.#stream.on(event, listener);
  }

  once(event: 'drain', listener: () => void): void {
    this.#stream.once(event, listener);
  }

  writeInterim({ status, headers }: ResponseHead): void {
    if (this.destroyed || this.headersSent) return;
    const fields = Object.fromEntries(pairsOf(headers).map(([name, value]) => [name, value]));
    this.#stream.additionalHeaders({ ':status': status, ...fields });
  }

  #sendTrailers(): void {
    if (this.destroyed) return;
    this.#stream.sendTrailers(Object.fromEntries(this.#trailers));
  }
}

/** Names are lower case in HTTP/2, and fields about the connection are not allowed. */
function fieldLines(status: number, headers: readonly string[]): string[] {
  const lines = [':status', String(status)];
  for (let at = 0; at < headers.length; at += 2) {
    const name = (headers[at] as string).toLowerCase();
    if (name !== 'connection') lines.push(name, headers[at + 1] as string);
  }
  return lines;
}

const pairsOf = (headers: readonly string[]): [string, string][] =>
  headers.flatMap((name, at) =>
    at % 2 === 0 ? [[name.toLowerCase(), headers[at + 1] as string] as [string, string]] : [],
  );
