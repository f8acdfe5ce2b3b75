import type { Context, Middleware } from 'koa';
import { AppError, failure } from '../errors.ts';
import type { RequestContext } from '../context/request-context.ts';
import { isJsonBody, readBody } from '../http/read-body.ts';
import { negotiate, type Answering } from './media-type.ts';
import { parseJson, readParameters, readQueryParameters, type Parameters } from './parameters.ts';
import type { SocketCallers } from './socket-caller.ts';
import { errorsOf, findOperation, refuse, respond, statusOf, type Response, type Service } from './service.ts';

export interface EndpointOptions {
  readonly service: Service;
  readonly bodyLimit: number;
  /** Origins that the server takes cross-site requests from. */
  readonly origins: readonly string[];
  /** The page for browsers, or null when it is off. */
  readonly page: Middleware | null;
  /** Who is behind a WebSocket: its opening request comes through here as well. */
  readonly callers: SocketCallers;
  /** Answers a client that wants server-sent events. */
  readonly stream: (ctx: Context, service: Service, parameters: Parameters) => Promise<void>;
}

/**
 * `/graphql`, as "GraphQL over HTTP" has it. It stands before the router and reads its own body: both would cost more than
 * running a small query.
 */
export function createEndpoint(options: EndpointOptions): Middleware {
  const { service, page } = options;
  const path = service.api.path;
  return async function graphql(ctx, next) {
    // Koa takes the path out of the address anew for every request.
    if (ctx.req.url !== path && ctx.path !== path) return page && ctx.path.startsWith(`${path}/`) ? page(ctx, next) : next();
    if (options.callers.take(ctx)) return;
    const { method, headers } = ctx.req;
    if (method !== 'POST' && method !== 'GET') return methodNotAllowed(ctx);
    const answering = negotiate(headers.accept, page !== null && method === 'GET');
    if (answering === 'text/html') return page?.(ctx, next);
    if (!answering) return send(ctx, 406, 'application/json', { text: '{"errors":[{"message":"answers are application/graphql-response+json or application/json"}]}', refused: 'request' });
    await answer(ctx, options, answering);
  };
}

function methodNotAllowed(ctx: Context): void {
  ctx.set('Allow', 'GET, POST');
  send(ctx, 405, 'application/json', { text: '{"errors":[{"message":"use GET or POST"}]}', refused: 'request' });
}

async function answer(ctx: Context, options: EndpointOptions, answering: Answering): Promise<void> {
  const { service } = options;
  const context = ctx.state['context'] as RequestContext;
  const type = answering === 'application/json' ? answering : 'application/graphql-response+json';
  try {
    const asked = ctx.req.method === 'GET' ? readGet(ctx, options) : await readPost(ctx, options);
    if (answering === 'text/event-stream') return await options.stream(ctx, service, Array.isArray(asked) ? (asked[0] as Parameters) : asked);
    if (Array.isArray(asked)) return await answerBatch(ctx, service, asked, context, type);
    const running = run(ctx, service, asked, context);
    const response = running instanceof Promise ? await running : running;
    send(ctx, statusFor(response, type), type, response);
  } catch (thrown) {
    const response = refuse(errorsOf(thrown), context, service.engine);
    send(ctx, statusOf(thrown) ?? statusFor(response, type), type, response);
  }
}

/** A limit is refused in every media type; another error of the request only in the one that has statuses for it. */
function statusFor({ refused }: Response, type: string): number {
  if (refused === 'limit') return 400;
  return refused && type !== 'application/json' ? 400 : 200;
}

function run(ctx: Context, service: Service, parameters: Parameters, context: RequestContext): Response | Promise<Response> {
  const operation = findOperation(service, parameters);
  const kind = operation.node.operation;
  if (kind === 'subscription') throw failure.badRequest('subscriptions need a WebSocket or Accept: text/event-stream');
  if (kind === 'mutation' && ctx.req.method === 'GET') {
    throw new AppError(405, 'METHOD_NOT_ALLOWED', 'a mutation needs POST', { headers: { Allow: 'POST' } });
  }
  return respond(service, operation, parameters, context);
}

/** Headers that a page cannot send to another site without asking first. */
const PREFLIGHTED = ['x-requested-with', 'apollo-require-preflight', 'x-apollo-operation-name', 'x-csrf-token', 'authorization', 'x-api-key'];

/**
 * A browser sends a GET to any site that a page names. It runs no mutation, and across sites it is refused unless the
 * origin is a known one or a header proves that the browser has asked.
 */
function readGet(ctx: Context, { origins }: EndpointOptions): Parameters {
  const site = ctx.req.headers['sec-fetch-site'];
  const foreign = site !== undefined && site !== 'same-origin' && site !== 'none';
  const known = origins.includes(ctx.req.headers.origin ?? '') || isJsonBody(ctx.req.headers['content-type']) || PREFLIGHTED.some((header) => ctx.req.headers[header] !== undefined);
  if (foreign && !known) throw new AppError(403, 'CSRF_REFUSED', 'a cross-site GET needs a header that makes the browser ask first: X-Requested-With');
  return readQueryParameters(ctx.URL.searchParams);
}

async function readPost(ctx: Context, { bodyLimit, service }: EndpointOptions): Promise<Parameters | Parameters[]> {
  // Other types can be sent by a form on any site, without a preflight.
  if (!isJsonBody(ctx.req.headers['content-type'])) throw failure.unsupportedMediaType('the body must be application/json in UTF-8');
  if (ctx.req.headers['content-encoding'] && ctx.req.headers['content-encoding'] !== 'identity') throw failure.unsupportedMediaType('the body must not be compressed');
  const body: unknown = parseJson(await readBody(ctx.req, bodyLimit), 'the body');
  if (Array.isArray(body)) return readBatch(body, service.api.limits.batch);
  if (typeof body !== 'object' || body === null) throw failure.badRequest('the body must be a JSON object');
  return readParameters(body as Record<string, unknown>);
}

function readBatch(items: readonly unknown[], limit: number): Parameters[] {
  if (limit === 0) throw new AppError(400, 'BATCHING_DISABLED', 'batches are not taken here');
  if (items.length === 0 || items.length > limit) throw new AppError(400, 'BATCH_TOO_LARGE', `a batch has 1 to ${limit} operations`, { extensions: { value: items.length, limit } });
  return items.map((item) => {
    if (typeof item !== 'object' || item === null || Array.isArray(item)) throw failure.badRequest('a batch is a list of objects');
    return readParameters(item as Record<string, unknown>);
  });
}

async function answerBatch(ctx: Context, service: Service, batch: readonly Parameters[], context: RequestContext, type: string): Promise<void> {
  const texts: string[] = [];
  for (const parameters of batch) {
    const attempt = async () => run(ctx, service, parameters, context);
    const response = await attempt().catch((thrown: unknown) => refuse(errorsOf(thrown), context, service.engine));
    texts.push(response.text);
  }
  send(ctx, 200, type, { text: `[${texts.join(',')}]`, refused: false });
}

function send(ctx: Context, status: number, type: string, { text }: Response): void {
  if (ctx.state['answersItself']) return sendNow(ctx, status, type, text);
  ctx.status = status;
  ctx.set('Content-Type', `${type}; charset=utf-8`);
  ctx.body = text;
}

/** Where no middleware waits to see the answer, it need not pass through Koa: that takes a third of a small query's time. */
function sendNow(ctx: Context, status: number, type: string, text: string): void {
  const { res } = ctx;
  ctx.respond = false;
  res.statusCode = status;
  res.setHeader('Content-Type', `${type}; charset=utf-8`);
  res.setHeader('Content-Length', Buffer.byteLength(text));
  res.end(text);
}
