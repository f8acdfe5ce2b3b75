import type { IncomingMessage } from 'node:http';

const INTERNAL = new WeakSet<IncomingMessage>();

/**
 * Marks a request that the server makes itself to find the caller of an open connection. It is no
 * request of a client, so it is in no figure and in no trace.
 */
export function markInternal(request: IncomingMessage): void {
  INTERNAL.add(request);
}

export const isInternal = (request: IncomingMessage): boolean => INTERNAL.has(request);
