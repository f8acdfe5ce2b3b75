import { Readable } from 'node:stream';
import { Busboy, type BusboyInstance } from '@fastify/busboy';
import { AppError, failure } from '@twofold/runtime/errors';
import { pump } from '../archives/chunks.ts';

/** A part of a form: its name, and its bytes as they arrive. */
export interface FormPart {
  readonly name: string;
  readonly data: AsyncIterable<Buffer>;
}

const LIMITS = { parts: 20, headerPairs: 20, headerSize: 8 * 1024 };
/**
 * The most bytes that may arrive without being passed to the caller: headers, the text around the
 * parts, and buffered data.
 */
const MAX_UNSEEN = 1024 * 1024;

/**
 * Reads a `multipart/form-data` body as a stream (RFC 7578). Parts are not stored, so their size
 * does not matter. Bytes of a part that the caller does not read are skipped.
 *
 * @throws AppError 415 for another content type, 400 for a form that is not well formed or is cut
 * off.
 */
export async function* readForm(
  chunks: AsyncIterable<Buffer>,
  contentType: string,
): AsyncGenerator<FormPart> {
  const parser = createParser(contentType);
  const parts = new Readable({ objectMode: true, read() {} }).on('error', () => {});
  let current: Readable | undefined;
  let unseen = 0;
  const fail = (error: Error) => {
    const shown =
      error instanceof AppError ? error : failure.badRequest(`${MALFORMED}: ${error.message}`);
    current?.destroy(shown);
    parts.destroy(shown);
  };
  const counted = async function* () {
    for await (const chunk of chunks) {
      unseen += chunk.length;
      if (unseen > MAX_UNSEEN) throw failure.badRequest(MALFORMED);
      yield chunk;
    }
  };
  const dataOf = async function* (stream: Readable) {
    for await (const chunk of stream.iterator({ destroyOnReturn: false })) {
      unseen -= (chunk as Buffer).length;
      yield chunk as Buffer;
    }
  };
  parser
    .on('file', (name, stream) => parts.push({ name, stream: stream.on('error', () => {}) }))
    .on('partsLimit', () => fail(failure.badRequest('The form has too many parts')))
    .on('error', (error) => fail(error as Error))
    .on('finish', () => parts.push(null));
  pump(counted(), parser).then(() => parser.end(), fail);
  try {
    for await (const { name, stream } of parts) {
      if (name === undefined) throw failure.badRequest(MALFORMED);
      current = stream as Readable;
      yield { name, data: dataOf(current) };
      if (!current.readableEnded) for await (const _ of dataOf(current));
    }
  } finally {
    parser.destroy();
  }
}

const MALFORMED = 'The form is not well formed';

function createParser(contentType: string): BusboyInstance {
  if (!/^multipart\/form-data\s*;.*\bboundary=/i.test(contentType))
    throw failure.unsupportedMediaType('The body must be multipart/form-data');
  return new Busboy({
    headers: { 'content-type': contentType },
    limits: LIMITS,
    // The parser would keep a part that is not a file in memory.
    isPartAFile: () => true,
  });
}
