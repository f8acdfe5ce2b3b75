import { type IncomingMessage, request as sendRequest } from 'node:http';
import type { Duplex } from 'node:stream';
import { refuseUpgrade } from '@twofold/runtime/http';

/** The subprotocol of terminals. The other one that a client names is its ticket. */
export const PROTOCOL = 'twofold.terminal';

const PATH = /^\/api\/apps\/[^/]+\/terminals\/[^/?]+(\?|$)/;

/** Whether a request that changes the protocol is for a terminal. */
export const isTerminalPath = ({ url = '' }: IncomingMessage): boolean => PATH.test(url);

/** The ticket stands beside the protocol: a browser can send no header of its own. */
export function ticketOf({ headers }: IncomingMessage): string | null {
  const named = String(headers['sec-websocket-protocol'] ?? '')
    .split(',')
    .map((name) => name.trim());
  if (named.length !== 2 || !named.includes(PROTOCOL)) return null;
  return named.find((name) => name !== PROTOCOL) ?? null;
}

/** Connections that this process hands on to the one that operates the apps. */
export interface Passing {
  upgrade(request: IncomingMessage, client: Duplex, head: Buffer): void;
  /** Cuts them. */
  leave(): void;
}

/** @param leader where the process that operates the apps listens; null while there is none */
export function createPassing(leader: () => Promise<string | null>): Passing {
  const open = new Set<Duplex>();
  return {
    upgrade(request, client, head) {
      open.add(client);
      client.once('close', () => open.delete(client));
      if (head.length > 0) client.unshift(head);
      void leader().then(
        (path) => passOn(request, client, path),
        () => passOn(request, client, null),
      );
    },
    leave: () => open.forEach((client) => client.destroy()),
  };
}

/** The other process checks and answers the request. Bytes are copied in both directions. */
function passOn(request: IncomingMessage, client: Duplex, path: string | null): void {
  client.on('error', () => client.destroy());
  if (path === null) return refuseUpgrade(client, 503);
  const sent = sendRequest({
    socketPath: path,
    path: request.url ?? '/',
    headers: request.headers,
    setHost: false,
    agent: false,
  });
  sent.on('error', () => refuseUpgrade(client, 503));
  sent.on('response', (answer) => {
    client.write(headOf(answer));
    answer.pipe(client).once('finish', () => client.destroy());
  });
  sent.on('upgrade', (answer, leader, first) => {
    client.write(headOf(answer));
    client.write(first);
    join(leader, client);
  });
  sent.end();
}

function join(one: Duplex, other: Duplex): void {
  one.on('error', () => other.destroy());
  one.once('close', () => other.destroy());
  other.once('close', () => one.destroy());
  one.pipe(other).pipe(one);
}

function headOf({ statusCode, statusMessage, rawHeaders }: IncomingMessage): string {
  const lines = [`HTTP/1.1 ${statusCode} ${statusMessage}`];
  for (let index = 0; index < rawHeaders.length; index += 2)
    lines.push(`${rawHeaders[index]}: ${rawHeaders[index + 1]}`);
  return `${lines.join('\r\n')}\r\n\r\n`;
}
