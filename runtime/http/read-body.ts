import type { IncomingMessage } from 'node:http';
import { type AppError, failure } from '../errors.ts';

/**
 * Reads a body as text, up to `limit` bytes. What is too much is not kept.
 *
 * @throws AppError 413, or 400 when the client went away.
 */
export function readBody(request: IncomingMessage, limit: number): Promise<string> {
  return new Promise((resolve, reject) => takeBody(request, limit, resolve, reject));
}

/** The same without a promise, for requests that take less time than one. Either function is called once. */
export function takeBody(request: IncomingMessage, limit: number, taken: (text: string) => void, failed: (error: AppError) => void): void {
  const announced = Number(request.headers['content-length'] ?? 0);
  if (announced > limit) return failed(tooLarge(limit));
  let chunks: Buffer[] | undefined = [];
  let size = 0;
  const fail = (error: AppError) => {
    if (chunks) failed(error);
    chunks = undefined;
  };
  request.on('data', (chunk: Buffer) => {
    size += chunk.length;
    if (size > limit) fail(tooLarge(limit));
    else chunks?.push(chunk);
  });
  request.on('end', () => {
    const all = chunks;
    chunks = undefined;
    if (all) taken(textOf(all));
  });
  request.on('error', () => fail(failure.badRequest('the request was cut off')));
}

const textOf = (chunks: readonly Buffer[]) => (chunks.length === 1 ? (chunks[0] as Buffer) : Buffer.concat(chunks)).toString('utf8');

const tooLarge = (limit: number) => failure.tooLarge(`the body has more than ${limit} bytes`, { extensions: { limit } });

/** Whether a body is JSON that we can read: in UTF-8, and not compressed. */
export function isJsonBody(contentType: string | undefined): boolean {
  if (contentType === 'application/json') return true;
  const [type, ...parameters] = (contentType ?? '').split(';').map((part) => part.trim().toLowerCase());
  if (type !== 'application/json' && type !== 'application/graphql+json') return false;
  return parameters.every((parameter) => !parameter.startsWith('charset=') || /^charset="?utf-?8"?$/.test(parameter));
}
