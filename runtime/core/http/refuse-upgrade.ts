import { STATUS_CODES } from 'node:http';
import type { Duplex } from 'node:stream';

/**
 * Answers a request that asks for another protocol, and closes its connection. Node waits until the
 * client closes it, and has no time limit for it.
 */
export function refuseUpgrade(socket: Duplex, status: number): void {
  const head = `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\nConnection: close\r\n\r\n`;
  socket.end(head, () => socket.destroy());
}
