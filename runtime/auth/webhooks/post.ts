import { lookup as resolve } from 'node:dns';
import { BlockList, isIP, type LookupFunction } from 'node:net';
import { Agent, request } from 'undici';

const TIME_LIMIT = 5000;
const READ = 64 * 1024;

/** What came back from a receiver: a status, or why there is none. */
export type PostResult = { readonly status: number } | { readonly error: string };

/** Sends a body to an address. */
export type Post = (
  url: string,
  headers: Readonly<Record<string, string>>,
  body: string,
) => Promise<PostResult>;

/** Addresses inside a network, which an outsider who registers a webhook must not reach (RFC 6890). */
const PRIVATE = blockList([
  ['0.0.0.0', 8],
  ['10.0.0.0', 8],
  ['100.64.0.0', 10],
  ['127.0.0.0', 8],
  ['169.254.0.0', 16],
  ['172.16.0.0', 12],
  ['192.0.0.0', 24],
  ['192.168.0.0', 16],
  ['198.18.0.0', 15],
  ['224.0.0.0', 4],
  ['240.0.0.0', 4],
  ['::', 128],
  ['::1', 128],
  ['64:ff9b:1::', 48],
  ['fc00::', 7],
  ['fe80::', 10],
  ['ff00::', 8],
]);

/** Whether an address lies inside a private, link-local or loopback network. */
export function isPrivateAddress(address: string): boolean {
  const plain = address.replace(/^::ffff:(?=\d+\.)/i, '');
  return PRIVATE.check(plain, isIP(plain) === 6 ? 'ipv6' : 'ipv4');
}

/**
 * Posts with a limit of five seconds and follows no redirect. The address is judged where the socket is opened, so that
 * a name which resolves to something else a moment later gains nothing.
 */
export function createPost(allowPrivate: boolean): { readonly post: Post; close(): Promise<void> } {
  const agent = new Agent({
    connect: { timeout: TIME_LIMIT, lookup: guardedLookup(allowPrivate) as never },
  });
  return {
    close: () => agent.destroy(),
    post: async (url, headers, body) => {
      const { hostname } = new URL(url);
      const literal = hostname.replace(/^\[|\]$/g, '');
      if (!allowPrivate && isIP(literal) !== 0 && isPrivateAddress(literal))
        return { error: 'private address' };
      try {
        const response = await request(url, {
          method: 'POST',
          headers,
          body,
          dispatcher: agent,
          signal: AbortSignal.timeout(TIME_LIMIT),
          headersTimeout: TIME_LIMIT,
          bodyTimeout: TIME_LIMIT,
        });
        await response.body.dump({ limit: READ });
        return { status: response.statusCode };
      } catch (error) {
        return {
          error:
            (error as { code?: string }).code ?? (error instanceof Error ? error.name : 'failed'),
        };
      }
    },
  };
}

function guardedLookup(allowPrivate: boolean): LookupFunction {
  return (hostname, options, done) => {
    resolve(hostname, { ...options, all: true }, (error, addresses) => {
      if (error) return done(error, '', 4);
      const open = allowPrivate
        ? addresses
        : addresses.filter(({ address }) => !isPrivateAddress(address));
      const first = open[0];
      if (!first)
        return done(
          Object.assign(new TypeError('private address'), { code: 'private address' }),
          '',
          4,
        );
      if (options.all) return done(null, open as never, 4);
      done(null, first.address, first.family);
    });
  };
}

function blockList(ranges: readonly (readonly [address: string, prefix: number])[]): BlockList {
  const list = new BlockList();
  for (const [address, prefix] of ranges)
    list.addSubnet(address, prefix, isIP(address) === 6 ? 'ipv6' : 'ipv4');
  return list;
}
