import type { IncomingMessage } from 'node:http';
import type { Context, Middleware } from 'koa';
import { AppError, failure } from '../errors.ts';
import { readFromReplica } from '../http/read-after.ts';
import type { RequestContext } from '../context/request-context.ts';
import { afterSending, sendText, setAnswerHeaders } from '../http/sending.ts';
import { joinTexts, type JsonText } from '../store/large-text.ts';
import { isJsonBody, readBody } from '../http/read-body.ts';
import type { ErrorForm } from '../http/error-boundary.ts';
import { freshContext } from './fresh-context.ts';
import {
  type Answering,
  negotiate,
  parseJson,
  readParameters,
  readQueryParameters,
  type Parameters,
} from './parameters.ts';
import type { SocketCallers } from './socket-caller.ts';
import { shareTime } from './time-limit.ts';
import { toGraphqlError } from './errors.ts';
import { failedResponse, type Response, statusOf } from './response.ts';
import { findOperation, leaveRefused, respond, type Service } from './service.ts';

export interface EndpointOptions {
  readonly service: Service;
  readonly bodyLimit: number;
  /** Origins from which cross-site requests are accepted. */
  readonly origins: readonly string[];
  /** The explorer page, or null when it is switched off. */
  readonly page: Middleware | null;
  /** Finds the caller of a WebSocket, whose opening request runs through this endpoint too. */
  readonly callers: SocketCallers;
  /** Answers a client that wants server-sent events. */
  readonly stream: (ctx: Context, parameters: Parameters) => Promise<void>;
}

const JSON_TYPE = 'application/json';
const GRAPHQL_JSON = 'application/graphql-response+json';

/**
 * Serves `/graphql` as "GraphQL over HTTP" specifies. It runs before the router and reads the body
 * itself, because both would cost more than a small query.
 */
export function createEndpoint(options: EndpointOptions): Middleware {
  const { service, page } = options;
  const { path } = service.api;
  return async function graphql(ctx, next) {
    // Koa parses the URL each time `ctx.path` is read.
    if (ctx.req.url !== path && ctx.path !== path)
      return page && ctx.path.startsWith(`${path}/`) ? page(ctx, next) : next();
    if (options.callers.take(ctx)) return;
    setAnswerHeaders(ctx.res);
    const { method, headers } = ctx.req;
    if (method !== 'POST' && method !== 'GET') return methodNotAllowed(ctx, service);
    const type = negotiate(headers.accept, page !== null && method === 'GET');
    if (type === 'text/html') return page?.(ctx, next);
    if (!type) return notAcceptable(ctx, service);
    try {
      await answer(ctx, options, type);
    } catch (thrown) {
      await sendRefusal(ctx, service, type, thrown);
    }
    afterSending(service.engine.store.memory, ctx.state['context'], ctx.res);
  };
}

/**
 * Formats errors that are thrown outside of the endpoint, by authentication, limits or middleware
 * of the project, like GraphQL errors, so that clients can read their code.
 */
export function createErrorForm({ service }: EndpointOptions): ErrorForm {
  const { path } = service.api;
  return async (ctx, error) => {
    if (ctx.path !== path) return false;
    setAnswerHeaders(ctx.res);
    const { status } = error;
    const { id: requestId } = ctx.state['context'] as RequestContext;
    const type = negotiate(ctx.req.headers.accept, false);
    const text = await shown(ctx, service, error, { ...(status >= 500 && { requestId }) });
    send(
      ctx,
      status,
      type === GRAPHQL_JSON || type === 'text/event-stream' ? GRAPHQL_JSON : JSON_TYPE,
      text,
    );
    return true;
  };
}

/** The text of an error that is no error of an operation. */
async function shown(
  ctx: Context,
  { leave }: Service,
  error: AppError,
  more: Readonly<Record<string, unknown>> = {},
): Promise<JsonText> {
  const { message, code } = error;
  const formatted = { message, extensions: { ...error.extensions, code, ...more } };
  const refused = failedResponse(
    { errors: [{ formatted, error: toGraphqlError(error) }] },
    'request',
  );
  return (leave ? await leave(refused, ctx.state['context']) : refused).text;
}

function methodNotAllowed(ctx: Context, service: Service): Promise<void> {
  ctx.set('Allow', 'GET, POST');
  return sendError(ctx, service, new AppError(405, 'METHOD_NOT_ALLOWED', 'use GET or POST'));
}

const notAcceptable = (ctx: Context, service: Service): Promise<void> =>
  sendError(
    ctx,
    service,
    new AppError(406, 'NOT_ACCEPTABLE', `answers are ${GRAPHQL_JSON} or ${JSON_TYPE}`),
  );

async function sendError(ctx: Context, service: Service, error: AppError): Promise<void> {
  send(ctx, error.status, JSON_TYPE, await shown(ctx, service, error));
}

type OneOrBatch = Parameters | Parameters[];

async function answer(
  ctx: Context,
  options: EndpointOptions,
  type: Exclude<Answering, 'text/html'>,
): Promise<void> {
  const { service } = options;
  const asked = ctx.req.method === 'GET' ? readGet(ctx, options) : await readPost(ctx.req, options);
  if (type === 'text/event-stream')
    return options.stream(ctx, Array.isArray(asked) ? (asked[0] as Parameters) : asked);
  if (Array.isArray(asked)) return send(ctx, 200, type, await answerBatch(ctx, service, asked));
  const response = await run(ctx, service, asked);
  send(ctx, statusFor(response, type), type, response.text);
}

async function sendRefusal(
  ctx: Context,
  service: Service,
  type: Answering,
  thrown: unknown,
): Promise<void> {
  const response = await leaveRefused(service, thrown, ctx.state['context']);
  const contentType = type === JSON_TYPE ? type : GRAPHQL_JSON;
  if (thrown instanceof AppError) ctx.set({ ...thrown.headers });
  send(ctx, statusOf(thrown) ?? statusFor(response, contentType), contentType, response.text);
}

/**
 * A refusal because of a limit has a status in every media type. Other request errors have one only
 * in `application/graphql-response+json`.
 */
function statusFor({ refused }: Response, type: string): number {
  if (refused === 'limit') return 400;
  return refused && type !== 'application/json' ? 400 : 200;
}

async function run(
  ctx: Context,
  service: Service,
  parameters: Parameters,
  context: RequestContext = ctx.state['context'],
): Promise<Response> {
  const found = findOperation(service, parameters, context);
  const operation = found instanceof Promise ? await found : found;
  const kind = operation.node.operation;
  ctx.state['operation'] = operation.node;
  if (kind === 'subscription')
    throw failure.badRequest('subscriptions need a WebSocket or Accept: text/event-stream');
  if (kind === 'mutation' && ctx.req.method === 'GET') {
    throw new AppError(405, 'METHOD_NOT_ALLOWED', 'a mutation needs POST', {
      headers: { Allow: 'POST' },
    });
  }
  const { store } = service.engine;
  // The operations of a batch see what those before them have written.
  if (store.replicas && kind === 'query' && context === ctx.state['context'])
    readFromReplica(store, ctx);
  return respond(service, { operation, parameters, context });
}

/** Headers that make a browser send a preflight first when a page of another site uses them. */
const PREFLIGHTED = [
  'x-requested-with',
  'apollo-require-preflight',
  'x-apollo-operation-name',
  'x-csrf-token',
  'authorization',
  'x-api-key',
];

/**
 * Any page can make a browser send a GET. So a GET runs no mutation, and a cross-site GET is
 * refused unless its origin is known or a header proves that the browser sent a preflight.
 */
function readGet(ctx: Context, { origins }: EndpointOptions): Parameters {
  const site = ctx.req.headers['sec-fetch-site'];
  const foreign = site !== undefined && site !== 'same-origin' && site !== 'none';
  const known =
    origins.includes('*') ||
    origins.includes(ctx.req.headers.origin ?? '') ||
    isJsonBody(ctx.req.headers['content-type']) ||
    PREFLIGHTED.some((header) => ctx.req.headers[header] !== undefined);
  if (foreign && !known)
    throw new AppError(
      403,
      'CSRF_REFUSED',
      'a cross-site GET needs a header that makes the browser ask first: X-Requested-With',
    );
  // `ctx.URL` is empty for a malformed path or Host header.
  return readQueryParameters(new URLSearchParams(ctx.querystring));
}

async function readPost(
  request: IncomingMessage,
  { bodyLimit, service }: EndpointOptions,
): Promise<OneOrBatch> {
  const { headers } = request;
  // A form on any site can send the other media types without a preflight.
  if (!isJsonBody(headers['content-type']))
    throw failure.unsupportedMediaType('the body must be application/json in UTF-8');
  const encoding = headers['content-encoding'];
  if (encoding && encoding !== 'identity')
    throw failure.unsupportedMediaType('the body must not be compressed');
  const body: unknown = parseJson(await readBody(request, bodyLimit), 'the body');
  if (Array.isArray(body)) return readBatch(body, service.api.limits.batch);
  if (typeof body !== 'object' || body === null)
    throw failure.badRequest('the body must be a JSON object');
  return readParameters(body as Record<string, unknown>);
}

function readBatch(items: readonly unknown[], limit: number): Parameters[] {
  if (limit === 0) throw new AppError(400, 'BATCHING_DISABLED', 'batches are not taken here');
  if (items.length === 0 || items.length > limit)
    throw new AppError(400, 'BATCH_TOO_LARGE', `a batch has 1 to ${limit} operations`, {
      extensions: { value: items.length, limit },
    });
  return items.map((item) => {
    if (typeof item !== 'object' || item === null || Array.isArray(item))
      throw failure.badRequest('a batch is a list of objects');
    return readParameters(item as Record<string, unknown>);
  });
}

async function answerBatch(
  ctx: Context,
  service: Service,
  batch: readonly Parameters[],
): Promise<JsonText> {
  const texts: JsonText[] = [];
  const began = performance.now();
  const { memory } = service.engine.store;
  const whole: RequestContext = ctx.state['context'];
  for (const parameters of batch) {
    const context = freshContext(service.engine, whole);
    shareTime(context, began);
    const response = await run(ctx, service, parameters, context).catch((thrown: unknown) =>
      leaveRefused(service, thrown, whole),
    );
    texts.push(texts.length === 0 ? '[' : ',', response.text);
    memory.pass(context, whole);
  }
  return joinTexts([...texts, ']']);
}

function send(ctx: Context, status: number, type: string, text: JsonText): void {
  // Sets headers on Node's response, because `ctx.set` takes half as long again, and Koa searches a
  // text without a type for `<`.
  ctx.res.setHeader('Content-Type', `${type}; charset=utf-8`);
  ctx.status = status;
  sendText(ctx, text);
}
