import type { IncomingMessage } from 'node:http';

const RECHECKS = new WeakSet<IncomingMessage>();

/**
 * Marks a request that asks only whether the caller of an open connection is still the same. The client did not send it, so
 * it counts for no rate limit and as no failed attempt.
 */
export function markRecheck(request: IncomingMessage): void {
  RECHECKS.add(request);
}

export const isRecheck = (request: IncomingMessage): boolean => RECHECKS.has(request);
