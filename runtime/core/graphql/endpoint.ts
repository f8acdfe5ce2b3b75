import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Context, Middleware } from 'koa';
import { AppError, failure } from '../errors.ts';
import type { RequestContext } from '../context/request-context.ts';
import { afterSending } from '../http/after-sending.ts';
import { isJsonBody, readBody, takeBody } from '../http/read-body.ts';
import { ANSWER_HEADERS, setAnswerHeaders } from '../http/answer-headers.ts';
import type { ErrorForm } from '../http/error-boundary.ts';
import type { Later } from '../http/turn.ts';
import type { DirectEndpoint } from '../module.ts';
import { freshContext } from './fresh-context.ts';
import { negotiate, type Answering } from './media-type.ts';
import { parseJson, readParameters, readQueryParameters, type Parameters } from './parameters.ts';
import type { SocketCallers } from './socket-caller.ts';
import { shareTime } from './time-limit.ts';
import {
  errorsOf,
  findOperation,
  refuse,
  respond,
  statusOf,
  type Response,
  type Service,
} from './service.ts';

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
  readonly stream: (ctx: Context, parameters: Parameters) => Promise<void>;
}

type Headers = Readonly<Record<string, string>>;

/** One request, whatever carries it. */
interface Exchange {
  readonly request: IncomingMessage;
  readonly context: RequestContext;
  send(status: number, type: string, text: string, headers?: Headers): void;
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
    if (ctx.req.url !== path && ctx.path !== path)
      return page && ctx.path.startsWith(`${path}/`) ? page(ctx, next) : next();
    if (options.callers.take(ctx)) return;
    setAnswerHeaders(ctx.res);
    const { method, headers } = ctx.req;
    const exchange: Exchange = {
      request: ctx.req,
      context: ctx.state['context'] as RequestContext,
      send: (status, type, text, headers = {}) => {
        ctx.set(headers);
        send(ctx, status, type, text);
        afterSending(service.engine.store.memory, exchange.context, ctx.res);
      },
    };
    if (method !== 'POST' && method !== 'GET') return methodNotAllowed(ctx, exchange);
    const answering = negotiate(headers.accept, page !== null && method === 'GET');
    if (answering === 'text/html') return page?.(ctx, next);
    if (!answering)
      return exchange.send(
        406,
        'application/json',
        '{"errors":[{"message":"answers are application/graphql-response+json or application/json","extensions":{"code":"NOT_ACCEPTABLE"}}]}',
      );
    if (answering === 'text/event-stream') return stream(ctx, options, exchange);
    await answer(exchange, service, answering, () =>
      method === 'GET' ? readGet(ctx, options) : readPost(ctx.req, options),
    );
  };
}

/**
 * Errors that are thrown before the endpoint, or after it: by authentication, limits, and middleware of the project. They
 * have the form of GraphQL too, so that clients can read their code.
 */
export function createErrorForm({ service }: EndpointOptions): ErrorForm {
  const { path } = service.api;
  return (ctx, { message, code, extensions, status }) => {
    if (ctx.path !== path) return false;
    setAnswerHeaders(ctx.res);
    const { id: requestId } = ctx.state['context'] as RequestContext;
    const more = { ...extensions, code, ...(status >= 500 && { requestId }) };
    const wanted = negotiate(ctx.req.headers.accept, false);
    const isOurs = wanted === 'application/graphql-response+json' || wanted === 'text/event-stream';
    ctx.set('Content-Type', `${isOurs ? GRAPHQL_JSON : 'application/json'}; charset=utf-8`);
    ctx.body = JSON.stringify({ errors: [{ message, extensions: more }] });
    return true;
  };
}

const GRAPHQL_JSON = 'application/graphql-response+json';

/** The common case of the endpoint without Koa, for a server that has no middleware which would see the request. */
export function createDirectEndpoint(options: EndpointOptions): DirectEndpoint {
  const { path } = options.service.api;
  return {
    takes: ({ method, url, headers }) =>
      method === 'POST' && url === path && isPlain(headers.accept),
    answer: ({ request, response, context, later }) =>
      answerDirectly(
        {
          request,
          context,
          send: (status, type, text, headers = {}) => {
            for (const name in headers) response.setHeader(name, headers[name] as string);
            sendNow(response, status, type, text, context.id);
            afterSending(options.service.engine.store.memory, context, response);
          },
        },
        options,
        later,
      ),
  };
}

function answerDirectly(
  exchange: Exchange,
  { service, bodyLimit }: EndpointOptions,
  later: Later,
): void {
  const { request } = exchange;
  const type = negotiate(request.headers.accept, false) as JsonType;
  const failed = (thrown: unknown) => sendRefusal(exchange, type, thrown);
  try {
    assertReadable(request);
    takeBody(
      request,
      bodyLimit,
      (body) => later(() => void answerTo(exchange, service, type, () => readAsked(body, service))),
      failed,
    );
  } catch (thrown) {
    failed(thrown);
  }
}

type JsonType = Exclude<Answering, 'text/html' | 'text/event-stream'>;

const isPlain = (accept: string | undefined) =>
  !accept ||
  accept === '*/*' ||
  accept === 'application/json' ||
  accept === 'application/graphql-response+json';

function methodNotAllowed(ctx: Context, { send }: Exchange): void {
  ctx.set('Allow', 'GET, POST');
  send(
    405,
    'application/json',
    '{"errors":[{"message":"use GET or POST","extensions":{"code":"METHOD_NOT_ALLOWED"}}]}',
  );
}

type Asked = Parameters | Parameters[];

async function stream(ctx: Context, options: EndpointOptions, exchange: Exchange): Promise<void> {
  try {
    const asked =
      ctx.req.method === 'GET' ? readGet(ctx, options) : await readPost(ctx.req, options);
    await options.stream(ctx, Array.isArray(asked) ? (asked[0] as Parameters) : asked);
  } catch (thrown) {
    sendRefusal(exchange, 'application/graphql-response+json', thrown);
  }
}

async function answer(
  exchange: Exchange,
  service: Service,
  type: JsonType,
  read: () => Asked | Promise<Asked>,
): Promise<void> {
  try {
    const asked = await read();
    await answerTo(exchange, service, type, () => asked);
  } catch (thrown) {
    sendRefusal(exchange, type, thrown);
  }
}

/** Never rejects; a promise only where something has to be waited for. */
function answerTo(
  exchange: Exchange,
  service: Service,
  type: JsonType,
  read: () => Asked,
): void | Promise<void> {
  const finish = (response: Response) =>
    exchange.send(statusFor(response, type), type, response.text);
  const failed = (thrown: unknown) => sendRefusal(exchange, type, thrown);
  try {
    const asked = read();
    if (Array.isArray(asked)) return answerBatch(exchange, service, asked, type).catch(failed);
    const running = run(exchange, service, asked);
    return running instanceof Promise ? running.then(finish).catch(failed) : finish(running);
  } catch (thrown) {
    failed(thrown);
  }
}

function sendRefusal(exchange: Exchange, type: JsonType, thrown: unknown): void {
  const response = refuse(errorsOf(thrown), exchange.context);
  const headers = thrown instanceof AppError ? thrown.headers : {};
  exchange.send(statusOf(thrown) ?? statusFor(response, type), type, response.text, headers);
}

/** A limit is refused in every media type; another error of the request only in the one that has statuses for it. */
function statusFor({ refused }: Response, type: string): number {
  if (refused === 'limit') return 400;
  return refused && type !== 'application/json' ? 400 : 200;
}

function run(
  { request, context }: Exchange,
  service: Service,
  parameters: Parameters,
): Response | Promise<Response> {
  const operation = findOperation(service, parameters);
  const kind = operation.node.operation;
  if (kind === 'subscription')
    throw failure.badRequest('subscriptions need a WebSocket or Accept: text/event-stream');
  if (kind === 'mutation' && request.method === 'GET') {
    throw new AppError(405, 'METHOD_NOT_ALLOWED', 'a mutation needs POST', {
      headers: { Allow: 'POST' },
    });
  }
  return respond(service, operation, parameters, context);
}

/** Headers that a page cannot send to another site without asking first. */
const PREFLIGHTED = [
  'x-requested-with',
  'apollo-require-preflight',
  'x-apollo-operation-name',
  'x-csrf-token',
  'authorization',
  'x-api-key',
];

/**
 * A browser sends a GET to any site that a page names. It runs no mutation, and across sites it is refused unless the
 * origin is a known one or a header proves that the browser has asked.
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
  // Not of `ctx.URL`, which an odd path or Host leaves empty.
  return readQueryParameters(new URLSearchParams(ctx.querystring));
}

async function readPost(
  request: IncomingMessage,
  { bodyLimit, service }: EndpointOptions,
): Promise<Asked> {
  assertReadable(request);
  return readAsked(await readBody(request, bodyLimit), service);
}

function assertReadable({ headers }: IncomingMessage): void {
  // Other types can be sent by a form on any site, without a preflight.
  if (!isJsonBody(headers['content-type']))
    throw failure.unsupportedMediaType('the body must be application/json in UTF-8');
  const encoding = headers['content-encoding'];
  if (encoding && encoding !== 'identity')
    throw failure.unsupportedMediaType('the body must not be compressed');
}

function readAsked(text: string, { api }: Service): Asked {
  const body: unknown = parseJson(text, 'the body');
  if (Array.isArray(body)) return readBatch(body, api.limits.batch);
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
  exchange: Exchange,
  service: Service,
  batch: readonly Parameters[],
  type: string,
): Promise<void> {
  const texts: string[] = [];
  const began = performance.now();
  const { memory } = service.engine.store;
  for (const parameters of batch) {
    const context = freshContext(service.engine, exchange.context);
    shareTime(context, began);
    const attempt = async () => run({ ...exchange, context }, service, parameters);
    const response = await attempt().catch((thrown: unknown) =>
      refuse(errorsOf(thrown), exchange.context),
    );
    texts.push(response.text);
    memory.pass(context, exchange.context);
  }
  exchange.send(200, type, `[${texts.join(',')}]`);
}

function send(ctx: Context, status: number, type: string, text: string): void {
  if (ctx.state['answersItself']) {
    ctx.respond = false;
    return sendNow(ctx.res, status, type, text);
  }
  ctx.status = status;
  ctx.set('Content-Type', `${type}; charset=utf-8`);
  ctx.body = text;
}

/** Units of a text. Node joins headers and text to one string, and what a long one costs is the copy of it, and collecting that. */
const LONG = 16_384;

/** Where no middleware waits to see the answer, it need not pass through Koa: that takes a third of a small query's time. */
function sendNow(
  response: ServerResponse,
  status: number,
  type: string,
  text: string,
  id?: string,
): void {
  const bytes = Buffer.byteLength(text);
  const length = String(bytes);
  const content =
    type === 'application/json' ? 'application/json; charset=utf-8' : `${type}; charset=utf-8`;
  response.writeHead(
    status,
    id === undefined
      ? ['Content-Type', content, 'Content-Length', length]
      : [...ANSWER_HEADERS, 'X-Request-Id', id, 'Content-Type', content, 'Content-Length', length],
  );
  if (text.length > LONG) {
    response.cork();
    response.flushHeaders();
  }
  // Of ASCII both encodings make the same bytes, and Latin-1 is written without a second buffer of three times the size.
  response.end(text, bytes === text.length ? 'latin1' : 'utf8');
}
