import {
  constants,
  type IncomingHttpHeaders,
  performServerHandshake,
  type ServerHttp2Session,
  type ServerHttp2Stream,
  type ServerOptions,
} from 'node:http2';
import type { TLSSocket } from 'node:tls';
import type { ClientRequest, ClientResponse } from './client.ts';
import { Http2Response } from './http2-response.ts';
import { encodeRawUtf8 } from './raw-path.ts';

/** The HTTP/2 sessions of a listener. */
export interface Http2Sessions {
  /** Serves a connection that has agreed on `h2`. */
  accept(socket: TLSSocket): void;
  /** Asks the clients to open new connections for new requests. Running requests continue. */
  release(): void;
  /** Ends each session with its last request. Resolves when all have ended. */
  close(): Promise<void>;
  destroy(): void;
}

/**
 * The limits of a session (RFC 9113 §10.5). Heads are as long as with HTTP/1.1. nghttp2 itself ends
 * a session that sends more than 8 CONTINUATION frames for one head. A client that opens and resets
 * requests faster than this loses its connection (CVE-2023-44487).
 */
const LIMITS = {
  maxSessionMemory: 16,
  maxHeaderListPairs: 200,
  maxOutstandingPings: 8,
  maxSessionRejectedStreams: 50,
  maxSessionInvalidFrames: 50,
  streamResetBurst: 200,
  streamResetRate: 20,
  settings: {
    maxConcurrentStreams: 128,
    maxHeaderListSize: 32 * 1024,
    initialWindowSize: 256 * 1024,
    enableConnectProtocol: false,
  },
} satisfies ServerOptions & Record<string, unknown>;

/** Milliseconds without a frame after which an idle session is closed. */
const IDLE_TIMEOUT = 75_000;
/** Milliseconds between the announcement that a session ends and its end. */
const NOTICE_TIME = 1000;
const LAST_STREAM_ID = 2 ** 31 - 1;

export function createHttp2Sessions(
  handle: (request: ClientRequest, response: ClientResponse) => void,
): Http2Sessions {
  const sessions = new Set<ServerHttp2Session>();
  let released = false;
  const ended = (session: ServerHttp2Session) =>
    new Promise<void>((resolve) => session.once('close', () => resolve()));
  const leave = (session: ServerHttp2Session) => {
    announceEnd(session);
    setTimeout(() => session.close(), NOTICE_TIME).unref();
  };
  return {
    accept(socket) {
      const session = performServerHandshake(socket, LIMITS);
      sessions.add(session);
      session.on('close', () => sessions.delete(session));
      // A client that breaks the protocol or goes away. Node closes the session.
      session.on('error', () => {});
      session.setTimeout(IDLE_TIMEOUT, () => session.close());
      session.on('stream', (stream, headers, _flags, rawHeaders) =>
        serveStream(stream, headers, rawHeaders as unknown as readonly string[]),
      );
      if (released) leave(session);
    },
    release() {
      released = true;
      sessions.forEach(leave);
    },
    async close() {
      released = true;
      const all = [...sessions].map((session) => {
        const end = ended(session);
        leave(session);
        return end;
      });
      await Promise.all(all);
    },
    destroy: () => sessions.forEach((session) => session.destroy()),
  };

  function serveStream(
    stream: ServerHttp2Stream,
    headers: IncomingHttpHeaders,
    raw: readonly string[],
  ): void {
    // A reset with an error code is an `error` event. The `close` event follows.
    stream.on('error', () => {});
    const request = new Http2Request(stream, headers, raw);
    // CONNECT and its like (RFC 9113 §8.5) have no path, and no app can serve them.
    if (request.url === undefined) return stream.close(constants.NGHTTP2_REFUSED_STREAM);
    handle(request, new Http2Response(stream));
  }
}

/**
 * Says that the session will end, without refusing requests that are already on their way (RFC 9113
 * §6.8).
 */
function announceEnd(session: ServerHttp2Session): void {
  if (!session.destroyed && !session.closed)
    session.goaway(constants.NGHTTP2_NO_ERROR, LAST_STREAM_ID);
}

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
