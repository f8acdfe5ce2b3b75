import { rmSync } from 'node:fs';
import type { Server as HttpServer } from 'node:http';
import { createServer, type Server, type Socket } from 'node:net';
import { dirname, join } from 'node:path';
import type { HostingModel } from '@twofold/schema';
import { trustConnection } from '@twofold/runtime/http';
import type { Kernel } from '@twofold/runtime/kernel';
import type { Ingress } from './ingress/ingress.ts';
import type { RouteTarget } from './ingress/route-table.ts';
import { socketFolder } from './socket-folder.ts';

/** The id of the route to the server itself. Ids of apps are UUIDs. */
export const API_ROUTE = 'api';

/** Milliseconds that a request waits for the next server, which may have rows to migrate first. */
const RESTART_TIME = 120_000;

/** The route of the ingress to the server itself, for requests to the server's own host. */
export interface ApiEntry {
  /** The host of `APP_URL`; null when a proxy in front serves it. */
  readonly host: string | null;
  /** Accepts connections of the ingress for this server. */
  open(server: HttpServer): Promise<void>;
  /** Sets the route to this server. Before `open`, requests wait. */
  route(ingress: Pick<Ingress, 'set'>): void;
  /** Lets new requests wait for the next server, while this one finishes its own. */
  retire(ingress: Pick<Ingress, 'set' | 'drain'>): Promise<void>;
  close(): void;
}

/**
 * The ingress reaches this server over a Unix socket in a folder that only this user may enter. So
 * the server can trust what it says of its clients, whatever `server.trusted_proxies` has.
 */
export function createApiEntry(
  { settings }: Pick<Kernel, 'settings'>,
  { ingress }: HostingModel,
): ApiEntry {
  const host = ingress.api ? hostOf(settings.text('APP_URL')) : null;
  let server: Server | null = null;
  let target: RouteTarget | null = null;
  const close = () => {
    server?.close();
    if (target?.path !== undefined) rmSync(dirname(target.path), { recursive: true, force: true });
    server = null;
    target = null;
  };
  const route = ({ set }: Pick<Ingress, 'set'>) => {
    if (host === null) return;
    // Responses of the server may contain secrets beside the caller's input, so they are not
    // compressed (BREACH).
    const rules = { compress: false };
    const own = { appId: API_ROUTE, hosts: [host], rules, hold: RESTART_TIME };
    set({ ...own, state: target ? 'serving' : 'holding', targets: target ? [target] : [] });
  };
  return {
    host,
    route,
    close,
    async open(http) {
      if (host === null) return;
      const path = join(socketFolder('api'), 'http');
      server = createServer((socket) => giveTo(http, socket));
      server.listen(path);
      await new Promise<void>((resolve, reject) =>
        server?.once('listening', resolve).once('error', reject),
      );
      target = { id: path, host: '', port: 0, path };
    },
    async retire(ingress) {
      const left = target;
      if (!left) return;
      target = null;
      route(ingress);
      await ingress.drain([left.id], 0);
      target = left;
      close();
    },
  };
}

/** Passes the connection to the HTTP server, as if it had come to its port. */
function giveTo(http: HttpServer, socket: Socket): void {
  trustConnection(socket);
  http.emit('connection', socket);
}

function hostOf(appUrl: string | undefined): string | null {
  if (appUrl === undefined || !URL.canParse(appUrl)) return null;
  const host = new URL(appUrl).hostname.replace(/\.$/, '');
  return host === '' ? null : host;
}
