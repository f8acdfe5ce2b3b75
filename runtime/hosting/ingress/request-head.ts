import type { IncomingMessage } from 'node:http';
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
 * @returns null for an ambiguous request: another host in its address, or line ends inside a
 * value.
 */
export function requestHead(request: IncomingMessage, origin: RequestOrigin): RequestHead | null {
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
    if (/[\0\r\n]/.test(value)) return null;
    text += `${name}: ${value}\r\n`;
  }
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

/** Some clients send a full URL, as to a forward proxy. It must name the request's own host. */
function pathOf({ url = '/', headers }: IncomingMessage): string | null {
  if (url.startsWith('/')) return /^[\x21-\x7e]+$/.test(url) ? url : null;
  if (url === '*') return '/*';
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
  return parsed.pathname + parsed.search;
}
