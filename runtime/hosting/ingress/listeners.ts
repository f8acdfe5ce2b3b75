import {
  createServer,
  type IncomingMessage,
  type RequestListener,
  type Server,
  type ServerOptions,
} from 'node:http';
import { createServer as createSecureServer } from 'node:https';
import type { AddressInfo, ListenOptions } from 'node:net';
import type { Duplex } from 'node:stream';
import type { SecureContext } from 'node:tls';

/** The servers of an ingress: one without and one with TLS. */
export interface Listeners {
  /** @returns the ports; null for one that is taken or not allowed. */
  open(ports: {
    readonly http: number;
    readonly https: number;
  }): Promise<{ readonly http: number | null; readonly https: number | null }>;
  /** Stops accepting and finishes what runs, within the time. */
  close(timeout: number): Promise<void>;
}

export interface ListenerOptions {
  readonly listen: Pick<ListenOptions, 'host' | 'reusePort'>;
  readonly contextOf: (host: string) => SecureContext | undefined;
  readonly request: (secure: boolean) => RequestListener;
  readonly upgrade: (
    secure: boolean,
  ) => (request: IncomingMessage, socket: Duplex, head: Buffer) => void;
}

/** A head that does not come is given up on; a body may take as long as it likes. */
const LIMITS: ServerOptions = {
  ...{
    keepAliveTimeout: 75_000,
    headersTimeout: 30_000,
    requestTimeout: 0,
    maxHeaderSize: 32 * 1024,
  },
  // Any other protocol, such as HTTP/2 without TLS, would carry requests past us: it is answered as a plain request.
  shouldUpgradeCallback: ({ headers }) => headers.upgrade?.toLowerCase() === 'websocket',
};

/** Connections that wait to be accepted: thousands may come at once, and the kernel may allow fewer. */
const BACKLOG = 4096;

export function createListeners({
  listen,
  contextOf,
  request,
  upgrade,
}: ListenerOptions): Listeners {
  const servers: Server[] = [];
  /** Connections that have become WebSockets: their server counts them and does not close them. */
  const upgraded = new Set<Duplex>();
  const sni = (host: string, done: (error: Error | null, context?: SecureContext) => void) => {
    const context = contextOf(host.toLowerCase());
    if (context) done(null, context);
    else done(new Error('no certificate for this host'));
  };
  const open = async (server: Server, port: number, secure: boolean) => {
    const pass = upgrade(secure);
    server.on('upgrade', (incoming, socket, head) => {
      upgraded.add(socket);
      socket.once('close', () => upgraded.delete(socket));
      pass(incoming, socket, head);
    });
    const opened = await new Promise<boolean>((resolve) => {
      server.once('error', () => resolve(false));
      server.listen({ ...listen, port, backlog: BACKLOG }, () => resolve(true));
    });
    if (!opened) return null;
    server.on('error', () => {});
    // A client that speaks no TLS, or names a host without a certificate, is nothing to report.
    server.on('tlsClientError', () => {});
    servers.push(server);
    return (server.address() as AddressInfo).port;
  };
  return {
    open: async ({ http, https }) => ({
      http: await open(createServer(LIMITS, request(false)), http, false),
      https: await open(
        createSecureServer({ ...LIMITS, SNICallback: sni }, request(true)),
        https,
        true,
      ),
    }),
    async close(timeout) {
      const closed = servers.map((server) => new Promise((resolve) => server.close(resolve)));
      for (const server of servers) server.closeIdleConnections();
      const timer = setTimeout(() => {
        for (const server of servers) server.closeAllConnections();
        for (const socket of upgraded) socket.destroy();
      }, timeout);
      await Promise.all(closed);
      clearTimeout(timer);
    },
  };
}
