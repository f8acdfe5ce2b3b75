import { createRequire } from 'node:module';
import type ipaddr from 'ipaddr.js';
import { lookup as resolve } from 'node:dns';
import type { LookupFunction } from 'node:net';

type Library = typeof ipaddr;

/**
 * Loaded with the first address that is checked: a server without webhooks or hosting checks none.
 */
const library = (): Library => createRequire(import.meta.url)('ipaddr.js') as Library;

/**
 * Whether an address is not public: loopback, private, link-local, shared, multicast, reserved (RFC
 * 6890). An IPv6 address that embeds an IPv4 address counts as that address, because packets may be
 * delivered there.
 *
 * @param address An IP address. Any other text counts as private.
 * @example isPrivateAddress('64:ff9b::10.0.0.1') // true: NAT64 leads to 10.0.0.1
 */
export function isPrivateAddress(address: string): boolean {
  const addresses = library();
  if (!addresses.isValid(address)) return true;
  const parsed = addresses.process(address);
  const carried = parsed instanceof addresses.IPv6 ? carriedIPv4(parsed) : [];
  if (carried.length > 0) return carried.some((inside) => inside.range() !== 'unicast');
  return parsed.range() !== 'unicast';
}

/** Whether the host of a URL is a literal private address or a loopback name (RFC 6761). */
export function isPrivateHost(hostname: string): boolean {
  const bare = hostname.replace(/^\[|\]$/g, '').replace(/\.$/, '');
  if (/(^|\.)localhost$/i.test(bare)) return true;
  return library().isValid(bare) && isPrivateAddress(bare);
}

/** The IPv4 addresses inside an IPv6 address, for each known transition mechanism. */
function carriedIPv4(address: ipaddr.IPv6): ipaddr.IPv4[] {
  const { IPv4, IPv6 } = library();
  const bytes = address.toByteArray();
  const at = (start: number) => new IPv4(bytes.slice(start, start + 4));
  const within = (range: string) => address.match(IPv6.parseCIDR(range));
  // IPv4-compatible addresses (RFC 4291 section 2.5.5.1) are deprecated, yet some systems still
  // send to them.
  if (bytes.slice(0, 12).every((byte) => byte === 0)) return [at(12)];
  if (within(NAT64)) return [at(12)];
  if (within(SIX_TO_FOUR)) return [at(2)];
  // Teredo (RFC 4380) embeds the address of its server, and the client's with all bits inverted.
  if (within(TEREDO)) return [at(4), new IPv4(bytes.slice(12).map((byte) => byte ^ 0xff))];
  return [];
}

const NAT64 = '64:ff9b::/96';
const SIX_TO_FOUR = '2002::/16';
const TEREDO = '2001::/32';

/**
 * Resolves names to public addresses only, for requests to addresses that users name. It runs when
 * the socket is opened, so that DNS rebinding cannot reach a private address.
 */
export const guardedLookup: LookupFunction = (hostname, options, done) => {
  resolve(hostname, { ...options, all: true }, (error, addresses) => {
    if (error) return done(error, '', 4);
    const open = addresses.filter(({ address }) => !isPrivateAddress(address));
    const [first] = open;
    if (!first) return done(Object.assign(new TypeError(REFUSED), { code: REFUSED }), '', 4);
    if (options.all) return done(null, open as never, 4);
    done(null, first.address, first.family);
  });
};

const REFUSED = 'private address';
