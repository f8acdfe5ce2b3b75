import { createSocket, type RemoteInfo, type Socket } from 'node:dgram';
import type { StreamOptions, StreamPort, StreamTarget } from './stream-port.ts';

/** A client of a UDP port: its datagrams go to one target, through a socket of its own. */
interface Client {
  readonly target: StreamTarget;
  readonly upstream: Socket;
  readonly leave: () => void;
  /** When the last datagram of either side passed. */
  seen: number;
}

/** Milliseconds without a datagram after which a client is forgotten. */
const IDLE = 60_000;
/** A client without a datagram for so long is not waited for when its target leaves. */
const QUIET = 1000;
const MAX_CLIENTS = 10_000;
/** Datagrams that wait for a held app are dropped above this number, as UDP may. */
const MAX_WAITING = 1000;

/** Opens a UDP port. All datagrams of one client go to one target, as long as it serves. */
export async function openUdpPort(options: StreamOptions): Promise<StreamPort> {
  const { targets, enter, now } = options;
  /** Those that have sent the latest datagrams are the last ones. */
  const clients = new Map<string, Client>();
  /** Nothing can be sent through a socket that is closed: an attempt throws. */
  let closed = false;
  const socket = await bind(options);
  let turn = 0;
  let waiting = 0;

  const forget = (key: string) => {
    const client = clients.get(key);
    if (!client) return;
    clients.delete(key);
    client.upstream.close();
    client.leave();
  };
  const admit = (key: string, from: RemoteInfo, found: readonly StreamTarget[]): Client | null => {
    const known = clients.get(key);
    if (known && found.some(({ id }) => id === known.target.id)) {
      clients.delete(key);
      clients.set(key, known);
      return known;
    }
    const target = found[(turn = (turn + 1) % Math.max(1, found.length))];
    if (!target) return null;
    // The answers of the old target may still come, but the client speaks with one only.
    if (known) forget(key);
    const [oldest] = clients.keys();
    if (oldest !== undefined && clients.size >= MAX_CLIENTS) forget(oldest);
    const leave = enter();
    if (!leave) return null;
    const upstream = createSocket(target.host.includes(':') ? 'udp6' : 'udp4');
    const client: Client = { target, upstream, leave, seen: now() };
    upstream.on('error', () => {});
    upstream.on('message', (data, { address, port }) => {
      // Only the target may answer.
      if (port !== target.port || address !== target.host) return;
      client.seen = now();
      socket.send(data, from.port, from.address, () => {});
    });
    clients.set(key, client);
    return client;
  };
  socket.on('message', (data, from) => {
    if (waiting >= MAX_WAITING) return;
    waiting += 1;
    void targets(from.address)
      .then((found) => {
        const client = closed ? null : admit(`${from.address} ${from.port}`, from, found);
        if (!client) return;
        client.seen = now();
        client.upstream.send(data, client.target.port, client.target.host, () => {});
      })
      .finally(() => (waiting -= 1));
  });
  const sweep = setInterval(() => {
    for (const [key, { seen }] of clients) if (seen < now() - IDLE) forget(key);
  }, 5000).unref();
  const of = (ids?: ReadonlySet<string>) =>
    [...clients].filter(([, each]) => !ids || ids.has(each.target.id));
  return {
    handle: socket,
    active: (ids) => of(ids).filter(([, { seen }]) => seen > now() - QUIET).length,
    cut: (ids) => of(ids).forEach(([key]) => forget(key)),
    release() {
      clearInterval(sweep);
      closed = true;
      socket.close();
      for (const key of [...clients.keys()]) forget(key);
    },
  };
}

function bind({ host, port, inherited }: StreamOptions): Promise<Socket> {
  if (inherited) return Promise.resolve(inherited as Socket);
  return new Promise((resolve, reject) => {
    const socket = createSocket(host.includes(':') ? 'udp6' : 'udp4');
    socket.once('error', reject);
    socket.bind({ port, address: host }, () => {
      socket.off('error', reject).on('error', () => {});
      resolve(socket);
    });
  });
}
