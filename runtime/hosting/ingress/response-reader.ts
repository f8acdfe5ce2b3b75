/** An answer that cannot be passed on: what it means could be read in two ways, or its connection ended in the middle. */
export class BadAnswer extends Error {}

/** The head of a target's answer. */
export interface AnswerHead {
  readonly status: number;
  readonly reason: string;
  /** Names and values by turns, without those of the connection to the target. */
  readonly headers: string[];
  /** Bytes of the body that follows; null when only its end will tell. */
  readonly length: number | null;
}

/** Where an answer goes, as it comes. */
export interface AnswerSink {
  onHead(head: AnswerHead): void;
  /** `last` says that this ends it. */
  onBody(data: Buffer, last: boolean): void;
  /** The end of an answer whose last bytes were not known to be the last. */
  onEnd(): void;
}

/** Reads the answers of one connection, one after the other. */
export interface ResponseReader {
  /** An answer is expected now. */
  begin(method: string, sink: AnswerSink): void;
  /** @throws BadAnswer */
  push(data: Buffer): void;
  /** The connection has ended. @throws BadAnswer when the answer has not. */
  finish(): void;
  /** Whether nothing is expected. */
  idle(): boolean;
  /** Whether the connection serves another request, as far as its answers say. */
  reusable(): boolean;
}

type State = 'idle' | 'head' | 'sized' | 'rest' | 'chunk size' | 'chunk' | 'chunk end' | 'trailer';

const HEAD_END = Buffer.from('\r\n\r\n');
const LINE_END = Buffer.from('\r\n');
const MAX_HEAD = 64 * 1024;
/** Of a line with a chunk's size. */
const MAX_LINE = 4096;
const NOTHING = Buffer.alloc(0);

/**
 * A strict reader of HTTP/1.1 answers (RFC 9112): what is not said in exactly one way is refused, so that no answer is
 * taken for two, and none for the next one's. Nothing of a body is kept.
 */
export function createResponseReader(): ResponseReader {
  const answer: Answer = { state: 'idle', method: '', sink: null, left: 0, persistent: true };
  /** Bytes that are no whole line yet: the first `used` of `held`. */
  let held: Buffer = NOTHING;
  let used = 0;

  /** Room is doubled when it runs out, and is only ever our own: `held` is full when it is a part of somebody's bytes. */
  const join = (chunk: Buffer): Buffer => {
    if (used + chunk.length > held.length)
      held = Buffer.concat([held.subarray(0, used)], 2 * (used + chunk.length));
    chunk.copy(held, used);
    return held.subarray(0, used + chunk.length);
  };

  return {
    begin(method, sink) {
      [answer.state, answer.method, answer.sink] = ['head', method, sink];
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
      if (answer.state !== 'rest') throw new BadAnswer('the connection ended before the answer');
      end(answer).onEnd();
    },
    idle: () => answer.state === 'idle',
    reusable: () => answer.persistent,
  };
}

/** How far the reading of one answer has come. */
interface Answer {
  state: State;
  method: string;
  sink: AnswerSink | null;
  /** Bytes of the body, or of the chunk, that are still to come. */
  left: number;
  persistent: boolean;
}

/** Reads from `at` on, and says how far it came; -1 when more is needed. The first `seen` bytes were looked at before. */
function readPart(answer: Answer, data: Buffer, at: number, seen: number): number {
  const { state } = answer;
  if (state === 'idle') throw new BadAnswer('more came than was asked for');
  if (state === 'head') return readHead(answer, data, at, seen);
  return state === 'sized' || state === 'rest' || state === 'chunk'
    ? readBody(answer, data, at)
    : readLine(answer, data, at);
}

function readHead(answer: Answer, data: Buffer, at: number, seen: number): number {
  // What was looked at before is not looked at again: a target may send its head byte by byte.
  const stop = data.indexOf(HEAD_END, Math.max(at, seen - HEAD_END.length));
  if ((stop < 0 ? data.length : stop) - at > MAX_HEAD) throw new BadAnswer('the head is too long');
  if (stop < 0) return -1;
  const { head, framing, keepAlive } = parseHead(data.toString('latin1', at, stop), answer.method);
  if (head.status >= 200) {
    answer.persistent = keepAlive && framing.kind !== 'rest';
    answer.left = framing.length;
    answer.state = framing.kind;
    (answer.sink as AnswerSink).onHead(head);
    if (answer.state === 'sized' && answer.left === 0) end(answer).onEnd();
  }
  return stop + HEAD_END.length;
}

function readBody(answer: Answer, data: Buffer, at: number): number {
  const part =
    answer.left >= data.length - at
      ? at === 0
        ? data
        : data.subarray(at)
      : data.subarray(at, at + answer.left);
  answer.left -= part.length;
  if (answer.state === 'sized' && answer.left === 0) end(answer).onBody(part, true);
  else (answer.sink as AnswerSink).onBody(part, false);
  if (answer.state === 'chunk' && answer.left === 0) answer.state = 'chunk end';
  return at + part.length;
}

function readLine(answer: Answer, data: Buffer, at: number): number {
  const stop = data.indexOf(LINE_END, at);
  if ((stop < 0 ? data.length : stop) - at > MAX_LINE) throw new BadAnswer('a line is too long');
  if (stop < 0) return -1;
  const line = data.toString('latin1', at, stop);
  if (answer.state === 'chunk size') {
    answer.left = chunkSize(line);
    answer.state = answer.left === 0 ? 'trailer' : 'chunk';
  } else if (answer.state === 'chunk end') {
    if (line !== '') throw new BadAnswer('a chunk is longer than its size');
    answer.state = 'chunk size';
  } else if (line === '') end(answer).onEnd();
  return stop + LINE_END.length;
}

function end(answer: Answer): AnswerSink {
  const sink = answer.sink as AnswerSink;
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

function parseHead(
  text: string,
  method: string,
): { head: AnswerHead; framing: Framing; keepAlive: boolean } {
  const lines = text.split('\r\n');
  const first = /^HTTP\/1\.([01]) ([1-5]\d\d)(?: ([^\r\n\0]*))?$/.exec(lines[0] as string);
  if (!first) throw new BadAnswer('it is no HTTP/1.1 answer');
  const headers: string[] = [];
  const own = new Map<string, string>();
  for (let index = 1; index < lines.length; index += 1) {
    const line = lines[index] as string;
    const colon = line.indexOf(':');
    const name = line.slice(0, Math.max(0, colon));
    const value = line.slice(colon + 1).trim();
    if (!TOKEN.test(name) || /[\0\r\n]/.test(value))
      throw new BadAnswer('a header is not well formed');
    const lower = name.toLowerCase();
    if (lower === 'content-length' && own.has(lower)) throw new BadAnswer('it has two lengths');
    if (DROPPED.has(lower) || lower === 'content-length')
      own.set(lower, own.has(lower) ? `${own.get(lower)}, ${value}` : value);
    if (!DROPPED.has(lower)) headers.push(name, value);
  }
  const status = Number(first[2]);
  const framing = framingOf(own, { status, method, old: first[1] === '0' });
  const connection = (own.get('connection') ?? '').toLowerCase();
  const keepAlive =
    first[1] === '1' ? !/\bclose\b/.test(connection) : /\bkeep-alive\b/.test(connection);
  const length = framing.kind === 'sized' ? framing.length : null;
  return {
    head: { status, reason: first[3] ?? '', headers: withoutListed(headers, connection), length },
    framing,
    keepAlive,
  };
}

/** Where the body ends (RFC 9112 §6.3). */
function framingOf(
  own: ReadonlyMap<string, string>,
  { status, method, old }: { status: number; method: string; old: boolean },
): Framing {
  const coding = own.get('transfer-encoding')?.toLowerCase();
  const length = own.get('content-length');
  if (status === 101) throw new BadAnswer('it changes to a protocol that nobody asked for');
  if (coding !== undefined && (length !== undefined || old || coding !== 'chunked'))
    throw new BadAnswer('its length can be read in two ways');
  if (length !== undefined && !/^\d{1,15}$/.test(length))
    throw new BadAnswer('its length is no number');
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
  const listed = new Set(connection.split(',').map((name) => name.trim()));
  return headers.filter(
    (_, index) => !listed.has((headers[index - (index % 2)] as string).toLowerCase()),
  );
}

function chunkSize(line: string): number {
  const size = /^([0-9A-Fa-f]{1,12})[ \t]*(?:;[^\0\r\n]*)?$/.exec(line)?.[1];
  if (size === undefined) throw new BadAnswer('a chunk has no size');
  return Number.parseInt(size, 16);
}
