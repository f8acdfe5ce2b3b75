import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { createServer as createSecureServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import type { Duplex } from 'node:stream';
import { createSecureContext, type SecureContext } from 'node:tls';
import { pageHead, sendPage } from './pages.ts';
import { proxyRequest } from './proxy.ts';
import type { AppRoute } from './route-table.ts';
import { createRouteTable } from './route-table.ts';
import { createTargetPools } from './target-pool.ts';
import { proxyUpgrade } from './upgrade.ts';

export interface IngressOptions {
  /** 0 takes a free port. */
  readonly http: number;
  readonly https: number;
  readonly host: string;
  readonly now: () => number;
  /** Lets another process listen on the same ports, so that one can take over from the other. */
  readonly reusePort?: boolean;
  /** How long a held request waits, in milliseconds. */
  readonly hold?: number;
}

export interface CertificatePair {
  readonly certificate: string;
  readonly key: string;
}

/** The way in: from a host's name to the containers that serve it. */
export interface Ingress {
  /** Opens the listeners. @returns the ports; null for one that is taken or not allowed. */
  listen(): Promise<{ readonly http: number | null; readonly https: number | null }>;
  /** Puts a route in place; what was held goes on. One assignment: a request sees the old one or the new one. */
  set(route: AppRoute): void;
  remove(appId: string): void;
  get(appId: string): AppRoute | undefined;
  /** Forgets every app but these. */
  keep(appIds: readonly string[]): void;
  /** Serves a host with this certificate, both PEM. A connection for a host without one is refused. */
  certify(host: string, pair: CertificatePair): void;
  /** Answers an ACME challenge (RFC 8555 §8.3) with the text, until it is null. */
  challenge(token: string, text: string | null): void;
  /** When the targets serve nothing any more, or after the time; then their connections are closed. */
  drain(targetIds: readonly string[], timeout: number): Promise<void>;
  /** Stops accepting and finishes what runs, within the time. */
  close(timeout: number): Promise<void>;
}

const HOLD = 10_000;
/** More than this many waiting requests of one app are answered 503 at once. */
const MAX_HELD = 10_000;
const CHALLENGE = '/.well-known/acme-challenge/';

export function createIngress(options: IngressOptions): Ingress {
  const table = createRouteTable();
  const pools = createTargetPools(options.now);
  const waiting = new Map<string, Set<() => void>>();
  const servers: Server[] = [];
  const contexts = new Map<string, SecureContext>();
  const challenges = new Map<string, string>();
  const limits = { keepAliveTimeout: 75_000, headersTimeout: 30_000, requestTimeout: 0, maxHeaderSize: 32 * 1024 };

  return {
    async listen() {
      const http = await open(createServer(limits, serve(false)), options.http, false);
      const sni = (host: string, done: (error: Error | null, context?: SecureContext) => void) => {
        const name = host.toLowerCase();
        const context = contexts.get(name) ?? contexts.get(`*${name.slice(Math.max(0, name.indexOf('.')))}`);
        if (context) done(null, context);
        else done(new Error('no certificate for this host'));
      };
      return { http, https: await open(createSecureServer({ ...limits, SNICallback: sni }, serve(true)), options.https, true) };
    },
    set(route) {
      table.set(route);
      if (route.state !== 'holding') release(route.appId);
    },
    remove(appId) {
      table.remove(appId);
      release(appId);
    },
    get: table.get,
    keep(appIds) {
      for (const { appId } of table.all()) if (!appIds.includes(appId)) table.remove(appId);
    },
    certify: (host, { certificate, key }) => void contexts.set(host, createSecureContext({ cert: certificate, key })),
    challenge: (token, text) => void (text === null ? challenges.delete(token) : challenges.set(token, text)),
    async drain(targetIds, timeout) {
      await pools.drained(targetIds, timeout);
      pools.close(targetIds);
    },
    async close(timeout) {
      const closed = servers.map((server) => new Promise((resolve) => server.close(resolve)));
      for (const server of servers) server.closeIdleConnections();
      const timer = setTimeout(() => servers.forEach((server) => server.closeAllConnections()), timeout);
      await Promise.all(closed);
      clearTimeout(timer);
      await pools.closeAll();
    },
  };

  async function open(server: Server, port: number, secure: boolean): Promise<number | null> {
    server.on('upgrade', (request, socket, head) => void upgrade(request, socket, head, secure));
    const opened = await new Promise<boolean>((resolve) => {
      server.once('error', () => resolve(false));
      server.listen({ port, host: options.host, reusePort: options.reusePort === true }, () => resolve(true));
    });
    if (!opened) return null;
    server.on('error', () => {});
    // A client that speaks no TLS, or names a host without a certificate, is nothing to report.
    server.on('tlsClientError', () => {});
    servers.push(server);
    return (server.address() as AddressInfo).port;
  }

  function serve(secure: boolean) {
    return (request: IncomingMessage, response: ServerResponse) => {
      if (!secure && request.url?.startsWith(CHALLENGE) && answerChallenge(request, response)) return;
      const route = table.find(request.headers.host);
      if (!route) return sendPage(request, response, 'unknown');
      const pass = () => proxyRequest({ request, response, route: () => table.get(route.appId), pools, secure, now: options.now });
      if (route.state === 'serving') return pass();
      if (route.state === 'stopped') return sendPage(request, response, 'stopped');
      void held(route.appId).then(() => {
        const next = table.get(route.appId);
        if (response.destroyed) return;
        if (next?.state === 'serving') pass();
        else sendPage(request, response, next ? 'unavailable' : 'unknown');
      });
    };
  }

  async function upgrade(request: IncomingMessage, socket: Duplex, head: Buffer, secure: boolean): Promise<void> {
    socket.on('error', () => socket.destroy());
    const first = table.find(request.headers.host);
    if (first?.state === 'holding') await held(first.appId);
    const route = first && table.get(first.appId);
    if (route?.state === 'serving') proxyUpgrade(request, socket, head, { route, pools, secure });
    else socket.end(pageHead(route ? 'stopped' : 'unknown'));
  }

  /** Until the app's route is another one, or the time is over. */
  function held(appId: string): Promise<void> {
    const queue = waiting.get(appId) ?? new Set<() => void>();
    if (queue.size >= MAX_HELD) return Promise.resolve();
    waiting.set(appId, queue);
    return new Promise((resolve) => {
      const timer = setTimeout(done, options.hold ?? HOLD);
      function done(): void {
        clearTimeout(timer);
        queue.delete(done);
        resolve();
      }
      queue.add(done);
    });
  }

  function release(appId: string): void {
    for (const done of [...(waiting.get(appId) ?? [])]) done();
    waiting.delete(appId);
  }

  function answerChallenge(request: IncomingMessage, response: ServerResponse): boolean {
    const text = challenges.get((request.url as string).slice(CHALLENGE.length));
    if (text === undefined) return false;
    response.writeHead(200, { 'Content-Type': 'text/plain' }).end(text);
    return true;
  }
}
