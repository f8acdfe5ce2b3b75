import {
  createServer,
  type IncomingMessage,
  type Server,
  type ServerOptions,
  type ServerResponse,
} from 'node:http';
import { createServer as createSecureServer } from 'node:https';
import { type AddressInfo, Server as NetServer } from 'node:net';
import type { Duplex } from 'node:stream';
import type { SecureContext, TLSSocket } from 'node:tls';
import type { ClientRequest, ClientResponse } from './client.ts';
import { createHttp2Sessions, type Http2Sessions } from './http2.ts';
import { pageHead, sendPage } from './pages.ts';
import { takeRawPaths } from './raw-path.ts';

export type ListenerName = 'http' | 'https';

/**
 * The open ports. A port that could not be opened is null, and `refused` has the error code, such
 * as `EADDRINUSE` or `EACCES`.
 */
export interface Listening {
  readonly http: number | null;
  readonly https: number | null;
  readonly refused: Readonly<Partial<Record<ListenerName, string>>>;
}

export const NOT_LISTENING: Listening = { http: null, https: null, refused: {} };

/** The servers of an ingress: one without TLS and one with TLS. */
export interface IngressListeners {
  /**
   * Opens each port that is not open yet. A listener from another process is used instead of the
   * port.
   */
  open(
    ports: Readonly<Record<ListenerName, number>>,
    inherited?: Readonly<Partial<Record<ListenerName, NetServer>>>,
  ): Promise<Listening>;
  /** The servers that listen. */
  servers(): ReadonlyMap<ListenerName, NetServer>;
  /**
   * Stops accepting, because another process accepts from now on. A kept-alive connection is closed
   * with its next response or when it has been idle for a while. Closing it at once could lose a
   * request that is already on its way.
   */
  release(): void;
  /** Stops accepting, and gives running requests this many milliseconds to finish. */
  close(timeout: number): Promise<void>;
}

export interface ListenerOptions {
  readonly host: string;
  readonly contextOf: (host: string) => SecureContext | undefined;
  /** Whether clients with TLS may use HTTP/2. */
  readonly http2: boolean;
  readonly request: (secure: boolean) => (request: ClientRequest, response: ClientResponse) => void;
  readonly upgrade: (
    secure: boolean,
  ) => (request: IncomingMessage, socket: Duplex, head: Buffer) => void;
}

/** The head of a request has a time limit. The body has none. */
const LIMITS: ServerOptions = {
  keepAliveTimeout: 75_000,
  headersTimeout: 30_000,
  requestTimeout: 0,
  maxHeaderSize: 32 * 1024,
  // Most requests have no body. Node then makes no stream for one, which never emits `end`.
  optimizeEmptyRequests: true,
  // Refuses upgrades to protocols other than WebSocket, such as HTTP/2 without TLS, because we
  // could not read the requests inside them. Such a request is handled as one without an upgrade.
  shouldUpgradeCallback: ({ headers }) => headers.upgrade?.toLowerCase() === 'websocket',
};

/** How many connections may wait to be accepted. The kernel may lower this. */
const BACKLOG = 4096;
/** Milliseconds after `release` until idle kept-alive connections are closed. */
const IDLE = 5000;

export function createListeners(options: ListenerOptions): IngressListeners {
  const { request, upgrade } = options;
  const servers = new Map<ListenerName, Server>();
  /**
   * Connections that became WebSockets. Node counts them, but does not close them with its server.
   */
  const upgraded = new Set<Duplex>();
  const sessions = createHttp2Sessions(request(true));
  let closed: Promise<unknown> | null = null;

  const create = (name: ListenerName): Server => {
    const secure = name === 'https';
    const serve = request(secure);
    const listener = (incoming: IncomingMessage, response: ServerResponse) => {
      // After `release`, each response closes its connection.
      if (closed) response.setHeader('Connection', 'close');
      if (incoming.httpVersionMajor === 1) serve(incoming, response);
      else sendPage(incoming, response, 'badRequest');
    };
    const server = secure
      ? createSecureServer({ ...LIMITS, ...tlsOptions(options) }, listener)
      : createServer(LIMITS, listener);
    if (secure && options.http2) divert(server, sessions);
    const pass = upgrade(secure);
    server.on('connect', (_, socket) => refuse(socket));
    server.on('upgrade', (incoming, socket, head) => {
      if (incoming.httpVersionMajor !== 1) return refuse(socket);
      upgraded.add(socket);
      socket.once('close', () => upgraded.delete(socket));
      pass(incoming, socket, head);
    });
    takeRawPaths(server, secure ? 'secureConnection' : 'connection');
    // Clients without TLS and unknown host names cause this error. It is not worth a log line.
    return server.on('tlsClientError', () => {});
  };
  const open = async (name: ListenerName, port: number, given: NetServer | undefined) => {
    const known = servers.get(name);
    if (known) return portOf(known);
    const server = create(name);
    const refusal = await listen(server, given ?? { host: options.host, port });
    if (refusal !== null) return refusal;
    servers.set(name, server);
    return portOf(server);
  };
  const stop = (end: (server: Server, done: () => void) => void) =>
    Promise.all(
      [...servers.values()].map((server) => new Promise<void>((done) => end(server, done))),
    );

  return {
    async open(ports, inherited = {}) {
      const http = await open('http', ports.http, inherited.http);
      const https = await open('https', ports.https, inherited.https);
      return listeningOf({ http, https });
    },
    servers: () => servers,
    release() {
      // `http.Server.close` would close idle connections at once, so the method of `net.Server` is
      // called.
      closed ??= stop((server, done) => void NetServer.prototype.close.call(server, () => done()));
      sessions.release();
      setTimeout(() => servers.forEach((server) => server.closeIdleConnections()), IDLE).unref();
    },
    async close(timeout) {
      closed ??= stop((server, done) => void server.close(() => done()));
      void sessions.close();
      const timer = setTimeout(() => {
        sessions.destroy();
        for (const server of servers.values()) server.closeAllConnections();
        for (const socket of upgraded) socket.destroy();
      }, timeout);
      await closed;
      clearTimeout(timer);
    },
  };
}

/** Milliseconds that a client has to read the answer to a request that was refused. */
const LINGER = 2000;

function refuse(socket: Duplex): void {
  socket.on('error', () => socket.destroy()).end(pageHead('badRequest'));
  setTimeout(() => socket.destroy(), LINGER).unref();
}

function tlsOptions(options: ListenerOptions) {
  const ALPNProtocols = options.http2 ? ['h2', 'http/1.1'] : ['http/1.1'];
  return { SNICallback: sniOf(options), ALPNProtocols };
}

/**
 * Gives connections that have agreed on HTTP/2 (RFC 7301) to the sessions. All others stay with
 * Node's HTTP/1.1 server, with its limits and its count of connections.
 */
function divert(server: Server, sessions: Http2Sessions): void {
  const listeners = server.listeners('secureConnection');
  server.removeAllListeners('secureConnection');
  server.on('secureConnection', (socket: TLSSocket) => {
    if (socket.alpnProtocol === 'h2') return sessions.accept(socket);
    for (const listener of listeners) listener.call(server, socket);
  });
}

function sniOf({ contextOf }: ListenerOptions) {
  return (host: string, done: (error: Error | null, context?: SecureContext) => void) => {
    const context = contextOf(host.toLowerCase());
    if (context) done(null, context);
    else done(new Error('no certificate for this host'));
  };
}

const portOf = (server: Server): number => (server.address() as AddressInfo).port;

/** @returns the error code, or null when it listens. */
function listen(server: Server, where: NetServer | object): Promise<string | null> {
  return new Promise((resolve) => {
    const refuse = (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message);
    server.once('error', refuse);
    server.listen(where, BACKLOG, () => {
      server.off('error', refuse).on('error', () => {});
      resolve(null);
    });
  });
}

function listeningOf(ports: Readonly<Record<ListenerName, number | string>>): Listening {
  const of = (name: ListenerName) => (typeof ports[name] === 'number' ? ports[name] : null);
  const refused = Object.entries(ports).filter(([, port]) => typeof port === 'string');
  return { http: of('http'), https: of('https'), refused: Object.fromEntries(refused) };
}
