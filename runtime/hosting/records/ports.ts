import { createSocket } from 'node:dgram';
import { createServer } from 'node:net';
import { failure } from '@twofold/runtime/errors';
import { addressMatcher } from '@twofold/runtime/http';

export type Protocol = 'tcp' | 'udp';

/** A port of the host that leads to a port of the app's containers, without HTTP. */
export interface AppPort {
  readonly port: number;
  /** The port in the container. */
  readonly target: number;
  /** TCP if it is not set. */
  readonly protocol?: Protocol;
  /** Addresses and ranges that may connect; all if it is not set. */
  readonly allow?: readonly string[];
}

/** The ports that apps may have. */
export interface PortRange {
  readonly from: number;
  readonly to: number;
}

/** @example parsePortRange('1024-65535') // { from: 1024, to: 65535 } */
export function parsePortRange(text: string): PortRange {
  const [from = 0, to = from] = text.split('-').map(Number);
  return { from, to };
}

/** A port with its protocol: TCP and UDP have separate ports. @example '5432/tcp' */
export const portKey = ({ port, protocol = 'tcp' }: Pick<AppPort, 'port' | 'protocol'>): string =>
  `${port}/${protocol}`;

/** @throws AppError 400 */
export function assertPorts(ports: readonly AppPort[]): void {
  const keys = ports.map(portKey);
  if (new Set(keys).size < keys.length)
    throw failure.badRequest('ports must not name one port twice');
  for (const range of ports.flatMap(({ allow = [] }) => allow))
    try {
      addressMatcher([range]);
    } catch {
      throw failure.badRequest(
        `ports.allow: ${range} is neither an address nor a range such as 10.0.0.0/8`,
      );
    }
}

interface PortSpec {
  readonly ports?: readonly AppPort[];
  readonly usedPorts?: readonly AppPort[];
}

/** The ports that an app asks for and does not have yet. */
export function newPorts({ ports = [] }: PortSpec, before: PortSpec = {}): readonly AppPort[] {
  const had = new Set([...(before.ports ?? []), ...(before.usedPorts ?? [])].map(portKey));
  return ports.filter((port) => !had.has(portKey(port)));
}

/** @throws AppError 400 */
export function assertInRange(ports: readonly AppPort[], { from, to }: PortRange): void {
  const outside = ports.find(({ port }) => port < from || port > to);
  if (outside)
    throw failure.badRequest(
      `ports: ${outside.port} is outside of hosting.ingress.ports, ${from}-${to}`,
    );
}

/**
 * Makes sure that no other program has these ports, by opening and closing them.
 *
 * @param host The address that the ingress listens on.
 * @throws AppError 409
 */
export async function assertFree(ports: readonly AppPort[], host: string): Promise<void> {
  for (const port of ports) {
    const refusal = await (port.protocol === 'udp' ? tryUdp : tryTcp)(port.port, host);
    if (refusal === 'EADDRINUSE') throw taken(port);
    if (refusal === 'EACCES')
      throw failure.conflict(`Port ${portKey(port)} needs more rights (CAP_NET_BIND_SERVICE)`);
  }
}

/** @returns AppError 409 */
export const taken = (port: Pick<AppPort, 'port' | 'protocol'>) =>
  failure.conflict(`Port ${portKey(port)} is already in use`);

function tryTcp(port: number, host: string): Promise<string | null> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', ({ code }: NodeJS.ErrnoException) => resolve(code ?? ''));
    server.listen({ port, host, exclusive: true }, () => server.close(() => resolve(null)));
  });
}

function tryUdp(port: number, host: string): Promise<string | null> {
  return new Promise((resolve) => {
    const socket = createSocket(host.includes(':') ? 'udp6' : 'udp4');
    socket.once('error', ({ code }: NodeJS.ErrnoException) => resolve(code ?? ''));
    socket.bind({ port, address: host, exclusive: true }, () => socket.close(() => resolve(null)));
  });
}
