import { Readable, Stream } from 'node:stream';
import type Koa from 'koa';
import type { Context as KoaContext } from 'koa';
import { failure } from '../errors.ts';

/**
 * Listens to the errors of every stream that becomes a body. One that fails before Koa reads it
 * would otherwise end the process.
 */
export function guardStreams(koa: Koa): void {
  const { get, set } = Object.getOwnPropertyDescriptor(
    Object.getPrototypeOf(koa.response),
    'body',
  ) as Required<PropertyDescriptor>;
  Object.defineProperty(koa.response, 'body', {
    configurable: true,
    get,
    set(this: Koa.Response, value: unknown) {
      if (value instanceof Stream) value.on('error', () => {});
      set.call(this, value);
    },
  });
}

/** Media types of responses whose first byte may come long after the headers. */
const EVENTS = /^text\/event-stream/;

/**
 * Waits for the first byte of a body that is a stream, so that one which cannot be opened is
 * answered with an error and not with an empty 200.
 *
 * @throws AppError 404 for a file that is not there, otherwise the stream's own error.
 */
export function openedStream(ctx: KoaContext): Promise<void> | undefined {
  const { body } = ctx;
  if (!(body instanceof Readable) || ctx.res.headersSent || EVENTS.test(ctx.type)) return undefined;
  return firstByte(body).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') throw failure.notFound('Not found', { cause: error });
    throw error;
  });
}

function firstByte(stream: Readable): Promise<void> {
  return new Promise((resolve, reject) => {
    if (stream.errored) return reject(stream.errored);
    if (stream.readableLength > 0 || stream.readableEnded || stream.destroyed) return resolve();
    const settle = (error?: Error) => {
      stream.off('readable', settle).off('end', settle).off('close', settle).off('error', settle);
      if (error) reject(error);
      else resolve();
    };
    stream.on('readable', settle).on('end', settle).on('close', settle).on('error', settle);
  });
}
