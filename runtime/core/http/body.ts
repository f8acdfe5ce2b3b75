import type { Context as KoaContext, Middleware } from 'koa';
import type { BodySpec } from '@twofold/schema';
import { AppError, failure } from '../errors.ts';

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
  let parser: Promise<Middleware> | undefined;
  return async (ctx) => {
    if (isEmpty(ctx)) return absent(spec);
    if (!JSON_TYPE.test(ctx.get('Content-Type'))) throw failure.unsupportedMediaType();
    const parse = await (parser ??= loadParser(spec));
    await parse(ctx as never, async () => {}).catch(rethrow);
    return (ctx.request as { body?: unknown }).body ?? absent(spec);
  };
}

/** Loading koa-body takes a fifth of a server's start, so it waits for the first body. */
async function loadParser({
  limit = JSON_LIMIT,
}: Extract<BodySpec, { kind: 'json' }>): Promise<Middleware> {
  const { koaBody } = await import('koa-body');
  return koaBody({
    json: true,
    text: false,
    urlencoded: false,
    multipart: false,
    jsonStrict: true,
    jsonLimit: limit,
    parsedMethods: ['POST', 'PUT', 'PATCH', 'DELETE'] as never,
  }) as unknown as Middleware;
}

const isEmpty = (ctx: KoaContext) =>
  ctx.get('Content-Length') === '0' ||
  (!ctx.get('Content-Length') && !ctx.get('Transfer-Encoding'));

function absent({ optional }: { readonly optional?: boolean }): unknown {
  if (optional) return {};
  throw failure.badRequest('Invalid JSON');
}

/** koa-body's own error holds the text of the body: only its status is taken from it. */
function rethrow(error: unknown): never {
  const status = (error as { status?: number }).status;
  if (error instanceof AppError) throw error;
  if (status === 413) throw failure.tooLarge();
  if (status === 415) throw failure.unsupportedMediaType();
  throw failure.badRequest('Invalid JSON');
}
