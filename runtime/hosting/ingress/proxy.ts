import type { ClientRequest, ClientResponse } from './client.ts';
import { planCompression } from './compression.ts';
import { encodeBody, type EncodedBody } from './encoded-body.ts';
import type { RequestOrigin } from './origin.ts';
import { type IngressPage, sendPage } from './pages.ts';
import { forwardLine } from './passing-on.ts';
import { requestHead, type RequestHead, trailerLines, wantsTrailers } from './request-head.ts';
import { type ResponseHead, BadResponse, TruncatedResponse } from './response-reader.ts';
import type { AppRoute } from './route-table.ts';
import { ResponseTimeout, type RunningCall } from './target-connections.ts';
import type { PooledTarget, TargetPools } from './target-pool.ts';
import { eject } from './target-pool.ts';
import type { Visit } from './visits.ts';

/** Idempotent methods, which may be sent twice (RFC 9110 §9.2.2). */
const IDEMPOTENT = new Set(['GET', 'HEAD', 'OPTIONS', 'PUT', 'DELETE', 'TRACE']);
const MAX_ATTEMPTS = 3;
const SHORT_BODY = 4096;
/**
 * A body of at most this many bytes is passed on only when it is complete. This is the most that
 * one read of a socket returns.
 */
const MAX_HELD_BODY = 64 * 1024;
/** Milliseconds after which a response that is held back is passed on as far as it has arrived. */
const MAX_HOLD_TIME = 1000;

interface ProxyRequest {
  readonly request: ClientRequest;
  readonly response: ClientResponse;
  /** Called for each attempt, because the route may have changed. */
  readonly route: () => AppRoute | undefined;
  readonly pools: TargetPools;
  readonly origin: RequestOrigin;
  readonly visit: Visit;
  readonly now: () => number;
  /** Resolves when the app may have a route to a container again. */
  readonly wait: () => Promise<void>;
}

interface ProxyExchange extends ProxyRequest {
  readonly head: RequestHead;
  /** Whether the request may be sent again after a target may have received it. */
  readonly repeatable: boolean;
  attempts: number;
  /** The target that currently has the request. */
  pooled: PooledTarget | null;
  running: RunningCall | null;
  held: HeldResponse | null;
  /** Set while the body is compressed. */
  encoded: EncodedBody | null;
  over: boolean;
}

/**
 * The beginning of a response of which the client has received nothing, so that another target can
 * still answer.
 */
interface HeldResponse {
  readonly head: ResponseHead;
  readonly parts: Buffer[];
  readonly since: number;
}

/** Milliseconds of silence that an app has by default. */
const TIMEOUT = 300_000;

/** Forwards one request to a target of the route, and streams the response back. */
export function proxyRequest(given: ProxyRequest): void {
  const { request, response } = given;
  // The route at the beginning may have been that of an app that has moved meanwhile.
  const route = given.route() ?? given.visit.route;
  const own = requestHead(request, given.origin, route?.rules?.basicAuth !== undefined);
  if (!own) return sendPage(request, response, 'badRequest');
  const head = { ...own, text: own.text + forwardLine(route) };
  const repeatable = head.body === 'none' && IDEMPOTENT.has(request.method ?? '');
  const exchange: ProxyExchange = {
    ...given,
    head,
    repeatable,
    attempts: 0,
    pooled: null,
    running: null,
    held: null,
    encoded: null,
    over: false,
  };
  response.on('close', () => {
    if (exchange.over) return;
    exchange.running?.abandon();
    endExchange(exchange);
  });
  sendToTarget(exchange);
}

function sendToTarget(exchange: ProxyExchange, failed?: PooledTarget): void {
  const { request, pools, head } = exchange;
  const targets = exchange.route()?.targets ?? [];
  const pooled = pools.pick(targets, failed?.target) ?? pools.pick(targets);
  if (!pooled) return waitForTarget(exchange);
  exchange.attempts += 1;
  exchange.pooled = pooled;
  exchange.visit.target = pooled.target.id;
  pooled.active += 1;
  exchange.running = pooled.connections.send({
    method: request.method ?? 'GET',
    head,
    body: request,
    timeout: exchange.visit.route?.rules?.timeout ?? TIMEOUT,
    once: !exchange.repeatable,
    patient: targets.length === 1 && exchange.attempts === 1,
    movable: () => exchange.route()?.targets.some(({ id }) => id !== pooled.target.id) ?? false,
    onUpload: (bytes) => countUpload(exchange, bytes),
    trailers: () => trailerLines(request, exchange.origin),
    onTick: (time) => passIfLate(exchange, time),
    onInterim: (responseHead) => passInterim(exchange, responseHead),
    onHead: (responseHead) => receiveHead(exchange, responseHead),
    onBody: (data, last) =>
      exchange.held
        ? holdOrPass(exchange, exchange.held, { data, last })
        : passBody(exchange, data, last),
    onEnd: (trailers) => passEnd(exchange, trailers),
    onError: (error, sent) => fail(exchange, { error, sent }),
  });
}

/**
 * The route has no target: it was taken away after the request was received. The request waits as
 * one that comes now would.
 */
function waitForTarget(exchange: ProxyExchange): void {
  if (exchange.route()?.state !== 'holding') return respondWithPage(exchange, 'unavailable');
  void exchange.wait().then(() => {
    if (exchange.over) return;
    if (exchange.route()?.state === 'serving') sendToTarget(exchange);
    else respondWithPage(exchange, 'unavailable');
  });
}

/** Refuses a body that turns out to be too large, before the app has seen it all. */
function countUpload(exchange: ProxyExchange, bytes: number): boolean {
  const { visit, response, running } = exchange;
  visit.received += bytes;
  if (visit.received <= (visit.route?.rules?.maxBody ?? Infinity)) return true;
  running?.abandon();
  if (response.headersSent) response.destroy();
  else respondWithPage(exchange, 'tooLarge');
  return false;
}

/** Counts the request as finished at its target. */
function releaseTarget(exchange: ProxyExchange): void {
  if (exchange.pooled) exchange.pooled.active -= 1;
  exchange.pooled = null;
}

function endExchange(exchange: ProxyExchange): void {
  exchange.over = true;
  releaseTarget(exchange);
}

function respondWithPage(exchange: ProxyExchange, page: IngressPage): void {
  endExchange(exchange);
  sendPage(exchange.request, exchange.response, page);
}

/**
 * Holds a response of known length back until its body begins, or until a short body is complete.
 * If the target fails before that, a request that may be sent twice can still go to another target.
 */
function receiveHead(exchange: ProxyExchange, head: ResponseHead): void {
  if (exchange.repeatable && head.length)
    exchange.held = { head, parts: [], since: exchange.now() };
  else if (writeHead(exchange, head)) process.nextTick(flush, exchange);
}

function writeHead(exchange: ProxyExchange, head: ResponseHead): boolean {
  const { request, response, running, visit } = exchange;
  const compresses = visit.route?.rules?.compress !== false;
  const plan = compresses ? planCompression(request, head) : null;
  exchange.held = null;
  response.sendDate = false;
  try {
    response.writeHead(head.status, head.reason, plan?.headers ?? head.headers);
    if (plan?.encoding) exchange.encoded = encodeBody(exchange, plan.encoding, head.length);
    return true;
  } catch {
    // The response reader refuses everything that Node refuses. If it ever misses something, only
    // this one response fails.
    running?.abandon();
    respondWithPage(exchange, 'badGateway');
    return false;
  }
}

/**
 * Interim responses are written directly to the socket. With HTTP pipelining, a response that waits
 * for an earlier one has no socket yet. HTTP/1.0 has no interim responses (RFC 9110 §15.2).
 */
function passInterim({ request, response }: ProxyExchange, head: ResponseHead): void {
  if (response.writeInterim) return response.writeInterim(head);
  const { status, reason, headers } = head;
  if (!response.socket || response.headersSent || request.httpVersion !== '1.1') return;
  const lines = headers.map((text, index) => (index % 2 === 0 ? `${text}: ` : `${text}\r\n`));
  response.socket.write(`HTTP/1.1 ${status} ${reason}\r\n${lines.join('')}\r\n`, 'latin1');
}

/**
 * Sends the head even if no body has arrived yet: the client of an event stream needs the head
 * before the first event.
 */
function flush({ over, response }: ProxyExchange): void {
  if (!over) response.flushHeaders();
}

/** Continues a response that is held back. */
function holdOrPass(
  exchange: ProxyExchange,
  { head, parts }: HeldResponse,
  { data, last }: { data: Buffer; last: boolean },
): boolean {
  if (!last && (head.length as number) <= MAX_HELD_BODY) {
    parts.push(data);
    return true;
  }
  return (
    !writeHead(exchange, head) ||
    passBody(exchange, parts.length > 0 ? Buffer.concat([...parts, data]) : data, last)
  );
}

/**
 * Passes on a response that takes longer than `MAX_HOLD_TIME`. On a busy machine this process
 * itself may be late, so data that has already arrived is read first (in this round of the event
 * loop), and closed connections are noticed (in the next round).
 */
function passIfLate(exchange: ProxyExchange, time: number): void {
  const { held } = exchange;
  if (held && time - held.since > MAX_HOLD_TIME)
    setImmediate(() => setImmediate(passHeld, exchange, held));
}

function passHeld(exchange: ProxyExchange, held: HeldResponse): void {
  if (exchange.over || exchange.held !== held || !writeHead(exchange, held.head)) return;
  exchange.response.flushHeaders();
  if (held.parts.length > 0) passBody(exchange, Buffer.concat(held.parts), false);
}

function passBody(exchange: ProxyExchange, data: Buffer, last: boolean): boolean {
  const { response, encoded, visit } = exchange;
  if (!encoded) visit.sent += data.length;
  if (!last) return (encoded ?? response).write(data) || pauseTarget(exchange);
  endExchange(exchange);
  if (encoded) {
    encoded.end(data);
    return true;
  }
  // A short body is written together with the head as one text: one system call instead of two.
  if (data.length <= SHORT_BODY) response.end(data.toString('latin1'), 'latin1');
  else response.end(data);
  return true;
}

/**
 * Resumes the target when the client, which reads more slowly, has taken the data. @returns false,
 * so that no more is read until then.
 */
function pauseTarget({ response, encoded, running }: ProxyExchange): false {
  const resume = () => running?.resume();
  if (encoded) encoded.onDrain(resume);
  else response.once('drain', resume);
  return false;
}

/** Ends a response of unknown length. Its trailers are for clients that take them. */
function passEnd(
  exchange: ProxyExchange,
  trailers: readonly (readonly [string, string])[] = [],
): void {
  const { request, response, encoded } = exchange;
  endExchange(exchange);
  const passed = trailers.length > 0 && wantsTrailers(request) ? trailers : [];
  if (encoded) return encoded.end(undefined, passed);
  if (passed.length > 0) response.addTrailers(passed as [string, string][]);
  response.end();
}

/**
 * Decides what to do after an error. A request that was not sent may go to another target. A
 * request that was sent may go to another target only if its method is idempotent and it has no
 * body. After an invalid response or a timeout the target is not considered down, and the request
 * is not repeated: the client would only wait longer for the same result.
 */
function fail(exchange: ProxyExchange, { error, sent }: { error: Error; sent: boolean }): void {
  const { response, pooled, repeatable, attempts } = exchange;
  releaseTarget(exchange);
  exchange.held = null;
  if (response.headersSent) {
    endExchange(exchange);
    return void response.destroy();
  }
  if (error instanceof ResponseTimeout) return respondWithPage(exchange, 'timeout');
  if (error instanceof BadResponse && !(error instanceof TruncatedResponse))
    return respondWithPage(exchange, 'badGateway');
  if (pooled) eject(pooled, exchange.now());
  if (pooled && (repeatable || !sent) && attempts < MAX_ATTEMPTS)
    return sendToTarget(exchange, pooled);
  respondWithPage(exchange, 'badGateway');
}
