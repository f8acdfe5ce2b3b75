import type { IncomingMessage } from 'node:http';
import { failure } from '../errors.ts';

/**
 * Reads a body as text, up to `limit` bytes. What is too much is not kept.
 *
 * @throws AppError 413, or 400 when the client went away.
 */
export function readBody(request: IncomingMessage, limit: number): Promise<string> {
  const announced = Number(request.headers['content-length'] ?? 0);
  if (announced > limit) return Promise.reject(tooLarge(limit));
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let size = 0;
    request.on('data', (chunk: Buffer) => {
      size += chunk.length;
      if (size <= limit) chunks.push(chunk);
      else {
        chunks.length = 0;
        reject(tooLarge(limit));
      }
    });
    request.on('end', () => resolve(chunks.length === 1 ? (chunks[0] as Buffer).toString('utf8') : Buffer.concat(chunks).toString('utf8')));
    request.on('error', () => reject(failure.badRequest('the request was cut off')));
    request.on('aborted', () => reject(failure.badRequest('the request was cut off')));
  });
}

const tooLarge = (limit: number) => failure.tooLarge(`the body has more than ${limit} bytes`, { extensions: { limit } });

/** Whether a body is JSON that we can read: in UTF-8, and not compressed. */
export function isJsonBody(contentType: string | undefined): boolean {
  if (contentType === 'application/json') return true;
  const [type, ...parameters] = (contentType ?? '').split(';').map((part) => part.trim().toLowerCase());
  if (type !== 'application/json' && type !== 'application/graphql+json') return false;
  return parameters.every((parameter) => !parameter.startsWith('charset=') || /^charset="?utf-?8"?$/.test(parameter));
}
