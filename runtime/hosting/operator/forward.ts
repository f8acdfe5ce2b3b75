import {
  createServer,
  type IncomingMessage,
  request,
  type Server,
  type ServerResponse,
} from 'node:http';
import { Readable } from 'node:stream';
import { finished } from 'node:stream/promises';
import type { RouteSpec } from '@twofold/schema';
import type { Logger } from '@twofold/runtime/kernel';
import { AppError, failure } from '@twofold/runtime/errors';
import { type Call, type Handler, type Reply, reply } from '@twofold/runtime/http';
import { readBytes } from '../read-bytes.ts';

/**
 * The parts of a call that its handler reads, as they are sent to the leader. The body of an upload
 * follows as a stream.
 */
interface ForwardedCall {
  readonly id: string;
  readonly params: Call['params'];
  readonly query: unknown;
  readonly body: unknown;
  readonly requestId: string;
  readonly ip: string;
  readonly headers: Call['context']['headers'];
  readonly principal: Call['context']['principal'];
}

const HEADER = 'x-twofold-call';

/** Accepts calls from other processes on a socket, and runs them like calls of this process. */
export function serveCalls(handle: Handler, specs: readonly RouteSpec[], log: Logger): Server {
  const routes = new Map(specs.map((spec) => [spec.id, spec]));
  return createServer(
    { requestTimeout: 0, maxHeaderSize: 4 * 1024 * 1024 },
    (incoming, response) => {
      void run(incoming, response).catch((error: unknown) => {
        if (!(error instanceof AppError))
          log.error({ stack: (error as Error).stack }, 'a forwarded call failed');
        const known =
          error instanceof AppError
            ? error
            : new AppError(500, 'INTERNAL_SERVER_ERROR', 'Internal server error');
        if (response.headersSent) return void response.destroy();
        response
          .writeHead(known.status, { ...known.headers, 'Content-Type': 'application/json' })
          .end(JSON.stringify({ error: known.message, code: known.code }));
      });
    },
  );

  async function run(incoming: IncomingMessage, response: ServerResponse): Promise<void> {
    const forwarded = JSON.parse(
      Buffer.from(String(incoming.headers[HEADER]), 'base64').toString('utf8'),
    ) as ForwardedCall;
    const route = routes.get(forwarded.id);
    if (!route) throw failure.notFound();
    await answer(response, await handle(toCall(forwarded, { route, incoming, response, log })));
  }
}

function toCall(
  { params, query, body, requestId, ip, headers, principal }: ForwardedCall,
  {
    route,
    incoming,
    response,
    log,
  }: { route: RouteSpec; incoming: IncomingMessage; response: ServerResponse; log: Logger },
): Call {
  const abort = new AbortController();
  response.once('close', () => !response.writableFinished && abort.abort());
  const get = (name: string) => String(headers[name.toLowerCase()] ?? '');
  return {
    route,
    params,
    query,
    body,
    context: {
      id: requestId,
      ip,
      headers,
      principal,
      log,
      signal: abort.signal,
    } as Call['context'],
    koa: { req: incoming, res: response, get } as unknown as Call['koa'],
  };
}

async function answer(
  response: ServerResponse,
  { status, body, headers = {} }: Reply,
): Promise<void> {
  const isText = typeof body === 'string' || Buffer.isBuffer(body);
  const isStream = body instanceof Readable;
  response.writeHead(status, {
    ...(body !== undefined &&
      !isText &&
      !isStream && { 'Content-Type': 'application/json; charset=utf-8' }),
    ...(headers as Record<string, string>),
  });
  if (!isStream)
    return void response.end(isText || body === undefined ? body : JSON.stringify(body));
  response.flushHeaders();
  body.pipe(response);
  response.once('close', () => body.destroy());
  await finished(response).catch(() => {});
}

/** The leader could not be reached, and has received nothing of the call. */
export class Unreachable extends AppError {
  constructor(message: string, options?: { readonly cause?: unknown }) {
    super(503, 'UNAVAILABLE', message, options);
  }
}

/**
 * A handler that forwards its calls. `socket` is where the leader accepts them; null while this
 * machine has no leader.
 *
 * @throws Unreachable
 */
export function forwarding(socket: () => Promise<string | null>): Handler {
  return async (call) => {
    const path = await socket();
    if (path === null) throw new Unreachable('The process that operates the apps is starting');
    return forwardCall(call, path);
  };
}

function forwardCall(
  { route, params, query, body, context, koa }: Call,
  socketPath: string,
): Promise<Reply> {
  const { id: requestId, ip, headers, principal } = context;
  const forwarded: ForwardedCall = {
    id: route.id,
    params,
    query,
    body,
    requestId,
    ip,
    headers,
    principal,
  };
  return new Promise((resolve, reject) => {
    let connected = false;
    const sent = request({
      socketPath,
      method: 'POST',
      path: '/',
      agent: false,
      headers: { [HEADER]: Buffer.from(JSON.stringify(forwarded)).toString('base64') },
    });
    sent.on('response', (answer) => void receive(answer).then(resolve, reject));
    sent.on('error', (cause) => {
      const message = 'The process that operates the apps does not answer';
      reject(
        connected ? failure.unavailable(message, { cause }) : new Unreachable(message, { cause }),
      );
    });
    context.signal.addEventListener('abort', () => sent.destroy(), { once: true });
    sent.on('socket', (to) =>
      to.once('connect', () => {
        connected = true;
        // The upload is read only after the connection is open: an upload that was read once could
        // not be sent to the next leader.
        if (route.body?.kind === 'stream') koa.req.pipe(sent);
        else sent.end();
      }),
    );
  });
}

async function receive(answer: IncomingMessage): Promise<Reply> {
  const {
    connection: _c,
    'transfer-encoding': _t,
    'content-length': _l,
    date: _d,
    'keep-alive': _k,
    ...headers
  } = answer.headers;
  const status = answer.statusCode ?? 500;
  if (!headers['content-type']?.includes('application/json'))
    return reply(status, answer, headers as Record<string, string>);
  const body = JSON.parse((await readBytes(answer)).toString('utf8')) as {
    error?: unknown;
    code?: string;
  };
  const { 'content-type': _type, ...others } = headers as Record<string, string>;
  // An error that is not a text comes from a model's API, and is passed on unchanged.
  if (status < 400 || typeof body.error !== 'string') return reply(status, body, others);
  throw new AppError(status, body.code ?? 'INTERNAL_SERVER_ERROR', body.error);
}
