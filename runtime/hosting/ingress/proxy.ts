import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Dispatcher } from 'undici';
import { forwardedHeaders, responseHeaders } from './headers.ts';
import { sendPage } from './pages.ts';
import type { AppRoute } from './route-table.ts';
import type { PooledTarget, TargetPools } from './target-pool.ts';
import { eject } from './target-pool.ts';

type Controller = Dispatcher.DispatchController;

/** Methods that may be sent twice (RFC 9110 §9.2.2). */
const IDEMPOTENT = new Set(['GET', 'HEAD', 'OPTIONS', 'PUT', 'DELETE', 'TRACE']);
const ATTEMPTS = 3;

interface Exchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  /** Asked for each attempt: the route may have changed since the last. */
  readonly route: () => AppRoute | undefined;
  readonly pools: TargetPools;
  readonly secure: boolean;
  readonly hasBody: boolean;
  readonly now: () => number;
  attempts: number;
}

/** Passes one request to a target of the route and its answer back, both as streams. */
export function proxyRequest(exchange: Omit<Exchange, 'hasBody' | 'attempts'>): void {
  const { headers } = exchange.request;
  const hasBody = headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0;
  send({ ...exchange, hasBody, attempts: 0 });
}

function send(exchange: Exchange, failed?: PooledTarget): void {
  const { request, response, pools } = exchange;
  const targets = exchange.route()?.targets ?? [];
  const pooled = pools.pick(targets, failed?.target) ?? pools.pick(targets);
  if (!pooled) return sendPage(request, response, 'unavailable');
  exchange.attempts += 1;
  pooled.active += 1;
  const options = {
    path: pathOf(request.url ?? '/'),
    method: request.method as Dispatcher.HttpMethod,
    headers: forwardedHeaders(request, exchange.secure),
    body: exchange.hasBody ? request : null,
  };
  const handler = createHandler(exchange, pooled);
  try {
    pooled.pool.dispatch(options, handler);
  } catch {
    // undici refuses what no server should be sent: a path or header with bytes that are not allowed.
    handler.refuse();
  }
}

/** Some clients send the whole address as if we were a forward proxy. */
function pathOf(url: string): string {
  if (url.startsWith('/')) return url;
  if (url === '*') return '/*';
  try {
    const { pathname, search } = new URL(url);
    return pathname + search;
  } catch {
    return '/';
  }
}

function createHandler(exchange: Exchange, pooled: PooledTarget): Dispatcher.DispatchHandler & { refuse(): void } {
  const { request, response } = exchange;
  let controller: Controller | undefined;
  let over = false;
  const end = () => {
    if (over) return false;
    over = true;
    pooled.active -= 1;
    response.off('close', onClose);
    response.off('drain', onDrain);
    return true;
  };
  const onClose = () => {
    if (end()) controller?.abort(new Error('the client went away'));
  };
  const onDrain = () => controller?.resume();
  response.on('close', onClose);

  return {
    refuse: () => void (end() && sendPage(request, response, 'badRequest')),
    onRequestStart(started) {
      controller = started;
      if (over) started.abort(new Error('the client went away'));
    },
    onResponseStart({ rawHeaders }, status, _headers, text) {
      if (status < 200) return;
      response.on('drain', onDrain);
      response.sendDate = false;
      response.writeHead(status, text ?? '', responseHeaders(rawHeaders as Buffer[]));
      // An event stream's head has to arrive before its first event does.
      if (!('content-length' in _headers)) response.flushHeaders();
    },
    onResponseData(given, chunk) {
      if (!response.write(chunk)) given.pause();
    },
    onResponseEnd() {
      if (end()) response.end();
    },
    onResponseError(_controller, error) {
      if (!end()) return;
      fail(exchange, pooled, { error, sent: controller !== undefined });
    },
    // A target that upgrades a connection we did not ask to upgrade has lost its mind.
    onRequestUpgrade: (_controller, _status, _headers, socket) => void socket.destroy(),
  };
}

/**
 * A request that was never sent may go to another target whatever it is; one that was sent only when doing it twice is
 * the same as once and its body has not been used up.
 */
function fail(exchange: Exchange, pooled: PooledTarget, { error, sent }: { error: Error; sent: boolean }): void {
  const { request, response } = exchange;
  if (response.headersSent) return void response.destroy();
  const timedOut = (error as { code?: string }).code === 'UND_ERR_HEADERS_TIMEOUT';
  if (!timedOut) eject(pooled, exchange.now());
  const repeatable = !sent || (IDEMPOTENT.has(request.method ?? '') && !exchange.hasBody);
  if (repeatable && !timedOut && exchange.attempts < ATTEMPTS) return send(exchange, pooled);
  sendPage(request, response, timedOut ? 'timeout' : 'badGateway');
}
