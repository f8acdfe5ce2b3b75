import { connect, createServer, type Server, type Socket } from 'node:net';
import type { StreamOptions, StreamPort, StreamTarget } from './stream-port.ts';

interface Connection {
  readonly target: string;
  readonly sockets: readonly Socket[];
}

/** Milliseconds in which a target must accept a connection. */
const CONNECT_TIMEOUT = 5000;
const BACKLOG = 4096;

/** Opens a TCP port whose connections go to the target with the fewest of them. */
export async function openTcpPort({
  host,
  port,
  targets,
  enter,
  inherited,
}: StreamOptions): Promise<StreamPort> {
  const connections = new Set<Connection>();
  /** Connections by target, also those that are only being opened. */
  const counts = new Map<string, number>();
  const count = (id: string) => counts.get(id) ?? 0;
  const add = (id: string, change: 1 | -1) => {
    if (count(id) + change > 0) counts.set(id, count(id) + change);
    else counts.delete(id);
  };
  /** @returns whether a target has accepted. `leave` is then called when both sides are closed. */
  const pass = async (client: Socket, leave: () => void): Promise<boolean> => {
    const found = await targets(client.remoteAddress ?? '');
    const sorted = found.toSorted((a, b) => count(a.id) - count(b.id));
    for (const target of sorted) {
      if (client.destroyed) return false;
      add(target.id, 1);
      const upstream = await reach(target);
      const end = () => {
        add(target.id, -1);
        leave();
      };
      if (upstream) join({ client, upstream, target: target.id, connections, end });
      if (upstream) return true;
      add(target.id, -1);
    }
    return false;
  };
  const accept = async (client: Socket) => {
    client.on('error', () => client.destroy());
    const leave = enter();
    if (leave && (await pass(client, leave).catch(() => false))) return;
    client.destroy();
    leave?.();
  };
  const server = createServer({ allowHalfOpen: true, pauseOnConnect: true, noDelay: true });
  server.on('connection', (client) => void accept(client));
  await listen(server, inherited ?? { host, port });
  const of = (ids?: ReadonlySet<string>) =>
    [...connections].filter(({ target }) => !ids || ids.has(target));
  return {
    handle: server,
    active: (ids) => of(ids).length,
    cut: (ids) => of(ids).forEach(({ sockets }) => sockets.forEach((socket) => socket.destroy())),
    release: () => void server.close(),
  };
}

function listen(server: Server, where: object): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(where, BACKLOG, () => {
      server.off('error', reject).on('error', () => {});
      resolve();
    });
  });
}

/** @returns null when the target does not accept: another one is tried then. */
function reach({ host, port }: StreamTarget): Promise<Socket | null> {
  return new Promise((resolve) => {
    const socket = connect({ host, port, allowHalfOpen: true, noDelay: true });
    const timer = setTimeout(() => socket.destroy(new Error('too late')), CONNECT_TIMEOUT);
    socket.once('connect', () => {
      clearTimeout(timer);
      resolve(socket);
    });
    socket.on('error', () => {
      clearTimeout(timer);
      socket.destroy();
      resolve(null);
    });
  });
}

/** Passes bytes in both directions. The end of one direction leaves the other open. */
function join({
  client,
  upstream,
  target,
  connections,
  end: ended,
}: {
  readonly client: Socket;
  readonly upstream: Socket;
  readonly target: string;
  readonly connections: Set<Connection>;
  readonly end: () => void;
}): void {
  const connection = { target, sockets: [client, upstream] };
  connections.add(connection);
  const end = () => {
    if (connections.delete(connection)) ended();
    client.destroy();
    upstream.destroy();
  };
  for (const socket of [client, upstream]) {
    socket.setKeepAlive(true, 60_000);
    socket.on('error', end);
  }
  let open = 2;
  const closed = () => {
    open -= 1;
    if (open === 0) end();
  };
  client.once('close', closed);
  upstream.once('close', closed);
  client.pipe(upstream);
  upstream.pipe(client);
  if (client.destroyed || upstream.destroyed) end();
}
