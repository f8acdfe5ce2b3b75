import type { IncomingMessage } from 'node:http';
import { type AppError, failure } from '../errors.ts';
import { type BodyTaker, Message } from './message.ts';

/**
 * Reads a body as text, up to `limit` bytes. What is too much is not kept.
 *
 * @throws AppError 413, or 400 when the client went away.
 */
export function readBody(request: IncomingMessage, limit: number): Promise<string> {
  return new Promise((resolve, reject) => {
    if (isTooLong(request, limit)) reject(tooLarge(limit));
    else stream(request, new Body(limit, resolve, reject));
  });
}

/**
 * The same without a promise, for requests that take less time than one, and from the parser where it can be had so: to be
 * called before the listener of the request returns. One of the functions is called, once; none when the client goes away.
 */
export function takeBody(
  request: IncomingMessage,
  limit: number,
  taken: (text: string) => void,
  failed: (error: AppError) => void,
): void {
  if (isTooLong(request, limit)) return failed(tooLarge(limit));
  const body = new Body(limit, taken, failed);
  if (request instanceof Message) request.giveBody(body);
  else stream(request, body);
}

/** By what it announces. */
const isTooLong = ({ headers }: IncomingMessage, limit: number) =>
  Number(headers['content-length'] ?? 0) > limit;

function stream(request: IncomingMessage, body: Body): void {
  request.on('data', (chunk: Buffer) => body.add(chunk));
  request.on('end', () => body.end());
  request.on('error', () => body.fail(failure.badRequest('the request was cut off')));
}

/** A body that is being put together. */
class Body implements BodyTaker {
  readonly #limit: number;
  readonly #taken: (text: string) => void;
  readonly #failed: (error: AppError) => void;
  #chunks: Buffer[] | undefined = [];
  #size = 0;

  constructor(limit: number, taken: (text: string) => void, failed: (error: AppError) => void) {
    this.#limit = limit;
    this.#taken = taken;
    this.#failed = failed;
  }

  add(chunk: Buffer): void {
    this.#size += chunk.length;
    if (this.#size > this.#limit) this.fail(tooLarge(this.#limit));
    else this.#chunks?.push(chunk);
  }

  end(): void {
    const chunks = this.#chunks;
    this.#chunks = undefined;
    if (chunks) this.#taken(textOf(chunks));
  }

  fail(error: AppError): void {
    const fresh = this.#chunks !== undefined;
    this.#chunks = undefined;
    if (fresh) this.#failed(error);
  }
}

const textOf = (chunks: readonly Buffer[]) =>
  (chunks.length === 1 ? (chunks[0] as Buffer) : Buffer.concat(chunks)).toString('utf8');

const tooLarge = (limit: number) =>
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
