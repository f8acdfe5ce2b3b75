import type { IncomingMessage } from 'node:http';

const REVALIDATIONS = new WeakSet<IncomingMessage>();

/**
 * Marks a request that the server makes itself, to check whether the caller of an open connection
 * is still the same. It counts neither for rate limits nor as a failed attempt.
 */
export function markRevalidation(request: IncomingMessage): void {
  REVALIDATIONS.add(request);
}

export const isRevalidation = (request: IncomingMessage): boolean => REVALIDATIONS.has(request);
