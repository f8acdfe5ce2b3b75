import type { Readable } from 'node:stream';

/**
 * The bytes of a request. A reader that gives up early leaves the rest to be read and thrown away: the caller, who is
 * still sending, gets the answer and not a cut connection, and the connection is not blocked by bytes that are never read.
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
