import type { Context as KoaContext } from 'koa';
import { AppError, ConfigError, failure } from '../errors.ts';
import { refusePrototype } from '../http/body.ts';
import { readBytes } from '../http/read-body.ts';
import { createCheck } from './check.ts';
import type { RouteParts } from './parts.ts';
import type { RouteOptions } from './types.ts';

/** The media type of a JSON body. */
export const JSON_TYPE = /^application\/(?:[\w.+-]+\+)?json\s*(?:;\s*charset="?utf-?8"?\s*)?$/i;
const FORM_TYPE = /^application\/x-www-form-urlencoded\s*(?:;\s*charset="?utf-?8"?\s*)?$/i;
const MULTIPART = /^multipart\//i;

type ReadBody = (ctx: KoaContext) => unknown;

/**
 * Makes the function that reads the body of one route. It throws AppError 400 `Invalid JSON`, 413
 * above `server.body_limit`, 415 for a media type that the route does not take.
 *
 * @throws ConfigError for options that exclude each other, or a type that the schema does not have.
 */
export function createBodyReader(
  parts: RouteParts,
  route: string,
  { body, upload }: RouteOptions,
): ReadBody {
  const { bodyLimit } = parts;
  if (upload && body !== undefined)
    throw new ConfigError([
      `${route}: a route has body or upload, not both: read the fields of a form by ctx.files()`,
    ]);
  if (upload) return () => undefined;
  if (body === 'raw') return (ctx) => readRaw(ctx, bodyLimit);
  if (body === undefined) return (ctx) => readParsed(ctx, bodyLimit, false);
  const check = createCheck(parts, route, body);
  return async (ctx) => {
    const parsed = await readParsed(ctx, bodyLimit, true);
    return check(parsed ?? {}, FORM_TYPE.test(ctx.get('Content-Type')) ? 'text' : undefined);
  };
}

function readRaw(ctx: KoaContext, limit: number): Promise<Buffer> {
  return readBytes(ctx.req, limit).catch(rethrow);
}

/** @param strict whether other media types are refused; else they are left unread. */
async function readParsed(ctx: KoaContext, limit: number, strict: boolean): Promise<unknown> {
  const type = ctx.get('Content-Type');
  if (MULTIPART.test(type)) throw failure.unsupportedMediaType();
  if (!hasBody(ctx)) return undefined;
  const isJson = JSON_TYPE.test(type);
  if (!isJson && !FORM_TYPE.test(type)) {
    if (strict || /^application\/(?:[\w.+-]+\+)?json\b/i.test(type))
      throw failure.unsupportedMediaType();
    return undefined;
  }
  // A small compressed body could expand without limit.
  if ((ctx.get('Content-Encoding') || 'identity').toLowerCase() !== 'identity')
    throw failure.unsupportedMediaType();
  const text = (await readRaw(ctx, limit)).toString();
  if (text === '') return undefined;
  return isJson ? parseJson(text) : parseForm(text);
}

const hasBody = (ctx: KoaContext) =>
  ctx.get('Transfer-Encoding') !== '' || Number(ctx.get('Content-Length') || 0) > 0;

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text, refusePrototype);
  } catch {
    // The parser's own message quotes the body, which may hold a password.
    throw failure.badRequest('Invalid JSON');
  }
}

/** Decodes a form. The values of a name that occurs several times become a list. */
function parseForm(text: string): Record<string, string | string[]> {
  const fields: Record<string, string | string[]> = Object.create(null);
  const form = new URLSearchParams(text);
  for (const name of new Set(form.keys())) {
    const values = form.getAll(name);
    fields[name] = values.length === 1 ? (values[0] as string) : values;
  }
  return fields;
}

/** Removes the limit from the error, which only answers of GraphQL include. */
function rethrow(error: unknown): never {
  throw error instanceof AppError && error.status === 413 ? failure.tooLarge() : error;
}
