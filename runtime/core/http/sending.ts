import { Readable, Stream } from 'node:stream';
import type { Context, Context as KoaContext } from 'koa';
import type { JsonText } from '../store/large-text.ts';
import { ServerResponse, type IncomingMessage } from 'node:http';
import type { AnswerMemory } from '../store/answer-memory.ts';
import type { Asker } from '../store/bounds.ts';
import type Koa from 'koa';
import { failure } from '../errors.ts';

/**
 * Makes a text the body. A large one is sent piece by piece, as fast as the client reads it, and is
 * gone afterwards: nobody may need it then.
 */
export function sendText(ctx: Context, text: JsonText): void {
  if (typeof text === 'string') return void (ctx.body = text);
  ctx.body = Readable.from(text.pieces);
  ctx.length = text.bytes;
  ctx.res.once('finish', () => text.free());
}

/**
 * Frees the memory that is reserved for an answer when it has been sent or the client has
 * disconnected: its text is in memory until then.
 */
export function afterSending(memory: AnswerMemory, asker: Asker, response: ServerResponse): void {
  if (memory.held === 0) return;
  if (response.writableFinished || response.destroyed) return memory.end(asker);
  response.once('close', () => memory.end(asker));
}

/** Headers for endpoints that run before helmet: those of helmet that matter for JSON. */
const ANSWER_HEADERS = [
  'Strict-Transport-Security',
  'max-age=31536000; includeSubDomains',
  'X-Content-Type-Options',
  'nosniff',
  'X-Frame-Options',
  'SAMEORIGIN',
  'Referrer-Policy',
  'no-referrer',
] as const;

export function setAnswerHeaders(response: ServerResponse): void {
  for (let index = 0; index < ANSWER_HEADERS.length; index += 2)
    response.setHeader(ANSWER_HEADERS[index] as string, ANSWER_HEADERS[index + 1] as string);
}

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

/**
 * Characters. Node joins headers and a text to one string: for a longer text the copy costs more
 * than a second write.
 */
const LONG_TEXT = 16_384;

/**
 * A response that writes ASCII text as Latin-1. The bytes are the same, and Node need not allocate
 * a buffer of three times the size, as it does for UTF-8.
 *
 * @example createServer({ ServerResponse: Outgoing }, koa.callback());
 */
export class Outgoing<
  Request extends IncomingMessage = IncomingMessage,
> extends ServerResponse<Request> {
  override end(chunk?: unknown, encoding?: unknown, done?: unknown): this {
    if (typeof chunk !== 'string' || encoding !== undefined || !this.#isAscii(chunk))
      return super.end(chunk, encoding as BufferEncoding, done as () => void);
    if (chunk.length > LONG_TEXT && !this.headersSent) {
      this.cork();
      this.flushHeaders();
    }
    return super.end(chunk, 'latin1');
  }

  /** Koa has set the length in bytes, which equals the number of characters only for ASCII. */
  #isAscii(text: string): boolean {
    return !this.headersSent && Number(this.getHeader('Content-Length')) === text.length;
  }
}
