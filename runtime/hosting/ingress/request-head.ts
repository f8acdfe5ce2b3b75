import type { ClientRequest } from './client.ts';
import { forwardedHeaders, isWithheld, type RequestOrigin } from './origin.ts';

/** The head of a request, as it is sent to a target. */
export interface RequestHead {
  /** The request line and the headers, each with its line end, without the empty last line. */
  readonly text: string;
  readonly body: 'none' | 'sized' | 'chunked';
}

/** Hop-by-hop headers (RFC 9110 §7.6.1), which are not forwarded. */
const HOP_BY_HOP = new Set([
  'connection',
  'keep-alive',
  'proxy-connection',
  'proxy-authorization',
  'proxy-authenticate',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
  'expect',
]);

/**
 * Builds the head of a request for a target. The headers about the client are written by us, or
 * continued from a trusted proxy. Those of any other client are dropped.
 *
 * @param hidesAuthorization Whether the app must not see the password, which was for us.
 * @returns null for an ambiguous request: another host in its address, or line ends inside a
 * value.
 */
export function requestHead(
  request: ClientRequest,
  origin: RequestOrigin,
  hidesAuthorization = false,
): RequestHead | null {
  const path = pathOf(request);
  if (path === null) return null;
  const raw = request.rawHeaders;
  const listed = namedByConnection(raw);
  let body: RequestHead['body'] = 'none';
  let text = `${request.method} ${path} HTTP/1.1\r\n`;
  for (let at = 0; at < raw.length; at += 2) {
    const name = raw[at] as string;
    const value = raw[at + 1] as string;
    const lower = name.toLowerCase();
    if (lower === 'transfer-encoding') {
      // Other transfer codings are not supported, and `chunked` twice is an attack.
      if (body === 'chunked' || value.toLowerCase() !== 'chunked') return null;
      body = 'chunked';
    }
    if (lower === 'content-length' && value !== '0') body = 'sized';
    if (HOP_BY_HOP.has(lower) || isWithheld(lower, origin) || listed?.has(lower)) continue;
    if (hidesAuthorization && lower === 'authorization') continue;
    if (/[\0\r\n]/.test(value)) return null;
    text += `${name}: ${value}\r\n`;
  }
  if (wantsTrailers(request)) text += 'TE: trailers\r\nConnection: TE\r\n';
  return { text: text + forwardedHeaders(request, origin), body };
}

/**
 * Further headers that `Connection` marks as hop-by-hop. `Host` and `Content-Length` are always
 * forwarded.
 */
function namedByConnection(raw: readonly string[]): Set<string> | undefined {
  let listed: Set<string> | undefined;
  for (let at = 0; at < raw.length; at += 2) {
    if ((raw[at] as string).length !== 10 || (raw[at] as string).toLowerCase() !== 'connection')
      continue;
    const value = (raw[at + 1] as string).toLowerCase();
    if (value === 'keep-alive' || value === 'close' || value === 'upgrade') continue;
    listed ??= new Set();
    for (const name of value.split(',')) listed.add(name.trim());
  }
  for (const name of ['host', 'content-length']) listed?.delete(name);
  return listed;
}

/** Whether the client takes fields after the body (RFC 9110 §10.1.4). */
export function wantsTrailers({ httpVersion, headers }: ClientRequest): boolean {
  if (headers.te === undefined || !/(?:^|,)\s*trailers\s*(?:,|$)/i.test(String(headers.te)))
    return false;
  return httpVersion === '2.0' || /(?:^|,)\s*te\s*(?:,|$)/i.test(headers.connection ?? '');
}

/** Fields that must not come after a body, because they say how to read it or who sent it. */
const NEVER_TRAILING = new Set([
  'host',
  'content-length',
  'content-encoding',
  'content-type',
  'content-range',
  'authorization',
  'cookie',
  'cache-control',
]);

/**
 * The fields after a body, as lines for a target. Those over HTTP/1.1 are dropped, as many servers
 * merge them into the header.
 */
export function trailerLines(
  { rawTrailers, httpVersion }: ClientRequest,
  origin: RequestOrigin,
): string {
  let text = '';
  if (httpVersion !== '2.0') return text;
  for (let at = 0; at < rawTrailers.length; at += 2) {
    const name = (rawTrailers[at] as string).toLowerCase();
    const value = rawTrailers[at + 1] as string;
    const isForbidden = HOP_BY_HOP.has(name) || NEVER_TRAILING.has(name) || name.startsWith(':');
    if (!isForbidden && !isWithheld(name, origin) && !/[\0\r\n]/.test(value))
      text += `${rawTrailers[at]}: ${value}\r\n`;
  }
  return text;
}

/**
 * Some clients send a full URL, as to a forward proxy. It must name the request's own host. The
 * whole server is asked by `OPTIONS` alone, and stays so (RFC 9112 §3.2.4).
 */
function pathOf({ url = '/', method, headers }: ClientRequest): string | null {
  if (url.startsWith('/')) return /^[\x21-\x7e]+$/.test(url) ? url : null;
  if (url === '*') return method === 'OPTIONS' ? '*' : null;
  const parsed = URL.canParse(url) ? new URL(url) : null;
  const named = `${parsed?.protocol}//${headers.host}`;
  if (
    !parsed ||
    !/^https?:$/.test(parsed.protocol) ||
    parsed.username !== '' ||
    parsed.password !== '' ||
    !URL.canParse(named) ||
    new URL(named).host !== parsed.host
  )
    return null;
  const asksServer = method === 'OPTIONS' && /^[^/]+:\/\/[^/?]*$/.test(url);
  return asksServer ? '*' : parsed.pathname + parsed.search;
}
