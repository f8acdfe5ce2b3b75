import type { IncomingMessage } from 'node:http';

/** Requests that the server makes itself, for the caller of an open connection. */
const INTERNAL = new WeakSet<IncomingMessage>();
/** Those of them that check whether the caller is still the same. */
const REVALIDATIONS = new WeakSet<IncomingMessage>();

/** Such a request is none of a client, so it is in no figure and in no trace. */
export const markInternal = (request: IncomingMessage) => void INTERNAL.add(request);
export const isInternal = (request: IncomingMessage): boolean => INTERNAL.has(request);

/** Such a request counts neither for rate limits nor as a failed attempt. */
export const markRevalidation = (request: IncomingMessage) => void REVALIDATIONS.add(request);
export const isRevalidation = (request: IncomingMessage): boolean => REVALIDATIONS.has(request);
