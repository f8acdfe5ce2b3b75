import type { Context as KoaContext } from 'koa';
import type { BodySpec } from '@twofold/schema';
import { type AppError, failure } from '../errors.ts';
import { readBody } from './read-body.ts';

const JSON_LIMIT = 16 * 1024;
const JSON_TYPE = /^application\/(?:[\w.+-]+\+)?json\s*(?:;|$)/i;

/**
 * Reads the JSON body of one route, within its limit. Other media types are refused, because a page
 * of any site can send `text/plain` without a preflight.
 *
 * @throws AppError 400 `Invalid JSON`, 413, 415
 */
export function jsonBody(
  spec: Extract<BodySpec, { kind: 'json' }>,
): (ctx: KoaContext) => Promise<unknown> {
  return async (ctx) => {
    if (isEmpty(ctx)) return absent(spec);
    const form = spec.form && isForm(ctx);
    if (!form && !isReadable(ctx)) throw failure.unsupportedMediaType();
    const text = await readBody(ctx.req, spec.limit ?? JSON_LIMIT).catch(rethrow);
    if (form) return Object.fromEntries(new URLSearchParams(text));
    return text === '' ? absent(spec) : parseBody(text);
  };
}

export const isForm = (ctx: KoaContext) => ctx.is('urlencoded') === 'urlencoded';

/** Accepts uncompressed JSON in UTF-8 only: a small compressed body could expand without limit. */
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

/**
 * Refuses `__proto__`: when its object is copied into another one, it would become the prototype.
 */
export function refusePrototype(key: string, value: unknown): unknown {
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

/** Removes the limit from the error, which only answers of GraphQL include. */
function rethrow(error: unknown): never {
  throw (error as AppError).status === 413 ? failure.tooLarge() : error;
}
