import type { LogLine } from '../engine.ts';

/**
 * One frame of the engine's multiplexed output: 8 bytes of header (stream, 0, 0, 0, length), then
 * the payload.
 */
export interface Frame {
  readonly stream: 'stdout' | 'stderr';
  readonly payload: Buffer;
}

/** The largest valid payload in bytes. A longer one means that the data is not from an engine. */
const MAX_FRAME = 64 * 1024 * 1024;

/**
 * Splits chunks of any length into frames. An incomplete frame is kept for the next chunk.
 *
 * @example
 * const read = createFrameReader();
 * for await (const chunk of response) for (const frame of read(chunk)) …
 */
export function createFrameReader(): (chunk: Buffer) => Frame[] {
  let pieces: Buffer[] = [];
  let held = 0;
  let needed = 8;
  return (chunk) => {
    pieces.push(chunk);
    held += chunk.length;
    if (held < needed) return [];
    const { frames, rest, next } = split(pieces.length === 1 ? chunk : Buffer.concat(pieces, held));
    pieces = rest.length > 0 ? [rest] : [];
    held = rest.length;
    needed = next;
    return frames;
  };
}

function split(buffer: Buffer): { frames: Frame[]; rest: Buffer; next: number } {
  const frames: Frame[] = [];
  let at = 0;
  while (buffer.length - at >= 8) {
    const length = Math.min(buffer.readUInt32BE(at + 4), MAX_FRAME);
    if (buffer.length - at < 8 + length)
      return { frames, rest: buffer.subarray(at), next: 8 + length };
    frames.push({
      stream: buffer[at] === 2 ? 'stderr' : 'stdout',
      payload: buffer.subarray(at + 8, at + 8 + length),
    });
    at += 8 + length;
  }
  return { frames, rest: buffer.subarray(at), next: 8 };
}

const TIME = /^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:\d\d)) /;
const NEWLINE = 10;
/** A line is cut at this length, so that a line without an end cannot fill the memory. */
const MAX_LINE = 1024 * 1024;

interface OpenLine {
  time: string;
  text: Buffer[];
  length: number;
}

/**
 * Joins frames to lines, because engines split long lines into several frames, each with its own
 * time. `push` adds complete lines to `to`. `end` returns the lines that have no line end yet.
 */
export function createLineAssembler(): {
  push(frame: Frame, to: LogLine[]): void;
  end(): LogLine[];
} {
  const open: Record<Frame['stream'], OpenLine> = { stdout: empty(), stderr: empty() };
  return {
    push({ stream, payload }, to) {
      const line = open[stream];
      let rest = takeTime(line, payload);
      for (let end = rest.indexOf(NEWLINE); end >= 0; end = rest.indexOf(NEWLINE)) {
        add(line, rest.subarray(0, end));
        to.push(finish(stream, line));
        rest = rest.subarray(end + 1);
      }
      add(line, rest);
      if (line.length > MAX_LINE) to.push(finish(stream, line));
    },
    end: () =>
      (['stdout', 'stderr'] as const)
        .filter((stream) => open[stream].length > 0)
        .map((stream) => finish(stream, open[stream])),
  };
}

/**
 * Removes the time from the beginning of a frame. A line gets the time of its last frame, so that a
 * reader that starts between two frames assigns the same time to it.
 */
function takeTime(line: OpenLine, payload: Buffer): Buffer {
  if (payload.length < 21 || payload[4] !== 45) return payload;
  const match = TIME.exec(payload.toString('latin1', 0, 40));
  if (!match) return payload;
  line.time = match[1] ?? '';
  return payload.subarray(match[0].length);
}

function add(line: OpenLine, text: Buffer): void {
  if (text.length === 0) return;
  line.text.push(text);
  line.length += text.length;
}

function finish(stream: Frame['stream'], line: OpenLine): LogLine {
  const text = (
    line.text.length === 1 ? (line.text[0] as Buffer) : Buffer.concat(line.text)
  ).toString('utf8');
  const finished = {
    stream,
    time: line.time,
    text: text.endsWith('\r') ? text.slice(0, -1) : text,
  };
  Object.assign(line, empty());
  return finished;
}

const empty = (): OpenLine => ({ time: '', text: [], length: 0 });
