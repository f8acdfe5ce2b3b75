import { executionAsyncResource } from 'node:async_hooks';
import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { ConfigError } from './errors.ts';
import { Incoming } from './http/incoming.ts';
import { Outgoing } from './http/sending.ts';
import { refuseUpgrade, refuseUnreadable } from './http/unreadable.ts';
import type { ServerModule } from './module.ts';

/** The address to listen at. */
export interface Address {
  readonly host: string;
  readonly port: number;
}

const DRAIN_WITHIN = 10_000;
/** How long a stopping server waits for the first byte of a connection, in milliseconds. */
const FIRST_BYTE_WITHIN = 1000;
/** Longer than the idle timeout of common load balancers, so that they close a connection first. */
const KEEP_ALIVE = 65_000;

/**
 * Keeps one of the objects alive that Node makes for each `process.nextTick`. When a full garbage
 * collection finds none, V8 forgets their hidden class and then builds each object property by
 * property, which costs a request 5 µs.
 */
export const tick = new Promise<object>((resolve) =>
  process.nextTick(() => resolve(executionAsyncResource())),
);

/**
 * `:8080`, `127.0.0.1:8080` or `[::1]:8080`.
 *
 * @throws ConfigError when it is none of these.
 */
export function parseAddress(text: string, fallback: Address): Address {
  const match = /^(?<host>\[[^\]]+\]|[^:[\]]*):(?<port>\d{1,5})$/.exec(text);
  const port = Number(match?.groups?.['port']);
  if (!match || port > 65_535)
    throw new ConfigError([
      `the address ${JSON.stringify(text)} must be of the form :8080 or 127.0.0.1:8080`,
    ]);
  return { host: match.groups?.['host']?.replace(/^\[|\]$/g, '') || fallback.host, port };
}

/**
 * Starts to listen, and resolves when the server listens. @throws ConfigError when the port is
 * taken or not allowed.
 */
export async function listen(
  handler: RequestListener,
  modules: readonly ServerModule[],
  address: Address,
): Promise<Server> {
  await tick;
  const server = createServer(
    { keepAliveTimeout: KEEP_ALIVE, IncomingMessage: Incoming, ServerResponse: Outgoing },
    handler,
  );
  server.on('clientError', refuseUnreadable);
  server.on('connection', remember);
  server.on('upgrade', (request, socket, head) => {
    // Node has removed its own listener. An error of a socket without one ends the process.
    socket.on('error', () => socket.destroy());
    if (!modules.some((module) => module.upgrade?.(request, socket, head)))
      refuseUpgrade(socket, 404);
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => reject(explain(error, address)));
    server.listen(address.port, address.host, resolve);
  });
  return server;
}

function explain(error: NodeJS.ErrnoException, { host, port }: Address): Error {
  if (error.code === 'EADDRINUSE')
    return new ConfigError([
      `PORT ${port} is in use: stop what listens there, or set PORT to another`,
    ]);
  if (error.code === 'EACCES')
    return new ConfigError([`PORT ${port} needs more rights: set PORT to one above 1023`]);
  if (error.code === 'EADDRNOTAVAIL' || error.code === 'ENOTFOUND')
    return new ConfigError([`HOST ${host} is not an address of this machine`]);
  return error;
}

const connections = new WeakMap<Server, Set<Socket>>();

function remember(this: Server, socket: Socket): void {
  const open = connections.get(this) ?? new Set();
  connections.set(this, open.add(socket));
  socket.once('close', () => open.delete(socket));
}

/**
 * Stops accepting connections, lets running requests finish for up to ten seconds, then closes
 * their connections.
 */
export async function drain(server: Server, patience = DRAIN_WITHIN): Promise<void> {
  const closed = new Promise<void>((resolve) => void server.close(() => resolve()));
  // A keep-alive connection becomes idle after its answer, and would keep the server open until it
  // times out.
  const sweep = setInterval(() => server.closeIdleConnections(), 50);
  const silence = setTimeout(() => closeSilent(server), Math.min(FIRST_BYTE_WITHIN, patience));
  const cut = setTimeout(() => closeAll(server), patience);
  await closed;
  await untilAllClosed(server);
  clearInterval(sweep);
  clearTimeout(silence);
  clearTimeout(cut);
}

/** Node's server waits only for connections that it has accepted itself. */
async function untilAllClosed(server: Server): Promise<void> {
  const open = connections.get(server) ?? new Set();
  const closed = (socket: Socket) => new Promise((resolve) => socket.once('close', resolve));
  while (open.size > 0) await Promise.all([...open].map(closed));
}

/** Also those with another protocol, which Node's `closeAllConnections` leaves open. */
function closeAll(server: Server): void {
  for (const socket of connections.get(server) ?? []) socket.destroy();
}

/**
 * Browsers and fetch clients connect ahead of a request that may never come. Node does not count
 * such a connection as idle.
 */
function closeSilent(server: Server): void {
  for (const socket of connections.get(server) ?? []) if (socket.bytesRead === 0) socket.destroy();
}

const ALL_ADDRESSES: ReadonlySet<string> = new Set(['0.0.0.0', '::']);

/** `http://127.0.0.1:8080`: the address for a browser on this machine. */
export function urlOf(server: Server): string {
  const { address, port, family } = server.address() as AddressInfo;
  const ipv6 = family === 'IPv6' ? `[${address}]` : address;
  return `http://${ALL_ADDRESSES.has(address) ? '127.0.0.1' : ipv6}:${port}`;
}

/** The real port of a server, which may have been asked to choose any port. */
export const portOf = (server: Server): number => (server.address() as AddressInfo).port;

/** A text for the log when other machines can reach the server too. */
export function onAllAddresses(server: Server): string {
  const { address } = server.address() as AddressInfo;
  return ALL_ADDRESSES.has(address)
    ? ` and all other addresses of this machine (HOST=${address})`
    : '';
}
