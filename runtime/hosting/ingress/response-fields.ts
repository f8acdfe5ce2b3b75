/** A header field: its name and its value. */
export type Field = readonly [string, string];

/** Hop-by-hop headers (RFC 9110 §7.6.1), which are not passed on. */
export const HOP_BY_HOP = new Set([
  'connection',
  'keep-alive',
  'proxy-connection',
  'transfer-encoding',
  'upgrade',
  'trailer',
]);

/** Fields about the framing or the meaning of the whole message (RFC 9110 §6.5.1). */
const NEVER_TRAILING = new Set([
  'content-length',
  'content-encoding',
  'content-type',
  'content-range',
  'set-cookie',
  'cache-control',
  'location',
]);

const TOKEN = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;
const VALUE = /^[\t\x20-\x7e\x80-\xff]*$/;

/** @returns null when the line is not a header field (RFC 9112 §5). */
export function parseField(line: string): Field | null {
  const colon = line.indexOf(':');
  const name = line.slice(0, Math.max(0, colon));
  const value = withoutBlanks(line, colon + 1);
  return TOKEN.test(name) && VALUE.test(value) ? [name, value] : null;
}

/** Whether a field after the body is passed on. */
export function mayTrail(name: string): boolean {
  const lower = name.toLowerCase();
  return !HOP_BY_HOP.has(lower) && !NEVER_TRAILING.has(lower);
}

/**
 * Removes spaces and tabs only. `trim` would also remove the byte 0xA0, which is the second byte of
 * a UTF-8 `à`.
 */
function withoutBlanks(line: string, from: number): string {
  let end = line.length;
  while (from < end && isBlank(line.charCodeAt(from))) from += 1;
  while (end > from && isBlank(line.charCodeAt(end - 1))) end -= 1;
  return line.slice(from, end);
}

const isBlank = (code: number) => code === 32 || code === 9;

/** Whether the body is a stream of events, which may pause for as long as it likes. */
export function isEventStream(headers: readonly string[]): boolean {
  for (let at = 0; at < headers.length; at += 2)
    if ((headers[at] as string).toLowerCase() === 'content-type')
      return /^text\/event-stream\b/i.test(headers[at + 1] as string);
  return false;
}
