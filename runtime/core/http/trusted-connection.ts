/** Connections of a proxy that belongs to this server. */
const trusted = new WeakSet<object>();

/**
 * Trusts the `X-Forwarded-*` headers of all requests on this connection. A capability that is itself
 * a proxy in front of the server marks its connections with this; they need no address.
 */
export function trustConnection(socket: object): void {
  trusted.add(socket);
}

export const isTrustedConnection = (socket: object): boolean => trusted.has(socket);
