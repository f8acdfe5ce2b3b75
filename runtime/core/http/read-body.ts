import type { IncomingMessage } from 'node:http';
import { type AppError, failure, InternalError } from '../errors.ts';
import { type BodySink, Incoming } from './incoming.ts';
import type { Readable } from 'node:stream';

/**
 * Reads a body as text, up to `limit` bytes; the rest is discarded.
 *
 * @throws AppError 413, or 400 when the client disconnected before the body was complete.
 * InternalError when a middleware has already read the body.
 */
export async function readBody(request: IncomingMessage, limit: number): Promise<string> {
  return (await readBytes(request, limit)).toString();
}

/** Like `readBody`, but as bytes, for a signature over the body. */
export function readBytes(request: IncomingMessage, limit: number): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    if (Number(request.headers['content-length'] ?? 0) > limit) return reject(tooLarge(limit));
    if (request.readableEnded) return reject(new InternalError(READ_BEFORE));
    const body = new Body(limit, resolve, reject);
    if (request instanceof Incoming && request.readInto(body)) return;
    request.on('data', (chunk: Buffer) => body.add(chunk));
    request.on('end', () => body.end());
    request.on('error', () => body.abort());
  });
}

const READ_BEFORE =
  'a middleware has read the body of this request: mount it on its own paths, so that it leaves the others alone';

/** A body in progress. Only the first call of `resolve` or `reject` has an effect. */
class Body implements BodySink {
  readonly #limit: number;
  readonly #resolve: (bytes: Buffer) => void;
  readonly #reject: (error: AppError) => void;
  #chunks: Buffer[] = [];
  #size = 0;

  constructor(limit: number, resolve: (bytes: Buffer) => void, reject: (error: AppError) => void) {
    this.#limit = limit;
    this.#resolve = resolve;
    this.#reject = reject;
  }

  add(chunk: Buffer): void {
    this.#size += chunk.length;
    if (this.#size <= this.#limit) return void this.#chunks.push(chunk);
    this.#chunks = [];
    this.#reject(tooLarge(this.#limit));
  }

  end(): void {
    const [first, second] = this.#chunks;
    this.#resolve(first && !second ? first : Buffer.concat(this.#chunks));
  }

  abort(): void {
    this.#reject(failure.badRequest('the request was cut off'));
  }
}

const tooLarge = (limit: number): AppError =>
  failure.tooLarge(`the body has more than ${limit} bytes`, { extensions: { limit } });

/** Whether a body is JSON that we can read: in UTF-8, and not compressed. */
export function isJsonBody(contentType: string | undefined): boolean {
  if (contentType === 'application/json') return true;
  const [type, ...parameters] = (contentType ?? '')
    .split(';')
    .map((part) => part.trim().toLowerCase());
  if (type !== 'application/json' && type !== 'application/graphql+json') return false;
  return parameters.every(
    (parameter) => !parameter.startsWith('charset=') || /^charset="?utf-?8"?$/.test(parameter),
  );
}

/**
 * The bytes of a request. When a reader stops early, the rest is read and discarded: the caller,
 * who is still sending, gets the answer instead of a closed connection, and unread bytes do not
 * block it.
 *
 * @example
 * for await (const chunk of bytesOf(call.koa.req)) if (tooMuch(chunk)) throw failure.tooLarge();
 */
export async function* bytesOf(request: Readable): AsyncGenerator<Buffer> {
  try {
    for await (const chunk of request.iterator({ destroyOnReturn: false })) yield chunk as Buffer;
  } finally {
    request.resume();
  }
}
