import { PassThrough, Readable } from 'node:stream';
import type { BusboyInstance } from '@fastify/busboy';
import type { Context as KoaContext } from 'koa';
import { AppError, failure } from '../errors.ts';
import { bytesOfSize } from './quantities.ts';

export interface UploadOptions {
  /** `5MiB`, or a number of bytes; 10 MiB when absent. A larger part is 413. */
  readonly maxFileSize?: string | number;
  /** 10 when absent. More parts are 413. */
  readonly maxFiles?: number;
  /** Declared media types of parts with a file name: `image/*`, `text/csv`. Others are 415. */
  readonly types?: readonly string[];
}

/** One part of a form. */
export interface UploadedPart {
  readonly name: string;
  /** Undefined for a field that is no file. It comes from the client: never use it as a path. */
  readonly filename: string | undefined;
  /** The media type that the client declares. */
  readonly type: string;
  readonly stream: Readable;
  text(): Promise<string>;
  bytes(): Promise<Buffer>;
}

interface Limits {
  readonly maxFileSize: number;
  readonly maxFiles: number;
  readonly types: readonly string[] | undefined;
}

const MULTIPART = /^multipart\/form-data\s*;.*\bboundary=/i;

/** `ctx.files` of a route. It reads a form part by part and keeps none of them in memory. */
export function filesOf(
  ctx: KoaContext,
  options: true | UploadOptions,
): () => AsyncGenerator<UploadedPart, void, undefined> {
  const { maxFileSize = '10MiB', maxFiles = 10, types } = options === true ? {} : options;
  const type = ctx.get('Content-Type');
  if (!MULTIPART.test(type))
    throw failure.unsupportedMediaType('The body must be multipart/form-data');
  return () => readParts(ctx, type, { maxFileSize: bytesOfSize(maxFileSize), maxFiles, types });
}

/** A part, and the parser's stream that fills it. */
interface Arriving {
  readonly part: UploadedPart;
  readonly source: Readable;
}

/**
 * Gives each part when its headers have arrived. The client is slowed down while a part is not
 * read, and what the caller leaves unread is skipped. When the caller stops early or the client
 * leaves, the parser and the current part are destroyed.
 *
 * @throws AppError 400, 413, 415
 */
async function* readParts(
  { req }: KoaContext,
  contentType: string,
  limits: Limits,
): AsyncGenerator<UploadedPart, void, undefined> {
  const parser = await createParser(contentType, limits);
  const arriving = new Readable({ objectMode: true, read() {} }).on('error', () => {});
  let current: Arriving | undefined;
  const fail = (error: Error) => {
    const shown = error instanceof AppError ? error : failure.badRequest(MALFORMED);
    current?.part.stream.destroy(shown);
    arriving.destroy(shown);
  };
  const leave = () => {
    if (!req.complete) fail(failure.badRequest('the request was cut off'));
  };
  listen(parser, arriving, limits, fail);
  req.on('error', leave).on('close', leave).pipe(parser);
  try {
    for await (const next of arriving as AsyncIterable<Arriving>) {
      current = next;
      yield next.part;
      // Skips the rest of this part, because the parser would not reach the next one otherwise.
      next.source.unpipe().resume();
    }
  } finally {
    req.off('error', leave).off('close', leave).unpipe(parser);
    current?.part.stream.destroy();
    current?.source.destroy();
    parser.destroy();
    // The rest of the body is discarded, so that the connection can answer.
    req.on('error', () => {}).resume();
  }
}

const MALFORMED = 'The form is not well formed';
const HEADER_LIMITS = { headerPairs: 20, headerSize: 8 * 1024 };

/** The most fields that are not files. A form may have them beside its files. */
const MAX_FIELDS = 100;

/** Loads the parser on the first upload, as most servers have none. */
async function createParser(contentType: string, limits: Limits): Promise<BusboyInstance> {
  const { Busboy } = await import('@fastify/busboy');
  return new Busboy({
    headers: { 'content-type': contentType },
    limits: {
      ...HEADER_LIMITS,
      parts: limits.maxFiles + MAX_FIELDS,
      fileSize: limits.maxFileSize,
    },
    // Every part is treated as a file, because the parser would keep other parts in memory.
    isPartAFile: () => true,
  });
}

function listen(
  parser: BusboyInstance,
  arriving: Readable,
  { maxFiles, types }: Limits,
  fail: (error: Error) => void,
): void {
  const tooMany = () => fail(failure.tooLarge(`A form has at most ${maxFiles} files`));
  let files = 0;
  parser
    .on('file', (name, source, filename, _encoding, type) => {
      source.on('limit', () => fail(failure.tooLarge('A file is too large')));
      source.on('error', () => fail(failure.badRequest(MALFORMED)));
      if (name === undefined) return fail(failure.badRequest(MALFORMED));
      if (filename !== undefined) files += 1;
      if (files > maxFiles) return tooMany();
      if (filename !== undefined && types && !types.some((each) => matches(each, type)))
        return fail(failure.unsupportedMediaType(`${type} is none of ${types.join(', ')}`));
      arriving.push(toPart({ name, filename, type }, source as Readable));
    })
    .on('partsLimit', tooMany)
    .on('error', (error) => fail(error as Error))
    .on('finish', () => arriving.push(null));
}

/** @example matches('image/*', 'image/png') // true */
const matches = (wanted: string, type: string) =>
  wanted.endsWith('/*') ? type.startsWith(wanted.slice(0, -1)) : wanted === type;

/** The caller reads a copy, as the parser emits its own errors on the stream itself. */
function toPart(
  head: Pick<UploadedPart, 'name' | 'filename' | 'type'>,
  source: Readable,
): Arriving {
  const stream = source.pipe(new PassThrough()).on('error', () => {});
  const bytes = async () => Buffer.concat((await stream.toArray()) as Buffer[]);
  const text = async () => (await bytes()).toString();
  return { part: { ...head, stream, bytes, text }, source };
}
