import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import { createHoldQueue, type HoldQueue } from './hold-queue.ts';
import { createHostCertificates, type HostCertificates } from './host-certificates.ts';
import { createListeners, type IngressListeners, type Listening } from './listeners.ts';
import { createOpenResponses, type OpenResponses } from './open-responses.ts';
import { createOriginReader, namesOneHost, type RequestOrigin } from './origin.ts';
import { pageHead, sendPage, sendToSecure } from './pages.ts';
import { proxyRequest } from './proxy.ts';
import { type AppRoute, createRouteTable, hostName, type RouteTable } from './route-table.ts';
import { createTargetPools, type TargetPools } from './target-pool.ts';
import { proxyUpgrade } from './upgrade.ts';

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
  /** Stops accepting, and gives running requests this many milliseconds to finish. */
  close(timeout: number): Promise<void>;
}

/** An ingress in this process. */
export interface LocalIngress extends Ingress {
  /** Opens the ports, or uses the listeners that another process has sent. */
  listen(inherited?: Parameters<IngressListeners['open']>[1]): Promise<Listening>;
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

interface IngressState {
  readonly table: RouteTable;
  readonly pools: TargetPools;
  readonly held: HoldQueue;
  readonly challenges: Map<string, string>;
  readonly open: OpenResponses;
  readonly originOf: (request: IncomingMessage, tls: boolean) => RequestOrigin;
  readonly certificates: HostCertificates;
  readonly now: () => number;
  readonly redirect: boolean;
  /** The port for `https:`; null when there is none. */
  securePort: number | null;
}

export function createIngress(options: IngressOptions): LocalIngress {
  const { now, host, redirect = true } = options;
  const state: IngressState = {
    ...{
      table: createRouteTable(),
      pools: createTargetPools(now),
      held: createHoldQueue(options.hold ?? HOLD_TIMEOUT),
      challenges: new Map(),
      open: createOpenResponses(),
      originOf: createOriginReader(options.trustedProxies ?? []),
    },
    ...{ certificates: createHostCertificates(now), now, redirect, securePort: null },
  };
  const { table, pools, held, challenges, certificates } = state;
  const listeners = createListeners({
    host,
    contextOf: certificates.find,
    request: (secure) => (request, response) => {
      if (listeners.released()) response.setHeader('Connection', 'close');
      handle(state, { request, response, secure });
    },
    upgrade: (secure) => (request, socket, head) =>
      void upgrade(state, { request, socket, head, secure }),
  });
  return {
    attach: () => Promise.resolve(),
    async listen(inherited) {
      const listening = await listeners.open(options, inherited);
      state.securePort = listening.https;
      return listening;
    },
    servers: listeners.servers,
    release: listeners.release,
    routes: table.all,
    set(route) {
      table.set(route);
      if (route.state !== 'holding') held.release(route.appId);
    },
    remove(appId) {
      table.remove(appId);
      held.release(appId);
    },
    get: table.get,
    keep(appIds) {
      for (const { appId } of table.all()) if (!appIds.includes(appId)) table.remove(appId);
    },
    certify: certificates.set,
    challenge: (token, text) =>
      void (text === null ? challenges.delete(token) : challenges.set(token, text)),
    async drain(targetIds, timeout) {
      await pools.drained(targetIds, timeout);
      pools.close(targetIds);
    },
    async close(timeout) {
      await listeners.close(timeout);
      pools.closeAll();
    },
  };
}

interface IngressExchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  /** Whether the request came over TLS to this process. */
  readonly secure: boolean;
}

function handle(state: IngressState, exchange: IngressExchange): void {
  const { request, response, secure } = exchange;
  const { table } = state;
  if (!namesOneHost(request)) return sendPage(request, response, 'badRequest');
  if (!secure && request.url?.startsWith(CHALLENGE_PATH) && answerChallenge(state, exchange))
    return;
  const route = table.find(request.headers.host);
  if (!route) return sendPage(request, response, 'unknown');
  const origin = state.originOf(request, secure);
  if (!origin.secure && redirectsToSecure(state, exchange)) return;
  if (route.state === 'stopped') return sendPage(request, response, 'stopped');
  const leave = state.open.enter(route.appId, route.maxConnections ?? MAX_CONNECTIONS);
  if (!leave) return sendPage(request, response, 'busy');
  response.on('close', leave);
  serve(state, route, { request, response, origin });
}

/** Forwards a request, now or when its app has a route to a container. */
function serve(
  state: IngressState,
  { appId, state: now }: AppRoute,
  {
    request,
    response,
    origin,
  }: Pick<IngressExchange, 'request' | 'response'> & { origin: RequestOrigin },
): void {
  const { table } = state;
  const pass = () =>
    proxyRequest({ request, response, origin, ...state, route: () => table.get(appId) });
  if (now === 'serving') return pass();
  void state.held.wait(appId).then(() => {
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
  const { table, held, pools, now, open } = state;
  socket.on('error', () => socket.destroy());
  if (!namesOneHost(request)) return void socket.end(pageHead('badRequest'));
  const first = table.find(request.headers.host);
  const leave = first && open.enter(first.appId, first.maxConnections ?? MAX_CONNECTIONS);
  if (leave === null) return void socket.end(pageHead('busy'));
  if (leave) socket.on('close', leave);
  const origin = state.originOf(request, secure);
  if (first?.state === 'holding') await held.wait(first.appId);
  const route = first && table.get(first.appId);
  if (route?.state === 'serving')
    proxyUpgrade({ request, client: socket, head, targets: route.targets, pools, origin, now });
  else socket.end(pageHead(route ? 'stopped' : 'unknown'));
}

function answerChallenge(
  { challenges }: IngressState,
  { request, response }: IngressExchange,
): boolean {
  const text = challenges.get((request.url as string).slice(CHALLENGE_PATH.length));
  if (text === undefined) return false;
  response.writeHead(200, { 'Content-Type': 'text/plain' }).end(text);
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
