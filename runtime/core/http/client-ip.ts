import { BlockList, isIP } from 'node:net';
import type { IncomingHttpHeaders } from 'node:http';
import { ConfigError } from '../errors.ts';

/**
 * The caller's IP address, for limits and logs. `X-Forwarded-For` is used only when the peer is a
 * trusted proxy. It is read from right to left up to the first address that is no trusted proxy:
 * the caller may have made up everything further left.
 *
 * @param trusted CIDR blocks or addresses.
 * @throws ConfigError when one of them is neither.
 * @example const ipOf = clientIp(['10.0.0.0/8']); ipOf(request) // '203.0.113.7'
 */
export function clientIp(trusted: readonly string[]): (request: RequestOfPeer) => string {
  const isProxy = trusted.length > 0 ? addressMatcher(trusted) : () => false;
  return (request) => {
    const peer = plain(request.socket.remoteAddress);
    return isTrustedConnection(request.socket) || isProxy(peer)
      ? forwarded(isProxy, request.headers['x-forwarded-for'], peer)
      : peer;
  };
}

/** The part of a request that says where it comes from. */
export interface RequestOfPeer {
  readonly socket: { readonly remoteAddress?: string | undefined };
  readonly headers: IncomingHttpHeaders;
}

/** Whether an address is one of the given ones, or in one of the given ranges. */
export type AddressMatcher = (address: string) => boolean;

/** @throws ConfigError when one of them is neither an address nor a CIDR block. */
export function addressMatcher(ranges: readonly string[]): AddressMatcher {
  const list = new BlockList();
  for (const entry of ranges) {
    const [address = '', prefix] = entry.split('/');
    const family = isIP(address) === 6 ? 'ipv6' : 'ipv4';
    const bits = prefix === undefined ? (family === 'ipv6' ? 128 : 32) : Number(prefix);
    if (isIP(address) === 0 || !Number.isInteger(bits)) {
      throw new ConfigError([
        `trusted_proxies: ${entry} is neither an address nor a CIDR block such as 10.0.0.0/8`,
      ]);
    }
    list.addSubnet(address, bits, family);
  }
  return (address) =>
    isIP(address) !== 0 && list.check(address, isIP(address) === 6 ? 'ipv6' : 'ipv4');
}

function forwarded(
  isProxy: AddressMatcher,
  header: string | string[] | undefined,
  peer: string,
): string {
  const hops = String(header ?? '')
    .split(',')
    .map((hop) => plain(hop.trim()));
  let address = peer;
  for (const hop of hops.toReversed()) {
    if (isIP(hop) === 0) return address;
    address = hop;
    if (!isProxy(hop)) return address;
  }
  return address;
}

/** An IPv4 address that arrives over an IPv6 socket is converted back to IPv4. */
const plain = (address = '') =>
  address.startsWith(':') ? address.replace(/^::ffff:(?=\d+\.)/i, '') : address;

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
