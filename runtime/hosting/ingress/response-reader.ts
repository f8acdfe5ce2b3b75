import { type Field, HOP_BY_HOP, mayTrail, parseField } from './response-fields.ts';

/** A response that cannot be passed on: it is not HTTP/1.1, or it is ambiguous. */
export class BadResponse extends Error {}

/** A response whose connection ended too early. Another target may give the complete response. */
export class TruncatedResponse extends BadResponse {}

/** The head of a target's response. */
export interface ResponseHead {
  readonly status: number;
  readonly reason: string;
  /** Names and values in turns, without hop-by-hop headers. */
  readonly headers: string[];
  /** Bytes of the body. Null when it ends with the connection or with the last chunk. */
  readonly length: number | null;
}

/** Receives the parts of a response as they arrive. */
export interface ResponseSink {
  /** An interim response (1xx, RFC 9110 §15.2), which comes before the final one. */
  onInterim(head: ResponseHead): void;
  onHead(head: ResponseHead): void;
  /** `last` says that the response ends with this data. */
  onBody(data: Buffer, last: boolean): void;
  /**
   * The response has ended, after data that was not marked as the last. `trailers` are the fields
   * after a chunked body.
   */
  onEnd(trailers?: readonly Field[]): void;
}

/** Reads the responses of one connection, one after the other. */
export interface ResponseReader {
  /**
   * Expects a response from now on. With `switches` it may be 101: all bytes after its head then go
   * to `onBody`, and the response has no end.
   */
  begin(method: string, sink: ResponseSink, switches?: boolean): void;
  /** @throws BadResponse */
  push(data: Buffer): void;
  /** The connection has ended. @throws TruncatedResponse when the response is not complete. */
  finish(): void;
  /** Whether no response is expected. */
  idle(): boolean;
  /**
   * Whether a head, or a line between chunks, has begun and not ended. Apps write these in one
   * piece, so it should not take long.
   */
  partial(): boolean;
  /** Whether the connection can be used for another request, as far as its responses show. */
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
/** Bytes of a line with a chunk's size. */
const MAX_LINE = 4096;
/** Interim responses before the final response. Servers send one or two. */
const MAX_INTERIM = 32;
const EMPTY = Buffer.alloc(0);
const NO_TRAILERS: ReaderState['trailers'] = [];
/** Fields after a body. gRPC sends three. */
const MAX_TRAILERS = 64;
const [TAB, LF, CR, DEL] = [9, 10, 13, 127];

/**
 * A strict reader of HTTP/1.1 responses (RFC 9112). Ambiguous bytes are refused, so that one
 * response is never read as two. They are refused when they arrive, not at the end of their line,
 * which may never arrive. Bodies are not stored.
 */
export function createResponseReader(): ResponseReader {
  const response: ReaderState = {
    ...{ state: 'idle', method: '', sink: null, switches: false },
    ...{ left: 0, persistent: true, interim: 0, trailers: NO_TRAILERS },
  };
  /** Bytes of an incomplete line or head: the first `used` bytes of `held`. */
  let held: Buffer = EMPTY;
  let used = 0;

  /**
   * The size is doubled when the space runs out. When `held` is a part of a buffer that was passed
   * to `push`, it is full, so nothing is ever written to that buffer.
   */
  const join = (chunk: Buffer): Buffer => {
    if (used + chunk.length > held.length)
      held = Buffer.concat([held.subarray(0, used)], 2 * (used + chunk.length));
    chunk.copy(held, used);
    return held.subarray(0, used + chunk.length);
  };

  return {
    begin(method, sink, switches = false) {
      response.state = 'head';
      response.method = method;
      response.sink = sink;
      response.switches = switches;
      response.interim = 0;
      response.trailers = NO_TRAILERS;
    },
    push(chunk) {
      const data = used > 0 ? join(chunk) : chunk;
      let at = 0;
      while (at < data.length) {
        const next = readPart(response, data, at, used);
        if (next < 0) break;
        at = next;
        used = 0;
      }
      if (at > 0 || used === 0) held = at < data.length ? data.subarray(at) : EMPTY;
      used = data.length - at;
    },
    finish() {
      if (response.state === 'idle') return;
      if (response.state !== 'rest')
        throw new TruncatedResponse('the connection ended before the response');
      end(response).onEnd();
    },
    idle: () => response.state === 'idle',
    partial: () => used > 0 || response.state === 'trailer' || response.state === 'chunk end',
    reusable: () => response.persistent,
  };
}

/** The progress in reading one response. */
interface ReaderState {
  state: ReaderPhase;
  method: string;
  sink: ResponseSink | null;
  switches: boolean;
  interim: number;
  /** Bytes of the body or of the current chunk that have not arrived yet. */
  left: number;
  persistent: boolean;
  trailers: readonly Field[];
}

/**
 * @returns the position up to which it has read; -1 when more bytes are needed. The first `seen`
 * bytes were checked before.
 */
function readPart(response: ReaderState, data: Buffer, at: number, seen: number): number {
  const { state } = response;
  if (state === 'idle') throw new BadResponse('more came than was asked for');
  if (state === 'sized' || state === 'rest' || state === 'chunk')
    return readBody(response, data, at);
  const read = state === 'head' ? readHead : readLine;
  const next = read(response, data, at, seen);
  // Bytes are not checked twice: a target may send its head byte by byte.
  if (next < 0) assertBeginning(response, data, at, Math.max(at, seen - 1));
  return next;
}

/**
 * Refuses the beginning of a head or line that no further bytes can make valid. `from` is the first
 * new byte, or the byte before it.
 */
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
  if (!fits) throw new BadResponse(`it is not an HTTP/1.1 response: ${JSON.stringify(start)}`);
}

/** Whether this byte follows, or may still arrive. */
const isNext = (data: Buffer, index: number, byte: number) =>
  index + 1 >= data.length || data[index + 1] === byte;

function readHead(response: ReaderState, data: Buffer, at: number, seen: number): number {
  const stop = data.indexOf(HEAD_END, Math.max(at, seen - HEAD_END.length));
  if ((stop < 0 ? data.length : stop) - at > MAX_HEAD)
    throw new BadResponse('the head is too long');
  if (stop < 0) return -1;
  beginResponse(response, parseHead(data.toString('latin1', at, stop), response));
  return stop + HEAD_END.length;
}

function beginResponse(response: ReaderState, { head, framing, keepAlive }: ParsedHead): void {
  const sink = response.sink as ResponseSink;
  if (head.status < 200 && head.status !== 101) {
    response.interim += 1;
    if (response.interim > MAX_INTERIM) throw new BadResponse('too many interim responses');
    return sink.onInterim(head);
  }
  response.persistent = keepAlive && framing.kind !== 'rest';
  response.left = framing.length;
  response.state = framing.kind;
  sink.onHead(head);
  if (response.state === 'sized' && response.left === 0) end(response).onEnd();
}

function readBody(response: ReaderState, data: Buffer, at: number): number {
  const part =
    response.left >= data.length - at
      ? at === 0
        ? data
        : data.subarray(at)
      : data.subarray(at, at + response.left);
  response.left -= part.length;
  if (response.state === 'sized' && response.left === 0) end(response).onBody(part, true);
  else (response.sink as ResponseSink).onBody(part, false);
  if (response.state === 'chunk' && response.left === 0) response.state = 'chunk end';
  return at + part.length;
}

function readLine(response: ReaderState, data: Buffer, at: number): number {
  const stop = data.indexOf(LINE_END, at);
  if ((stop < 0 ? data.length : stop) - at > MAX_LINE) throw new BadResponse('a line is too long');
  if (stop < 0) return -1;
  const line = data.toString('latin1', at, stop);
  if (response.state === 'chunk size') {
    response.left = chunkSize(line);
    response.state = response.left === 0 ? 'trailer' : 'chunk';
  } else if (response.state === 'chunk end') {
    if (line !== '') throw new BadResponse('a chunk is longer than its size');
    response.state = 'chunk size';
  } else if (line === '') {
    const { trailers } = response;
    response.trailers = NO_TRAILERS;
    end(response).onEnd(trailers);
  } else addTrailer(response, line);
  return stop + LINE_END.length;
}

function addTrailer(response: ReaderState, line: string): void {
  const field = parseField(line);
  if (!field || response.trailers.length >= MAX_TRAILERS)
    throw new BadResponse('the fields after the body are not well formed, or too many');
  if (mayTrail(field[0])) response.trailers = [...response.trailers, field];
}

function end(response: ReaderState): ResponseSink {
  const sink = response.sink as ResponseSink;
  response.state = 'idle';
  response.sink = null;
  return sink;
}

type Framing = { readonly kind: 'sized' | 'rest' | 'chunk size'; readonly length: number };

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
  if (!first) throw new BadResponse('it is not an HTTP/1.1 response');
  const status = Number(first[2]);
  const { headers, own } = parseHeaders(lines);
  const framing = framingOf(own, { ...expected, status, old: first[1] === '0' });
  const connection = (own.get('connection') ?? '').toLowerCase();
  const keepAlive =
    first[1] === '1' ? !/\bclose\b/.test(connection) : /\bkeep-alive\b/.test(connection);
  const length = framing.kind === 'sized' ? framing.length : null;
  // A 204 or an interim response must not have a length (RFC 9110 §8.6). Clients would wait for a
  // body of that length.
  const passed = status === 204 || status < 200 ? without(headers, CONTENT_LENGTH) : headers;
  return {
    head: { status, reason: first[3] ?? '', headers: withoutListed(passed, connection), length },
    framing,
    keepAlive,
  };
}

/**
 * @returns the headers to pass on, names and values in turns, and apart from them those that define
 * the length of the message.
 */
function parseHeaders(lines: readonly string[]): { headers: string[]; own: Map<string, string> } {
  const headers: string[] = [];
  const own = new Map<string, string>();
  for (let index = 1; index < lines.length; index += 1) {
    const line = lines[index] as string;
    const field = parseField(line);
    if (!field) throw new BadResponse('a header is not well formed');
    const [name, value] = field;
    const lower = name.toLowerCase();
    if (lower === 'content-length' && own.has(lower)) throw new BadResponse('it has two lengths');
    if (HOP_BY_HOP.has(lower) || lower === 'content-length')
      own.set(lower, own.has(lower) ? `${own.get(lower)}, ${value}` : value);
    if (!HOP_BY_HOP.has(lower)) headers.push(name, value);
  }
  return { headers, own };
}

/** How to find the end of the body (RFC 9112 §6.3). */
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
    throw new BadResponse('its length is not a number');
  if (method === 'HEAD' || status === 204 || status === 304 || status < 200)
    return { kind: 'sized', length: 0 };
  if (coding !== undefined) return { kind: 'chunk size', length: 0 };
  return length === undefined
    ? { kind: 'rest', length: Number.POSITIVE_INFINITY }
    : { kind: 'sized', length: Number(length) };
}

/** Removes the further hop-by-hop headers that `Connection` names. */
function withoutListed(headers: string[], connection: string): string[] {
  if (connection === '' || /^(keep-alive|close)$/.test(connection)) return headers;
  return without(headers, new Set(connection.split(',').map((name) => name.trim())));
}

const without = (headers: string[], names: ReadonlySet<string>): string[] =>
  headers.filter((_, index) => !names.has((headers[index - (index % 2)] as string).toLowerCase()));

/**
 * A chunk's size, with its extensions (RFC 9112 §7.1.1), which are not passed on. Spaces are refused
 * as llhttp refuses them: what parsers read differently lets one answer look like two.
 */
const CHUNK = (() => {
  const token = "[!#$%&'*+.^_`|~0-9A-Za-z-]+";
  const quoted = String.raw`"(?:[\t \x21\x23-\x5b\x5d-\x7e\x80-\xff]|\\[\t\x20-\x7e\x80-\xff])*"`;
  const extension = String.raw`;${token}(?:=(?:${token}|${quoted}))?`;
  return new RegExp(String.raw`^([0-9A-Fa-f]{1,12})(?:${extension})*$`);
})();

function chunkSize(line: string): number {
  const size = CHUNK.exec(line)?.[1];
  if (size === undefined) throw new BadResponse('a chunk has no size');
  return Number.parseInt(size, 16);
}
