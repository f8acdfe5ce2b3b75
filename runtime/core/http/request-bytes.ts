import type { Readable } from 'node:stream';

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
