import type { Context as KoaContext } from 'koa';
import type { BodySpec } from '@twofold/schema';
import { type AppError, failure } from '../errors.ts';
import { readBody } from './read-body.ts';

const JSON_LIMIT = 16 * 1024;
const JSON_TYPE = /^application\/(?:[\w.+-]+\+)?json\s*(?:;|$)/i;

/**
 * Reads the JSON body of one route, within its limit. Any other media type is refused: a browser can send `text/plain`
 * across sites without asking first.
 *
 * @throws AppError 400 `Invalid JSON`, 413, 415
 */
export function jsonBody(
  spec: Extract<BodySpec, { kind: 'json' }>,
): (ctx: KoaContext) => Promise<unknown> {
  return async (ctx) => {
    if (isEmpty(ctx)) return absent(spec);
    if (!isReadable(ctx)) throw failure.unsupportedMediaType();
    const text = await readBody(ctx.req, spec.limit ?? JSON_LIMIT).catch(rethrow);
    return text === '' ? absent(spec) : parseBody(text);
  };
}

/** JSON in UTF-8 that is not compressed: a small compressed body could grow without end. */
const isReadable = (ctx: KoaContext) =>
  JSON_TYPE.test(ctx.get('Content-Type')) &&
  (ctx.get('Content-Encoding') || 'identity').toLowerCase() === 'identity';

function parseBody(text: string): unknown {
  try {
    const body = JSON.parse(text, refusePrototype) as unknown;
    if (typeof body === 'object' && body !== null) return body;
  } catch {
    // The parser's own message quotes the body, which may hold a password.
  }
  throw failure.badRequest('Invalid JSON');
}

/** A `__proto__` that was copied into another object would become its prototype. */
function refusePrototype(key: string, value: unknown): unknown {
  if (key === '__proto__') throw new SyntaxError('a body has no __proto__');
  return value;
}

const isEmpty = (ctx: KoaContext) =>
  ctx.get('Content-Length') === '0' ||
  (!ctx.get('Content-Length') && !ctx.get('Transfer-Encoding'));

function absent({ optional }: { readonly optional?: boolean }): unknown {
  if (optional) return {};
  throw failure.badRequest('Invalid JSON');
}

/** The limit is not part of the answer here, as it is in GraphQL's. */
function rethrow(error: unknown): never {
  throw (error as AppError).status === 413 ? failure.tooLarge() : error;
}
