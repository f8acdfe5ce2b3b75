import type { IncomingMessage, ServerResponse } from 'node:http';
import type { RequestOrigin } from './origin.ts';
import { type IngressPage, sendPage } from './pages.ts';
import { requestHead, type RequestHead } from './request-head.ts';
import { type ResponseHead, BadResponse, TruncatedResponse } from './response-reader.ts';
import type { AppRoute } from './route-table.ts';
import { ResponseTimeout, type RunningCall } from './target-connections.ts';
import type { PooledTarget, TargetPools } from './target-pool.ts';
import { eject } from './target-pool.ts';

/** Methods that may be sent twice (RFC 9110 §9.2.2). */
const IDEMPOTENT = new Set(['GET', 'HEAD', 'OPTIONS', 'PUT', 'DELETE', 'TRACE']);
const ATTEMPTS = 3;
const SHORT = 4096;
/** Bytes of a body that is passed on only when it is whole: as much as one read of a connection may bring. */
const WHOLE = 64 * 1024;
/** Milliseconds after which an answer that is kept back is passed on as far as it has come. */
const PATIENCE = 1000;

interface ProxyRequest {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  /** Asked for each attempt: the route may have changed since the last. */
  readonly route: () => AppRoute | undefined;
  readonly pools: TargetPools;
  readonly origin: RequestOrigin;
  readonly now: () => number;
}

interface ProxyExchange extends ProxyRequest {
  readonly head: RequestHead;
  /** Whether it may be sent again to a target that may have seen it. */
  readonly repeatable: boolean;
  attempts: number;
  /** The target that has it now. */
  pooled: PooledTarget | null;
  running: RunningCall | null;
  held: HeldResponse | null;
  over: boolean;
}

/** The beginning of an answer of which the client has seen nothing, so that another target can still give all of it. */
interface HeldResponse {
  readonly head: ResponseHead;
  readonly parts: Buffer[];
  readonly since: number;
}

/** Passes one request to a target of the route and its answer back, both as streams. */
export function proxyRequest(given: ProxyRequest): void {
  const { request, response } = given;
  const head = requestHead(request, given.origin);
  if (!head) return sendPage(request, response, 'badRequest');
  const repeatable = head.body === 'none' && IDEMPOTENT.has(request.method ?? '');
  const exchange: ProxyExchange = {
    ...given,
    head,
    repeatable,
    attempts: 0,
    pooled: null,
    running: null,
    held: null,
    over: false,
  };
  response.on('close', () => {
    if (exchange.over) return;
    exchange.running?.abandon();
    end(exchange);
  });
  send(exchange);
}

function send(exchange: ProxyExchange, failed?: PooledTarget): void {
  const { request, response, pools, head } = exchange;
  const targets = exchange.route()?.targets ?? [];
  const pooled = pools.pick(targets, failed?.target) ?? pools.pick(targets);
  if (!pooled) return refuse(exchange, 'unavailable');
  exchange.attempts += 1;
  exchange.pooled = pooled;
  pooled.active += 1;
  exchange.running = pooled.connections.send({
    ...{
      method: request.method ?? 'GET',
      head,
      body: request,
      once: !exchange.repeatable,
      patient: targets.length === 1 && exchange.attempts === 1,
    },
    movable: () => exchange.route()?.targets.some(({ id }) => id !== pooled.target.id) ?? false,
    onTick: (time) => hurry(exchange, time),
    onInterim: (answer) => passInterim(exchange, answer),
    onHead: (answer) => begin(exchange, answer),
    onBody: (data, last) =>
      exchange.held ? goOn(exchange, exchange.held, { data, last }) : pass(exchange, data, last),
    onEnd() {
      end(exchange);
      response.end();
    },
    onError: (error, sent) => fail(exchange, { error, sent }),
  });
}

/** The target has nothing to do with it any more. */
function leave(exchange: ProxyExchange): void {
  if (exchange.pooled) exchange.pooled.active -= 1;
  exchange.pooled = null;
}

function end(exchange: ProxyExchange): void {
  exchange.over = true;
  leave(exchange);
}

function refuse(exchange: ProxyExchange, page: IngressPage): void {
  end(exchange);
  sendPage(exchange.request, exchange.response, page);
}

/**
 * The head of an answer whose length is known is of no use without its body. Kept back until that begins, and with a
 * short body until that is whole, it leaves a request that may be sent twice free to go to another target.
 */
function begin(exchange: ProxyExchange, head: ResponseHead): void {
  if (exchange.repeatable && head.length)
    exchange.held = { head, parts: [], since: exchange.now() };
  else if (writeHead(exchange, head)) process.nextTick(flush, exchange);
}

function writeHead(exchange: ProxyExchange, { status, reason, headers }: ResponseHead): boolean {
  const { response, running } = exchange;
  exchange.held = null;
  response.sendDate = false;
  try {
    response.writeHead(status, reason, headers);
    return true;
  } catch {
    // The reader refuses all that Node refuses. If it should ever not, this is still the answer of one app only.
    running?.abandon();
    refuse(exchange, 'badGateway');
    return false;
  }
}

/**
 * Interim answers go on as they are, on a connection that is this response's: behind another one it has none yet. HTTP/1.0
 * knows none (RFC 9110 §15.2).
 */
function passInterim(
  { request, response }: ProxyExchange,
  { status, reason, headers }: ResponseHead,
): void {
  if (!response.socket || response.headersSent || request.httpVersion !== '1.1') return;
  const lines = headers.map((text, index) => (index % 2 === 0 ? `${text}: ` : `${text}\r\n`));
  response.socket.write(`HTTP/1.1 ${status} ${reason}\r\n${lines.join('')}\r\n`, 'latin1');
}

/** A head whose body does not come with it goes at once: an event stream's has to arrive before its first event does. */
function flush({ over, response }: ProxyExchange): void {
  if (!over) response.flushHeaders();
}

/** More of an answer that is kept back. */
function goOn(
  exchange: ProxyExchange,
  { head, parts }: HeldResponse,
  { data, last }: { data: Buffer; last: boolean },
): boolean {
  if (!last && (head.length as number) <= WHOLE) {
    parts.push(data);
    return true;
  }
  return (
    !writeHead(exchange, head) ||
    pass(exchange, parts.length > 0 ? Buffer.concat([...parts, data]) : data, last)
  );
}

/**
 * An answer that takes its time is passed on as it comes. On a busy machine this process may have been the late one: what
 * has come meanwhile is read first, in this round of the loop, and a connection that has ended is told of in the next.
 */
function hurry(exchange: ProxyExchange, time: number): void {
  const { held } = exchange;
  if (held && time - held.since > PATIENCE)
    setImmediate(() => setImmediate(release, exchange, held));
}

function release(exchange: ProxyExchange, held: HeldResponse): void {
  if (exchange.over || exchange.held !== held || !writeHead(exchange, held.head)) return;
  exchange.response.flushHeaders();
  if (held.parts.length > 0) exchange.response.write(Buffer.concat(held.parts));
}

function pass(exchange: ProxyExchange, data: Buffer, last: boolean): boolean {
  const { response } = exchange;
  if (!last) return response.write(data) || wait(exchange);
  end(exchange);
  // A short body goes out with the head as one text, which is one write instead of two.
  if (data.length <= SHORT) response.end(data.toString('latin1'), 'latin1');
  else response.end(data);
  return true;
}

/** The client reads more slowly than the target writes. */
function wait({ response, running }: ProxyExchange): false {
  response.once('drain', () => running?.resume());
  return false;
}

/**
 * A request that was never sent may go to another target whatever it is; one that was sent only when doing it twice is
 * the same as once and its body has not been used up. A target that gives a wrong answer, or none in time, is not down,
 * and asking again would only make the client wait longer for the same.
 */
function fail(exchange: ProxyExchange, { error, sent }: { error: Error; sent: boolean }): void {
  const { response, pooled, repeatable, attempts } = exchange;
  leave(exchange);
  exchange.held = null;
  if (response.headersSent) {
    end(exchange);
    return void response.destroy();
  }
  if (error instanceof ResponseTimeout) return refuse(exchange, 'timeout');
  if (error instanceof BadResponse && !(error instanceof TruncatedResponse))
    return refuse(exchange, 'badGateway');
  if (pooled) eject(pooled, exchange.now());
  if (pooled && (repeatable || !sent) && attempts < ATTEMPTS) return send(exchange, pooled);
  refuse(exchange, 'badGateway');
}
