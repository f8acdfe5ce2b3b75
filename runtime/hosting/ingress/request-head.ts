import type { IncomingMessage } from 'node:http';
import { forwardedHeaders, isWithheld, type RequestOrigin } from './origin.ts';

/** A request as a target is sent it, but for its body. */
export interface RequestHead {
  /** The first line and the headers, each with its line end, without the empty line at the end. */
  readonly text: string;
  readonly body: 'none' | 'sized' | 'chunked';
}

/** Headers of one connection only (RFC 9110 §7.6.1): how a body is cut is between two neighbours. */
const DROPPED = new Set([
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
 * The head of a request for a target. Who asked, for what and how comes from us, or is continued from a trusted proxy:
 * what any other client says of itself is left out.
 *
 * @returns null for what can be read in two ways: an address of another host, bytes that end a line.
 */
export function requestHead(request: IncomingMessage, origin: RequestOrigin): RequestHead | null {
  const path = pathOf(request);
  if (path === null) return null;
  const raw = request.rawHeaders;
  const listed = listedBy(raw);
  let body: RequestHead['body'] = 'none';
  let text = `${request.method} ${path} HTTP/1.1\r\n`;
  for (let at = 0; at < raw.length; at += 2) {
    const name = raw[at] as string;
    const value = raw[at + 1] as string;
    const lower = name.toLowerCase();
    if (lower === 'transfer-encoding') {
      // Another coding would have to be undone, and twice the same is a trick.
      if (body === 'chunked' || value.toLowerCase() !== 'chunked') return null;
      body = 'chunked';
    }
    if (lower === 'content-length' && value !== '0') body = 'sized';
    if (DROPPED.has(lower) || isWithheld(lower, origin) || listed?.has(lower)) continue;
    if (/[\0\r\n]/.test(value)) return null;
    text += `${name}: ${value}\r\n`;
  }
  return { text: text + forwardedHeaders(request, origin), body };
}

/** `Connection` may name more headers that end here; never those that say where a message ends. */
function listedBy(raw: readonly string[]): Set<string> | undefined {
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

/** Some clients send the whole address as if we were a forward proxy: it must be of the host that they name. */
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
