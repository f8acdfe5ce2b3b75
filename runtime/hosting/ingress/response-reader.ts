/** An answer that cannot be passed on: it is not HTTP/1.1, or can be read in two ways. */
export class BadResponse extends Error {}

/** An answer whose connection ended in the middle: another target may give all of it. */
export class TruncatedResponse extends BadResponse {}

/** The head of a target's answer. */
export interface ResponseHead {
  readonly status: number;
  readonly reason: string;
  /** Names and values by turns, without those of the connection to the target. */
  readonly headers: string[];
  /** Bytes of the body that follows; null when only the end of the connection or a last chunk says. */
  readonly length: number | null;
}

/** Where an answer goes, as it comes. */
export interface ResponseSink {
  /** An interim answer (1xx, RFC 9110 §15.2) that comes before the answer itself. */
  onInterim(head: ResponseHead): void;
  onHead(head: ResponseHead): void;
  /** `last` says that this ends it. */
  onBody(data: Buffer, last: boolean): void;
  /** The end of an answer whose last bytes were not known to be the last. */
  onEnd(): void;
}

/** Reads the answers of one connection, one after the other. */
export interface ResponseReader {
  /**
   * An answer is expected now. With `switches` it may be 101: then every byte behind its head goes to `onBody` as it is,
   * and the answer does not end.
   */
  begin(method: string, sink: ResponseSink, switches?: boolean): void;
  /** @throws BadAnswer */
  push(data: Buffer): void;
  /** The connection has ended. @throws CutAnswer when the answer has not. */
  finish(): void;
  /** Whether nothing is expected. */
  idle(): boolean;
  /** Whether a head, or a line between chunks, has begun and not ended: an app sends these at once. */
  partial(): boolean;
  /** Whether the connection serves another request, as far as its answers say. */
  reusable(): boolean;
}

type ReaderPhase =
  | 'idle'
  | 'head'
  | 'sized'
  | 'rest'
  | 'chunk size'
  | 'chunk'
  | 'chunk end'
  | 'trailer';

const HEAD_END = Buffer.from('\r\n\r\n');
const LINE_END = Buffer.from('\r\n');
const MAX_HEAD = 64 * 1024;
/** Of a line with a chunk's size. */
const MAX_LINE = 4096;
/** Interim answers before an answer: a server sends one or two. */
const MAX_INTERIM = 32;
const NOTHING = Buffer.alloc(0);
const [TAB, LF, CR, DEL] = [9, 10, 13, 127];

/**
 * A strict reader of HTTP/1.1 answers (RFC 9112): bytes that can be read in two ways are refused, so that one answer is
 * never taken for two. They are refused when they come, not at the end of the line that they stand in, which may never
 * come. Nothing of a body is kept.
 */
export function createResponseReader(): ResponseReader {
  const answer: ReaderState = {
    ...{ state: 'idle', method: '', sink: null, switches: false },
    ...{ left: 0, persistent: true, interim: 0 },
  };
  /** Bytes that are no whole line yet: the first `used` of `held`. */
  let held: Buffer = NOTHING;
  let used = 0;

  /** Room is doubled when it runs out. When `held` is a part of a buffer that was passed in, it is full, and is not written to. */
  const join = (chunk: Buffer): Buffer => {
    if (used + chunk.length > held.length)
      held = Buffer.concat([held.subarray(0, used)], 2 * (used + chunk.length));
    chunk.copy(held, used);
    return held.subarray(0, used + chunk.length);
  };

  return {
    begin(method, sink, switches = false) {
      answer.state = 'head';
      answer.method = method;
      answer.sink = sink;
      answer.switches = switches;
      answer.interim = 0;
    },
    push(chunk) {
      const data = used > 0 ? join(chunk) : chunk;
      let at = 0;
      while (at < data.length) {
        const next = readPart(answer, data, at, used);
        if (next < 0) break;
        at = next;
        used = 0;
      }
      if (at > 0 || used === 0) held = at < data.length ? data.subarray(at) : NOTHING;
      used = data.length - at;
    },
    finish() {
      if (answer.state === 'idle') return;
      if (answer.state !== 'rest')
        throw new TruncatedResponse('the connection ended before the answer');
      end(answer).onEnd();
    },
    idle: () => answer.state === 'idle',
    partial: () => used > 0 || answer.state === 'trailer' || answer.state === 'chunk end',
    reusable: () => answer.persistent,
  };
}

/** How far the reading of one answer has come. */
interface ReaderState {
  state: ReaderPhase;
  method: string;
  sink: ResponseSink | null;
  switches: boolean;
  interim: number;
  /** Bytes of the body, or of the chunk, that are still to come. */
  left: number;
  persistent: boolean;
}

/** @returns how far it has read from `at` on; -1 when more is needed. The first `seen` bytes were looked at before. */
function readPart(answer: ReaderState, data: Buffer, at: number, seen: number): number {
  const { state } = answer;
  if (state === 'idle') throw new BadResponse('more came than was asked for');
  if (state === 'sized' || state === 'rest' || state === 'chunk') return readBody(answer, data, at);
  const read = state === 'head' ? readHead : readLine;
  const next = read(answer, data, at, seen);
  // What was looked at before is not looked at again: a target may send its head byte by byte.
  if (next < 0) assertBeginning(answer, data, at, Math.max(at, seen - 1));
  return next;
}

/** Refuses the beginning of a head or line whose end cannot mend it. `from` is where the new bytes begin, or one before. */
function assertBeginning({ state }: ReaderState, data: Buffer, at: number, from: number): void {
  for (let index = from; index < data.length; index += 1) {
    const byte = data[index] as number;
    const isLineEnd = byte === CR ? isNext(data, index, LF) : byte === LF && data[index - 1] === CR;
    if ((byte < 32 && byte !== TAB && !isLineEnd) || byte === DEL || (byte === LF && index === at))
      throw new BadResponse('bytes that no header may hold');
  }
  const start = data.toString('latin1', at, Math.min(data.length, at + 16));
  const fits =
    state === 'head'
      ? 'HTTP/1.'.startsWith(start.slice(0, 7))
      : state === 'chunk end'
        ? start === '\r'
        : state === 'trailer' || /^[0-9A-Fa-f]/.test(start);
  if (!fits) throw new BadResponse(`it is no HTTP/1.1 answer: ${JSON.stringify(start)}`);
}

/** Whether this byte follows, or may still follow. */
const isNext = (data: Buffer, index: number, byte: number) =>
  index + 1 >= data.length || data[index + 1] === byte;

function readHead(answer: ReaderState, data: Buffer, at: number, seen: number): number {
  const stop = data.indexOf(HEAD_END, Math.max(at, seen - HEAD_END.length));
  if ((stop < 0 ? data.length : stop) - at > MAX_HEAD)
    throw new BadResponse('the head is too long');
  if (stop < 0) return -1;
  beginResponse(answer, parseHead(data.toString('latin1', at, stop), answer));
  return stop + HEAD_END.length;
}

function beginResponse(answer: ReaderState, { head, framing, keepAlive }: ParsedHead): void {
  const sink = answer.sink as ResponseSink;
  if (head.status < 200 && head.status !== 101) {
    answer.interim += 1;
    if (answer.interim > MAX_INTERIM) throw new BadResponse('too many interim answers');
    return sink.onInterim(head);
  }
  answer.persistent = keepAlive && framing.kind !== 'rest';
  answer.left = framing.length;
  answer.state = framing.kind;
  sink.onHead(head);
  if (answer.state === 'sized' && answer.left === 0) end(answer).onEnd();
}

function readBody(answer: ReaderState, data: Buffer, at: number): number {
  const part =
    answer.left >= data.length - at
      ? at === 0
        ? data
        : data.subarray(at)
      : data.subarray(at, at + answer.left);
  answer.left -= part.length;
  if (answer.state === 'sized' && answer.left === 0) end(answer).onBody(part, true);
  else (answer.sink as ResponseSink).onBody(part, false);
  if (answer.state === 'chunk' && answer.left === 0) answer.state = 'chunk end';
  return at + part.length;
}

function readLine(answer: ReaderState, data: Buffer, at: number): number {
  const stop = data.indexOf(LINE_END, at);
  if ((stop < 0 ? data.length : stop) - at > MAX_LINE) throw new BadResponse('a line is too long');
  if (stop < 0) return -1;
  const line = data.toString('latin1', at, stop);
  if (answer.state === 'chunk size') {
    answer.left = chunkSize(line);
    answer.state = answer.left === 0 ? 'trailer' : 'chunk';
  } else if (answer.state === 'chunk end') {
    if (line !== '') throw new BadResponse('a chunk is longer than its size');
    answer.state = 'chunk size';
  } else if (line === '') end(answer).onEnd();
  return stop + LINE_END.length;
}

function end(answer: ReaderState): ResponseSink {
  const sink = answer.sink as ResponseSink;
  answer.state = 'idle';
  answer.sink = null;
  return sink;
}

type Framing = { readonly kind: 'sized' | 'rest' | 'chunk size'; readonly length: number };

/** Headers of the connection to the target, which are not passed on (RFC 9110 §7.6.1). */
const DROPPED = new Set([
  'connection',
  'keep-alive',
  'proxy-connection',
  'transfer-encoding',
  'upgrade',
  'trailer',
]);
const TOKEN = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;
const VALUE = /^[\t\x20-\x7e\x80-\xff]*$/;
const CONTENT_LENGTH = new Set(['content-length']);

interface ParsedHead {
  readonly head: ResponseHead;
  readonly framing: Framing;
  readonly keepAlive: boolean;
}

function parseHead(text: string, expected: Pick<ReaderState, 'method' | 'switches'>): ParsedHead {
  const lines = text.split('\r\n');
  const first = /^HTTP\/1\.([01]) ([1-5]\d\d)(?: ([\t\x20-\x7e\x80-\xff]*))?$/.exec(
    lines[0] as string,
  );
  if (!first) throw new BadResponse('it is no HTTP/1.1 answer');
  const status = Number(first[2]);
  const { headers, own } = parseHeaders(lines);
  const framing = framingOf(own, { ...expected, status, old: first[1] === '0' });
  const connection = (own.get('connection') ?? '').toLowerCase();
  const keepAlive =
    first[1] === '1' ? !/\bclose\b/.test(connection) : /\bkeep-alive\b/.test(connection);
  const length = framing.kind === 'sized' ? framing.length : null;
  // A 204 or an interim answer must not have a length (RFC 9110 §8.6): clients would wait for that much.
  const passed = status === 204 || status < 200 ? without(headers, CONTENT_LENGTH) : headers;
  return {
    head: { status, reason: first[3] ?? '', headers: withoutListed(passed, connection), length },
    framing,
    keepAlive,
  };
}

/** The headers that are passed on, names and values by turns, and those that say how the message is cut. */
function parseHeaders(lines: readonly string[]): { headers: string[]; own: Map<string, string> } {
  const headers: string[] = [];
  const own = new Map<string, string>();
  for (let index = 1; index < lines.length; index += 1) {
    const line = lines[index] as string;
    const colon = line.indexOf(':');
    const name = line.slice(0, Math.max(0, colon));
    const value = withoutBlanks(line, colon + 1);
    if (!TOKEN.test(name) || !VALUE.test(value))
      throw new BadResponse('a header is not well formed');
    const lower = name.toLowerCase();
    if (lower === 'content-length' && own.has(lower)) throw new BadResponse('it has two lengths');
    if (DROPPED.has(lower) || lower === 'content-length')
      own.set(lower, own.has(lower) ? `${own.get(lower)}, ${value}` : value);
    if (!DROPPED.has(lower)) headers.push(name, value);
  }
  return { headers, own };
}

/** Only blanks and tabs stand around a value. `trim` would take the last byte of a UTF-8 `à` for a blank. */
function withoutBlanks(line: string, from: number): string {
  let end = line.length;
  while (from < end && isBlank(line.charCodeAt(from))) from += 1;
  while (end > from && isBlank(line.charCodeAt(end - 1))) end -= 1;
  return line.slice(from, end);
}

const isBlank = (code: number) => code === 32 || code === TAB;

/** Where the body ends (RFC 9112 §6.3). */
function framingOf(
  own: ReadonlyMap<string, string>,
  {
    status,
    method,
    switches,
    old,
  }: { status: number; method: string; switches: boolean; old: boolean },
): Framing {
  const coding = own.get('transfer-encoding')?.toLowerCase();
  const length = own.get('content-length');
  if (status === 101) {
    if (!switches || own.get('upgrade')?.toLowerCase() !== 'websocket')
      throw new BadResponse('it changes to a protocol that was not asked for');
    return { kind: 'rest', length: Number.POSITIVE_INFINITY };
  }
  if (coding !== undefined && (length !== undefined || old || coding !== 'chunked'))
    throw new BadResponse('its length can be read in two ways');
  if (length !== undefined && !/^\d{1,15}$/.test(length))
    throw new BadResponse('its length is no number');
  if (method === 'HEAD' || status === 204 || status === 304 || status < 200)
    return { kind: 'sized', length: 0 };
  if (coding !== undefined) return { kind: 'chunk size', length: 0 };
  return length === undefined
    ? { kind: 'rest', length: Number.POSITIVE_INFINITY }
    : { kind: 'sized', length: Number(length) };
}

/** `Connection` may name more headers that end here. */
function withoutListed(headers: string[], connection: string): string[] {
  if (connection === '' || /^(keep-alive|close)$/.test(connection)) return headers;
  return without(headers, new Set(connection.split(',').map((name) => name.trim())));
}

const without = (headers: string[], names: ReadonlySet<string>): string[] =>
  headers.filter((_, index) => !names.has((headers[index - (index % 2)] as string).toLowerCase()));

/** A size and its extensions (RFC 9112 §7.1.1), which are not passed on. */
const CHUNK = (() => {
  const token = "[!#$%&'*+.^_`|~0-9A-Za-z-]+";
  const quoted = String.raw`"(?:[\t \x21\x23-\x5b\x5d-\x7e\x80-\xff]|\\[\t\x20-\x7e\x80-\xff])*"`;
  const extension = String.raw`[ \t]*;[ \t]*${token}(?:[ \t]*=[ \t]*(?:${token}|${quoted}))?`;
  return new RegExp(String.raw`^([0-9A-Fa-f]{1,12})(?:${extension})*[ \t]*$`);
})();

function chunkSize(line: string): number {
  const size = CHUNK.exec(line)?.[1];
  if (size === undefined) throw new BadResponse('a chunk has no size');
  return Number.parseInt(size, 16);
}
