import type { Transform } from 'node:stream';
import {
  constants,
  createBrotliCompress,
  createGzip,
  createZstdCompress,
  type ZlibOptions,
} from 'node:zlib';
import Negotiator from 'negotiator';
import type { ClientRequest } from './client.ts';
import type { ResponseHead } from './response-reader.ts';

/** The content codings that are offered, the preferred one first. */
const ENCODINGS = ['zstd', 'br', 'gzip'] as const;
export type Encoding = (typeof ENCODINGS)[number];

/** A shorter body becomes hardly smaller. */
const MIN_LENGTH = 1024;
/** Media types whose bodies become smaller. */
const COMPRESSIBLE = new RegExp(
  [
    /text\/(?!event-stream\b)/,
    /application\/(?:[\w.-]+\+)?(?:json|xml|javascript|x-javascript|ecmascript)\b/,
    /application\/(?:[\w.-]+\+)?(?:x-ndjson|ndjson|wasm|yaml|x-yaml|manifest)\b/,
    /[\w.-]+\/[\w.-]+\+(?:json|xml|yaml)\b/,
    /image\/(?:svg\+xml|bmp|x-icon)\b/,
    /font\/(?:ttf|otf)\b/,
  ]
    .map(({ source }) => `^${source}`)
    .join('|'),
  'i',
);
/** Header fields of a hash of the body, which compression would make wrong. */
const HASHES = new Set(['content-md5', 'content-digest', 'digest']);

/** How to change a response: null leaves it as it is. */
export interface CompressionPlan {
  /** Null when the client takes none of them: the response then only says that it varies. */
  readonly encoding: Encoding | null;
  readonly headers: string[];
}

/** Decides by the head whether a response is compressed, and how (RFC 9110 §12.5.3). */
export function planCompression(
  request: ClientRequest,
  { status, headers, length }: ResponseHead,
): CompressionPlan | null {
  if ((length !== null && length < MIN_LENGTH) || request.method === 'HEAD') return null;
  if (status < 200 || status === 206 || request.httpVersion === '1.0') return null;
  if (!isCompressible(headers)) return null;
  const encoding = preferred(request);
  return { encoding, headers: encoding ? encodedHeaders(headers, encoding) : varying(headers) };
}

function isCompressible(headers: readonly string[]): boolean {
  let isText = false;
  for (let at = 0; at < headers.length; at += 2) {
    const name = (headers[at] as string).toLowerCase();
    const value = headers[at + 1] as string;
    if (name === 'content-type') isText = COMPRESSIBLE.test(value);
    if (name === 'content-encoding' && value.toLowerCase() !== 'identity') return false;
    if (name === 'cache-control' && /\bno-transform\b/i.test(value)) return false;
    if (name === 'content-range' || HASHES.has(name)) return false;
  }
  return isText;
}

/** Of equally welcome codings the first in our list is used, whatever order the client names. */
function preferred(request: ClientRequest): Encoding | null {
  if (request.headers['accept-encoding'] === undefined) return null;
  const accepted = new Negotiator(request as never).encodings([...ENCODINGS]);
  return ENCODINGS.find((encoding) => accepted.includes(encoding)) ?? null;
}

/** The encoded body has another length, and its bytes differ from those that the tag means. */
function encodedHeaders(headers: readonly string[], encoding: Encoding): string[] {
  const changed: string[] = [];
  for (let at = 0; at < headers.length; at += 2) {
    const name = headers[at] as string;
    const value = headers[at + 1] as string;
    const lower = name.toLowerCase();
    if (lower === 'content-length' || lower === 'accept-ranges' || lower === 'content-encoding')
      continue;
    changed.push(name, lower === 'etag' && value.startsWith('"') ? `W/${value}` : value);
  }
  return varying([...changed, 'Content-Encoding', encoding]);
}

/** Adds `Accept-Encoding` to `Vary`. */
function varying(headers: readonly string[]): string[] {
  const changed = [...headers];
  const at = headers.findIndex((name, index) => index % 2 === 0 && name.toLowerCase() === 'vary');
  if (at < 0) changed.push('Vary', 'Accept-Encoding');
  else if (!/(?:^|,)\s*(?:\*|accept-encoding)\s*(?:,|$)/i.test(headers[at + 1] as string))
    changed[at + 1] = `${headers[at + 1]}, Accept-Encoding`;
  return changed;
}

const GZIP_LEVEL = 4;
const BROTLI_QUALITY = 4;
const ZSTD_LEVEL = 3;

/**
 * @param length Null when it is unknown: the app may pause, so all that it has sent is passed on at
 * once.
 */
export function createEncoder(encoding: Encoding, length: number | null): Transform {
  if (encoding === 'gzip') {
    const options: ZlibOptions = { level: GZIP_LEVEL };
    return createGzip(length === null ? { ...options, flush: constants.Z_SYNC_FLUSH } : options);
  }
  if (encoding === 'br')
    return createBrotliCompress({
      ...(length === null && { flush: constants.BROTLI_OPERATION_FLUSH }),
      params: {
        [constants.BROTLI_PARAM_QUALITY]: BROTLI_QUALITY,
        [constants.BROTLI_PARAM_LGWIN]: 19,
        ...(length !== null && { [constants.BROTLI_PARAM_SIZE_HINT]: Math.min(length, 2 ** 30) }),
      },
    });
  return createZstdCompress({
    ...(length === null && { flush: constants.ZSTD_e_flush }),
    params: { [constants.ZSTD_c_compressionLevel]: ZSTD_LEVEL },
  });
}
