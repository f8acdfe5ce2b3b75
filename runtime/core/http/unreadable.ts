import { type ServerResponse, STATUS_CODES } from 'node:http';
import type { Duplex } from 'node:stream';
import type { Context, Next } from 'koa';

interface Refusal {
  readonly status: number;
  readonly message: string;
}

/** Errors of Node's HTTP parser by code. RFC 9110 §15.5, RFC 6585 §5 */
const REFUSALS: Readonly<Record<string, Refusal>> = {
  HPE_HEADER_OVERFLOW: { status: 431, message: 'Request header fields too large' },
  HPE_CHUNK_EXTENSIONS_OVERFLOW: { status: 413, message: 'Request body too large' },
  ERR_HTTP_REQUEST_TIMEOUT: { status: 408, message: 'Request timeout' },
};

/**
 * Answers bytes that are not an HTTP request with an error in the usual format. It then closes the
 * connection, because the beginning of the next request is unknown. Nothing is written into a
 * response that has begun.
 *
 * @example server.on('clientError', refuseUnreadable); // HTTP/1.1 400 Bad Request … {"error":"Invalid request"}
 */
export function refuseUnreadable(error: Error & { readonly code?: string }, socket: Duplex): void {
  if (error.code === 'ECONNRESET' || !socket.writable) return void socket.destroy(error);
  const { _httpMessage: begun } = socket as Duplex & { readonly _httpMessage?: ServerResponse };
  if (begun?.headersSent) return void socket.destroy(error);
  const { status, message } = REFUSALS[error.code ?? ''] ?? {
    status: 400,
    message: 'Invalid request',
  };
  const body = JSON.stringify({ error: message });
  const head = [
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}`,
    'Content-Type: application/json; charset=utf-8',
    `Content-Length: ${body.length}`,
    'Cache-Control: no-store',
    'Connection: close',
  ];
  socket.end(`${head.join('\r\n')}\r\n\r\n${body}`, () => socket.destroy());
}

/**
 * Refuses a request whose target is no address, as `http://[`: Koa would throw wherever its path is
 * read, in the middleware that counts and reports errors too. It comes before all other middleware.
 */
export function knownTarget(ctx: Context, next: Next): Promise<void> | undefined {
  if (isAddress(ctx)) return next();
  ctx.status = 400;
  ctx.body = { error: 'Invalid request' };
  return undefined;
}

/** Koa keeps what it has read, so that this costs nothing. */
function isAddress(ctx: Context): boolean {
  try {
    return typeof ctx.path === 'string';
  } catch {
    return false;
  }
}

/**
 * Answers a request that asks for another protocol, and closes its connection. Node waits until the
 * client closes it, and has no time limit for it.
 */
export function refuseUpgrade(socket: Duplex, status: number): void {
  const head = `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\nConnection: close\r\n\r\n`;
  socket.end(head, () => socket.destroy());
}
