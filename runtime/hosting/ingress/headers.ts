import type { IncomingMessage } from 'node:http';

/** Headers of one connection only (RFC 9110 §7.6.1), and those that we alone may set. */
const DROPPED = new Set([
  'connection', 'keep-alive', 'proxy-connection', 'proxy-authorization', 'proxy-authenticate', 'te', 'trailer', 'transfer-encoding', 'upgrade', 'expect',
  'forwarded', 'x-forwarded-for', 'x-forwarded-host', 'x-forwarded-proto', 'x-forwarded-port', 'x-real-ip',
]);

/** Response headers of the target's own connection. */
const RESPONSE_DROPPED = new Set(['connection', 'keep-alive', 'proxy-connection', 'transfer-encoding', 'upgrade', 'trailer']);

/**
 * The request's headers as a target gets them, as a flat list. Who asked, for what and how comes from us alone: what a
 * client says of itself in `X-Forwarded-*` is left out.
 */
export function forwardedHeaders(request: IncomingMessage, secure: boolean): string[] {
  const named = request.headers.connection;
  const listed = named && !/^(keep-alive|close|upgrade)$/i.test(named) ? listOf(named) : undefined;
  const headers: string[] = [];
  const raw = request.rawHeaders;
  for (let at = 0; at < raw.length; at += 2) {
    const name = raw[at] as string;
    const lower = name.toLowerCase();
    if (!DROPPED.has(lower) && !listed?.has(lower)) headers.push(name, raw[at + 1] as string);
  }
  const host = request.headers.host ?? '';
  const address = request.socket.remoteAddress ?? '';
  headers.push('X-Forwarded-For', address, 'X-Forwarded-Host', host, 'X-Forwarded-Proto', secure ? 'https' : 'http', 'X-Real-IP', address);
  return headers;
}

/** A target's raw response headers as a flat list of text. */
export function responseHeaders(raw: readonly (Buffer | string)[]): string[] {
  const headers: string[] = [];
  for (let at = 0; at < raw.length; at += 2) {
    const name = raw[at]!.toString('latin1' as never);
    if (!RESPONSE_DROPPED.has(name.toLowerCase())) headers.push(name, raw[at + 1]!.toString('latin1' as never));
  }
  return headers;
}

function listOf(header: string): Set<string> {
  return new Set(header.split(',').map((name) => name.trim().toLowerCase()));
}
