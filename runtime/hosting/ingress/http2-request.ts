import { constants, type IncomingHttpHeaders, type ServerHttp2Stream } from 'node:http2';
import type { ClientRequest } from './client.ts';
import { encodeRawUtf8 } from './raw-path.ts';

/** A request over HTTP/2 in the form of a request over HTTP/1.1. */
export class Http2Request implements ClientRequest {
  readonly httpVersion = '2.0';
  readonly method: string | undefined;
  readonly url: string | undefined;
  readonly headers: IncomingHttpHeaders;
  readonly rawHeaders: readonly string[];
  rawTrailers: readonly string[] = [];
  readonly #stream: ServerHttp2Stream;

  constructor(stream: ServerHttp2Stream, headers: IncomingHttpHeaders, raw: readonly string[]) {
    this.#stream = stream;
    this.method = headers[':method'];
    this.url = encodeRawUtf8(headers[':path']);
    this.headers = headers;
    headers.host ??= headers[':authority'];
    this.rawHeaders = plainHeaders(stream, headers, raw);
    // Node emits this when it receives them, which may be before the body is read.
    if (!stream.endAfterHeaders)
      stream.on('trailers', (trailers, _flags, list?: readonly string[]) => {
        this.rawTrailers = list ?? Object.entries(trailers).flat().map(String);
      });
  }

  get socket() {
    return { remoteAddress: this.#stream.session?.socket.remoteAddress };
  }

  get complete(): boolean {
    return this.#stream.endAfterHeaders || this.#stream.readableEnded;
  }

  on(event: 'data' | 'end', listener: (data: Buffer) => void): this {
    if (event === 'data') this.#stream.on('data', listener);
    else this.#onEnd(listener as () => void);
    return this;
  }

  pause(): void {
    this.#stream.pause();
  }

  resume(): void {
    this.#stream.resume();
  }

  /** Node also emits `end` for a stream that was reset. That body is not complete. */
  #onEnd(listener: () => void): void {
    const stream = this.#stream;
    stream.on('end', () => {
      if (!stream.aborted && stream.rstCode === constants.NGHTTP2_NO_ERROR) listener();
    });
  }
}

/**
 * The header fields without the pseudo-header fields. A cookie that was sent in parts is joined
 * (RFC 9113 §8.2.3).
 */
function plainHeaders(
  stream: ServerHttp2Stream,
  headers: IncomingHttpHeaders,
  raw: readonly string[],
): readonly string[] {
  const plain: string[] = [];
  const authority = headers[':authority'];
  if (authority !== undefined) plain.push('Host', authority);
  let cookies = 0;
  for (let at = 0; at < raw.length; at += 2) {
    const name = raw[at] as string;
    if (name.startsWith(':') || (name === 'host' && raw[at + 1] === authority)) continue;
    if (name === 'cookie') cookies += 1;
    if (cookies < 2 || name !== 'cookie') plain.push(name, raw[at + 1] as string);
  }
  if (cookies > 1) plain[plain.indexOf('cookie') + 1] = headers.cookie as string;
  if (!stream.endAfterHeaders && headers['content-length'] === undefined)
    plain.push('transfer-encoding', 'chunked');
  return plain;
}
