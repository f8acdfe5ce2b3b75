import type { IncomingHttpHeaders, OutgoingHttpHeaders } from 'node:http';
import type { ResponseHead } from './response-reader.ts';

/**
 * A request of a client. Node's `IncomingMessage` is one. A request over HTTP/2 is shown in the
 * same form: with `Host` instead of `:authority`, and `chunked` for a body of unknown length.
 */
export interface ClientRequest {
  readonly method?: string | undefined;
  readonly url?: string | undefined;
  readonly httpVersion: string;
  readonly headers: IncomingHttpHeaders;
  /** Names and values in turns. */
  readonly rawHeaders: readonly string[];
  /** The fields after the body, names and values in turns, when the body has ended. */
  readonly rawTrailers: readonly string[];
  readonly socket: { readonly remoteAddress?: string | undefined };
  /** Whether the body has been received whole. */
  readonly complete: boolean;
  /** Whether its stream has ended: for a request without a body, that of HTTP/1.1 never begins. */
  readonly readableEnded?: boolean;
  on(event: 'data', listener: (data: Buffer) => void): unknown;
  on(event: 'end', listener: () => void): unknown;
  pause(): unknown;
  resume(): unknown;
}

/** The response to a client. Node's `ServerResponse` is one. */
export interface ClientResponse {
  statusCode: number;
  sendDate: boolean;
  readonly headersSent: boolean;
  readonly destroyed: boolean;
  writeHead(
    status: number,
    reason: string | undefined,
    headers: string[] | OutgoingHttpHeaders,
  ): unknown;
  flushHeaders(): void;
  write(data: Buffer | string): boolean;
  addTrailers(trailers: readonly [string, string][]): void;
  end(data?: Buffer | string, encoding?: BufferEncoding): unknown;
  destroy(): unknown;
  on(event: 'close', listener: () => void): unknown;
  once(event: 'drain', listener: () => void): unknown;
  /**
   * The connection, for HTTP/1.1 only. With HTTP pipelining, a response that waits for an earlier
   * one has none yet.
   */
  readonly socket?: { write(text: string, encoding: BufferEncoding): unknown } | null;
  /** Sends an interim response, for HTTP/2 only. */
  writeInterim?(head: ResponseHead): void;
}
