import { connect, isIP, type Socket } from 'node:net';
import { connect as connectSecurely } from 'node:tls';
import type { RouteTarget } from './route-table.ts';

/** Where a connection goes to, and whether it is encrypted. */
export type TargetAddress = Pick<RouteTarget, 'host' | 'port' | 'path' | 'serverName'>;

/**
 * Opens a connection to a target. Nothing may be written before the event `ready`: until then the
 * certificate of an encrypted target was not checked.
 */
export function connectTarget(
  { host, port, path, serverName }: TargetAddress,
  timeout?: number,
): { readonly socket: Socket; readonly ready: 'connect' | 'secureConnect' } {
  if (path !== undefined) return { socket: connect({ path }), ready: 'connect' };
  const address = { host, port, noDelay: true, ...(timeout !== undefined && { timeout }) };
  if (serverName === undefined) return { socket: connect(address), ready: 'connect' };
  const named = isIP(serverName) === 0 ? { servername: serverName } : {};
  return { socket: connectSecurely({ ...address, ...named }), ready: 'secureConnect' };
}
