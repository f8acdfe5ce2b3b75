import { lookup } from 'node:dns/promises';
import { isIP } from 'node:net';
import { isPrivateAddress } from '@twofold/runtime/http';
import { quote, refuse } from '../archives/refuse.ts';

/** Finds a host's addresses. The result is empty when the host is not known. */
export type Lookup = (host: string) => Promise<readonly string[]>;

/**
 * The registry from which an image is pulled. Null when the name contains none, so that engines use
 * the public one.
 *
 * @example
 * registryOf('localhost:5000/shop:1') // 'localhost'
 * registryOf('library/node')          // null
 */
function registryOf(image: string): string | null {
  const [first = '', ...rest] = image.split('/');
  if (rest.length === 0 || !/[.:]|^localhost$/i.test(first)) return null;
  return first
    .replace(/:\d*$/, '')
    .replace(/^\[|\]$/g, '')
    .toLowerCase();
}

/**
 * Refuses registries on this machine or in a private network: the engine fetches images from this
 * machine and so can reach hosts that the user cannot. Numbers that some systems read as an address
 * (`127.1`, `0x7f000001`) are refused too.
 *
 * @throws AppError 422
 */
export function assertPublicRegistry(image: string): void {
  const host = registryOf(image);
  if (host === null) return;
  const bare = host.replace(/\.$/, '');
  const isPlain =
    isIP(bare) === 0 &&
    !/^(0x[0-9a-f]*|\d+)(\.(0x[0-9a-f]*|\d+))*$/.test(bare) &&
    !/(^|\.)(localhost|local|internal|localdomain)$/.test(bare);
  if (!isPlain && (isIP(bare) === 0 || isPrivateAddress(bare))) throw refusePrivate(image);
}

/** Does the same for a host name whose address is private. @throws AppError 422 */
export async function assertPublicAddress(
  image: string,
  find: Lookup = findAddresses,
): Promise<void> {
  const host = registryOf(image);
  if (host !== null && (await find(host)).some(isPrivateAddress)) throw refusePrivate(image);
}

const refusePrivate = (image: string) =>
  refuse(
    `FROM ${quote(image)} is not allowed: its registry is in a private network, and hosting.build.from does not name it`,
  );

const findAddresses: Lookup = async (host) =>
  (await lookup(host, { all: true }).catch(() => [])).map(({ address }) => address);
