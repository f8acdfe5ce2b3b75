import type { IncomingMessage } from 'node:http';

const REVALIDATIONS = new WeakSet<IncomingMessage>();

/**
 * Marks a request that the server makes itself, to see whether the caller of an open connection is still the same. The client
 * did not send it, so it counts for no rate limit and as no failed attempt.
 */
export function markRevalidation(request: IncomingMessage): void {
  REVALIDATIONS.add(request);
}

export const isRevalidation = (request: IncomingMessage): boolean => REVALIDATIONS.has(request);
