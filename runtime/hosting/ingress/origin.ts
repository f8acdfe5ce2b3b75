import { randomUUID } from 'node:crypto';
import { isIP } from 'node:net';
import { addressMatcher, clientIp } from '@twofold/runtime/http';
import type { ClientRequest } from './client.ts';
import { FORWARD_HEADER } from './passing-on.ts';

/** Where a request comes from. */
export interface RequestOrigin {
  /** The address of the other end of the connection. */
  readonly peer: string;
  /** Whether that address is in `server.trusted_proxies`: its headers are then used. */
  readonly trusted: boolean;
  /** Whether the client uses TLS, to this server or to the trusted proxy. */
  readonly secure: boolean;
  /** The address of the client: the last one in the list of addresses that is no trusted proxy. */
  readonly ip: string;
  /** The value of `X-Request-Id`. */
  readonly id: string;
}

/**
 * Creates a function that reads the origin of a request. @throws ConfigError when an entry is
 * neither an address nor a range.
 */
export function createOriginReader(
  trustedProxies: readonly string[],
): (request: ClientRequest, tls: boolean, passedOn?: boolean) => RequestOrigin {
  const isProxy = trustedProxies.length > 0 ? addressMatcher(trustedProxies) : () => false;
  const ipOf = clientIp(trustedProxies);
  return (request, tls, passedOn = false) => {
    const peer = (request.socket.remoteAddress ?? '').replace(/^::ffff:(?=\d+\.)/, '');
    const trusted = passedOn || isProxy(peer);
    const proto = trusted ? protoOf(request) : undefined;
    return {
      peer,
      trusted,
      secure: proto === undefined ? tls : proto === 'https',
      ip: passedOn ? (lastHop(request, isProxy) ?? peer) : trusted ? ipOf(request) : peer,
      id: (trusted && wellFormed(request.headers['x-request-id'], isRequestId)) || randomUUID(),
    };
  };
}

/** The client of a request that the app's former server has passed on: its address comes last. */
const lastHop = ({ headers }: ClientRequest, isProxy: (address: string) => boolean) =>
  String(headers['x-forwarded-for'] ?? '')
    .split(',')
    .map((hop) => hop.trim())
    .findLast((hop) => isIP(hop) !== 0 && !isProxy(hop));

/** Headers about the client that proxies set. Which of them an app trusts depends on the app. */
const CLIENT_HEADERS = new Set([
  'forwarded',
  'x-forwarded',
  'x-real-ip',
  'x-client-ip',
  'true-client-ip',
  'cf-connecting-ip',
  'x-rewrite-url',
  'x-request-id',
  FORWARD_HEADER,
]);
/** The headers that we write ourselves. The client's own are dropped, so that each appears once. */
const OUR_HEADERS = new Set([
  'x-forwarded-for',
  'x-forwarded-host',
  'x-forwarded-proto',
  'x-forwarded-port',
  'x-request-id',
  FORWARD_HEADER,
]);

/**
 * Whether this header must not be forwarded as it is. CGI programs treat `X_Forwarded_For` and
 * `X-Forwarded-For` as the same, so a name with `_` instead of `-` is dropped for every client.
 */
export function isWithheld(name: string, { trusted }: RequestOrigin): boolean {
  const variant = name.includes('_');
  const plain = variant ? name.replaceAll('_', '-') : name;
  const claims =
    CLIENT_HEADERS.has(plain) ||
    plain.startsWith('x-forwarded-') ||
    plain.startsWith('x-original-');
  return claims && (variant || !trusted || OUR_HEADERS.has(plain));
}

/** The header lines that tell the app who sent the request, for which host and protocol. */
export function forwardedHeaders(request: ClientRequest, origin: RequestOrigin): string {
  const { headers } = request;
  const host = (origin.trusted && wellFormed(headers['x-forwarded-host'], isHost)) || headers.host;
  const proto = origin.secure ? 'https' : 'http';
  const port =
    (origin.trusted && wellFormed(headers['x-forwarded-port'], isPort)) ||
    /:(\d+)$/.exec(host ?? '')?.[1] ||
    (origin.secure ? '443' : '80');
  return `X-Forwarded-For: ${chainOf(request, origin)}\r\nX-Forwarded-Host: ${host ?? ''}\r\nX-Forwarded-Proto: ${proto}\r\nX-Forwarded-Port: ${port}\r\nX-Request-Id: ${origin.id}\r\n`;
}

/**
 * The addresses that the request came through, the client's first. The list of a trusted proxy is
 * continued.
 */
function chainOf({ headers }: ClientRequest, { peer, trusted }: RequestOrigin): string {
  if (!trusted) return peer;
  const hops = String(headers['x-forwarded-for'] ?? '')
    .split(',')
    .map((hop) => hop.trim())
    .filter((hop) => isIP(hop) !== 0);
  return [...hops, peer].join(', ');
}

function protoOf({ headers }: ClientRequest): string | undefined {
  return wellFormed(headers['x-forwarded-proto'], (text) => /^https?$/i.test(text))?.toLowerCase();
}

/** A header that was sent twice has a comma in its value, so it does not pass the check. */
function wellFormed(
  value: string | readonly string[] | undefined,
  is: (text: string) => boolean,
): string | undefined {
  return typeof value === 'string' && is(value) ? value : undefined;
}

const isPort = (text: string) => /^\d{1,5}$/.test(text) && Number(text) <= 65_535;
const isRequestId = (text: string) => /^[\w.:+/=-]{1,200}$/.test(text);

const HOST = /^(?:[A-Za-z0-9_][A-Za-z0-9_.-]{0,254}|\[([0-9A-Fa-f:.]+)\])(?::(\d{0,5}))?$/;

/** Whether the text is only a name or an address, with an optional port (RFC 9112 §3.2). */
export function isHost(text: string): boolean {
  const match = HOST.exec(text);
  if (!match) return false;
  const [, address, port = ''] = match;
  return (address === undefined || isIP(address) === 6) && Number(port) <= 65_535;
}

/**
 * Whether the request names exactly one valid host. HTTP/1.0 needs none. Node refuses an HTTP/1.1
 * request without one before this is called.
 */
export function namesOneHost({ rawHeaders, headers }: ClientRequest): boolean {
  let count = 0;
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at] as string;
    if (name.length === 4 && name.toLowerCase() === 'host') count += 1;
  }
  return count === 0 || (count === 1 && isHost(headers.host as string));
}
