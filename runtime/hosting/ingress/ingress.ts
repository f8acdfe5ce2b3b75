import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import { createAccessLog } from './access-log.ts';
import type { ClientRequest, ClientResponse } from './client.ts';
import { type AppFigures, createFigureCounter, type FigureCounter } from './figures.ts';
import { createGates, type Gates, type Refusal } from './gates.ts';
import { createHoldQueue, type HoldQueue } from './hold-queue.ts';
import { createHostCertificates, type HostCertificates } from './host-certificates.ts';
import { createListeners, type IngressListeners, type Listening } from './listeners.ts';
import { createOpenResponses, type OpenResponses } from './open-responses.ts';
import { createOriginReader, namesOneHost, type RequestOrigin } from './origin.ts';
import { type IngressPage, pageHead, sendPage, sendToSecure, statusOf } from './pages.ts';
import { isPassedOn, refusesToPass } from './passing-on.ts';
import { proxyRequest } from './proxy.ts';
import { type AppRoute, createRouteTable, hostName, type RouteTable } from './route-table.ts';
import { createStreamPorts, type StreamPorts } from './stream-ports.ts';
import { createTargetPools, type TargetPools } from './target-pool.ts';
import { proxyUpgrade } from './upgrade.ts';
import { createVisits, statusOfResponse, type Visit, type Visits } from './visits.ts';

export interface IngressOptions {
  /** 0 chooses a free port. */
  readonly http: number;
  readonly https: number;
  readonly host: string;
  readonly now: () => number;
  /** Milliseconds that a request waits for a route. */
  readonly hold?: number;
  /**
   * Whether plain requests for a host with a certificate are redirected to `https:`. The default is
   * true.
   */
  readonly redirect?: boolean;
  /** Addresses and ranges of the proxies whose `X-Forwarded-*` headers are trusted. */
  readonly trustedProxies?: readonly string[];
  /** Whether clients with TLS may use HTTP/2. The default is true. */
  readonly http2?: boolean;
  /** The folder of the access log; null or absent means none. */
  readonly accessLog?: string | null;
}

export interface CertificatePair {
  readonly certificate: string;
  readonly key: string;
}

/**
 * Receives the requests for all apps, and sends each to a container of the app that has the
 * request's host.
 */
export interface Ingress {
  /** Connects to the ingress, or starts it. Everything that is set afterwards reaches it. */
  attach(): Promise<void>;
  /** Opens the ports. Nothing is accepted before, so call this when the routes are known. */
  listen(): Promise<Listening>;
  /**
   * Replaces the app's route in one assignment: each request uses the old route or the new one.
   * Waiting requests continue.
   */
  set(route: AppRoute): void;
  remove(appId: string): void;
  get(appId: string): AppRoute | undefined;
  /** Removes every route except those of these apps. */
  keep(appIds: readonly string[]): void;
  /**
   * Uses this certificate (both texts are PEM) for a host. TLS connections for a host without a
   * certificate are refused.
   */
  certify(host: string, pair: CertificatePair): void;
  /** Answers an ACME challenge (RFC 8555 §8.3) with the text; `null` removes it. */
  challenge(token: string, text: string | null): void;
  /**
   * Resolves when the targets have no more requests or the time is over. Closes their connections.
   */
  drain(targetIds: readonly string[], timeout: number): Promise<void>;
  /**
   * Tells that the containers of these targets have ended. Closes connections on which nothing more
   * comes.
   */
  abandon(targetIds: readonly string[]): void;
  /** What was counted for each app, by its id. */
  figures(): Promise<Readonly<Record<string, AppFigures>>>;
  /** Resolves when the access log has all requests that have ended. */
  flushLog(): Promise<void>;
  /** Stops accepting, and gives running requests this many milliseconds to finish. */
  close(timeout: number): Promise<void>;
}

/** An ingress in this process. */
export interface LocalIngress extends Ingress {
  /** Opens the ports, or uses the listeners that another process has sent. */
  listen(
    inherited?: Parameters<IngressListeners['open']>[1],
    inheritedStreams?: Parameters<StreamPorts['open']>[0],
  ): Promise<Listening>;
  streams: StreamPorts['handles'];
  servers: IngressListeners['servers'];
  /**
   * Stops accepting, because another process now has the listeners. Running requests continue until
   * `close`.
   */
  release(): void;
  routes(): readonly AppRoute[];
}

const HOLD_TIMEOUT = 10_000;
const MAX_CONNECTIONS = 10_000;
const CHALLENGE_PATH = '/.well-known/acme-challenge/';
/** The status of an upgrade that the app has accepted. */
const SWITCHED = 101;
/** Milliseconds that a client has to read the answer to a refused upgrade. */
const LINGER = 2000;

interface IngressState {
  readonly table: RouteTable;
  readonly pools: TargetPools;
  readonly held: HoldQueue;
  readonly challenges: Map<string, string>;
  readonly open: OpenResponses;
  readonly originOf: ReturnType<typeof createOriginReader>;
  readonly gates: Gates;
  readonly figures: FigureCounter;
  readonly visits: Visits;
  readonly certificates: HostCertificates;
  readonly now: () => number;
  readonly redirect: boolean;
  /** The port for `https:`; null when there is none. */
  securePort: number | null;
}

export function createIngress(options: IngressOptions): LocalIngress {
  const { now, host, redirect = true } = options;
  const log = options.accessLog ? createAccessLog(options.accessLog) : null;
  const figures = createFigureCounter();
  const state: IngressState = {
    table: createRouteTable(),
    pools: createTargetPools(now),
    held: createHoldQueue(options.hold ?? HOLD_TIMEOUT),
    challenges: new Map(),
    open: createOpenResponses(),
    originOf: createOriginReader(options.trustedProxies ?? []),
    gates: createGates(now),
    figures,
    visits: createVisits(figures, log, now),
    certificates: createHostCertificates(now),
    now,
    redirect,
    securePort: null,
  };
  const { table, pools, held, challenges, certificates } = state;
  const streams = streamsOf(state, host);
  const listeners = createListeners({
    host,
    http2: options.http2 ?? true,
    contextOf: certificates.find,
    request: (secure) => (request, response) => handle(state, { request, response, secure }),
    upgrade: (secure) => (request, socket, head) =>
      void upgrade(state, { request, socket, head, secure }),
  });
  return {
    attach: () => Promise.resolve(),
    async listen(inherited, inheritedStreams) {
      const listening = await listeners.open(options, inherited);
      state.securePort = listening.https;
      streams.open(inheritedStreams);
      return listening;
    },
    servers: listeners.servers,
    streams: streams.handles,
    release() {
      listeners.release();
      streams.release();
    },
    routes: table.all,
    set(route) {
      table.set(route);
      streams.update();
      if (route.state !== 'holding') held.release(route.appId);
    },
    remove(appId) {
      table.remove(appId);
      streams.update();
      held.release(appId);
      figures.remove(appId);
    },
    get: table.get,
    keep(appIds) {
      for (const { appId } of table.all()) if (!appIds.includes(appId)) table.remove(appId);
      streams.update();
    },
    certify: certificates.set,
    challenge: (token, text) =>
      void (text === null ? challenges.delete(token) : challenges.set(token, text)),
    async drain(targetIds, timeout) {
      await Promise.all([pools.drained(targetIds, timeout), streams.drained(targetIds, timeout)]);
      pools.close(targetIds);
    },
    abandon: pools.abandon,
    figures: () => Promise.resolve(figures.read()),
    flushLog: () => log?.flush() ?? Promise.resolve(),
    async close(timeout) {
      await Promise.all([listeners.close(timeout), streams.close(timeout)]);
      pools.closeAll();
      await log?.flush();
    },
  };
}

/** The ports that are not HTTP. Their connections wait for a held app as requests do. */
function streamsOf({ table, held, open, now }: IngressState, host: string): StreamPorts {
  return createStreamPorts({
    host,
    now,
    routes: table.all,
    enter: (appId) => open.enter(appId, table.get(appId)?.maxConnections ?? MAX_CONNECTIONS),
    async holdUntilServed(appId) {
      if (table.get(appId)?.state === 'holding') await held.wait(appId);
      return table.get(appId);
    },
  });
}

interface IngressExchange {
  readonly request: ClientRequest;
  readonly response: ClientResponse;
  /** Whether the request came over TLS to this process. */
  readonly secure: boolean;
}

function handle(state: IngressState, exchange: IngressExchange): void {
  const { request, response, secure } = exchange;
  const isNamed = namesOneHost(request);
  const route = isNamed ? state.table.find(request.headers.host) : undefined;
  const passedOn = isPassedOn(route, request, state.now());
  const origin = state.originOf(request, secure, passedOn);
  const visit = state.visits.begin(route);
  response.on('close', () =>
    state.visits.end(visit, { request, origin, status: statusOfResponse(response) }),
  );
  if (!isNamed) return sendPage(request, response, 'badRequest');
  if (!secure && request.url?.startsWith(CHALLENGE_PATH) && answerChallenge(state, exchange))
    return;
  if (!route) return sendPage(request, response, 'unknown');
  if (!origin.secure && !passedOn && redirectsToSecure(state, exchange)) return;
  const refused = refusesToPass(route, request, state.now());
  if (refused) return sendPage(request, response, refused);
  const admitted = { request, response, origin, visit };
  const refusal = state.gates.check(route, request, origin);
  if (refusal instanceof Promise) void refusal.then((late) => admit(state, route, admitted, late));
  else admit(state, route, admitted, refusal);
}

type Admitted = Pick<IngressExchange, 'request' | 'response'> & {
  readonly origin: RequestOrigin;
  readonly visit: Visit;
};

/** Forwards a request that no rule of its app refuses. */
function admit(
  state: IngressState,
  route: AppRoute,
  admitted: Admitted,
  refusal: Refusal | null,
): void {
  const { request, response } = admitted;
  if (response.destroyed) return;
  if (refusal) return sendPage(request, response, refusal.page, refusal);
  if (route.state === 'stopped') return sendPage(request, response, 'stopped');
  const leave = state.open.enter(route.appId, route.maxConnections ?? MAX_CONNECTIONS);
  if (!leave) return sendPage(request, response, 'busy');
  response.on('close', leave);
  serve(state, route, admitted);
}

/** Forwards a request, now or when its app has a route to a container. */
function serve(state: IngressState, { appId, state: phase }: AppRoute, admitted: Admitted): void {
  const { table, held, pools, now } = state;
  const { request, response } = admitted;
  const wait = () => held.wait(appId, table.get(appId)?.hold);
  const route = () => table.get(appId);
  const pass = () => proxyRequest({ ...admitted, pools, now, wait, route });
  if (phase === 'serving') return pass();
  void wait().then(() => {
    const next = table.get(appId);
    if (response.destroyed) return;
    if (next?.state === 'serving') pass();
    else sendPage(request, response, next ? 'unavailable' : 'unknown');
  });
}

interface UpgradeRequest {
  readonly request: IncomingMessage;
  readonly socket: Duplex;
  /** Bytes that the client has already sent after the head. */
  readonly head: Buffer;
  readonly secure: boolean;
}

async function upgrade(state: IngressState, { request, socket, head, secure }: UpgradeRequest) {
  const { table, held, pools, now, open, visits } = state;
  socket.on('error', () => socket.destroy());
  const isNamed = namesOneHost(request);
  const first = isNamed ? table.find(request.headers.host) : undefined;
  const origin = state.originOf(request, secure, isPassedOn(first, request, now()));
  const visit = visits.begin(first);
  socket.on('close', () => visits.end(visit, { request, origin, status: visit.status }));
  socket.on('finish', () => {
    // Node waits until the client closes its side too, and has no time limit for it.
    if (visit.status !== SWITCHED) setTimeout(() => socket.destroy(), LINGER).unref();
  });
  const refuse = (page: IngressPage, refusal?: Refusal) => {
    visit.status = statusOf(page);
    socket.end(pageHead(page, refusal));
  };
  if (!isNamed) return refuse('badRequest');
  const refusal = first && (await state.gates.check(first, request, origin));
  if (refusal) return refuse(refusal.page, refusal);
  const leave = first && open.enter(first.appId, first.maxConnections ?? MAX_CONNECTIONS);
  if (leave === null) return refuse('busy');
  if (leave) socket.on('close', leave);
  if (first?.state === 'holding') await held.wait(first.appId, first.hold);
  const route = first && table.get(first.appId);
  if (route?.state !== 'serving') return refuse(route ? 'stopped' : 'unknown');
  const refused = refusesToPass(route, request, now());
  if (refused) return refuse(refused);
  proxyUpgrade({ request, client: socket, head, route, pools, origin, visit, now });
}

function answerChallenge(
  { challenges }: IngressState,
  { request, response }: IngressExchange,
): boolean {
  const text = challenges.get((request.url as string).slice(CHALLENGE_PATH.length));
  if (text === undefined) return false;
  response.writeHead(200, undefined, { 'Content-Type': 'text/plain' });
  response.end(text);
  return true;
}

/**
 * Redirects to `https:` on the same host while its certificate is valid. Any other request is
 * served without TLS.
 */
function redirectsToSecure(
  { redirect, certificates, securePort }: IngressState,
  { request, response }: IngressExchange,
): boolean {
  if (!redirect || securePort === null) return false;
  const host = hostName(request.headers.host);
  if (!certificates.valid(host)) return false;
  const path = request.url?.startsWith('/') ? request.url : '/';
  sendToSecure(
    request,
    response,
    `https://${host}${securePort === 443 ? '' : `:${securePort}`}${path}`,
  );
  return true;
}
