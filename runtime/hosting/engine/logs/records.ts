import type { LogLine } from '../engine.ts';
import type Dockerode from 'dockerode';
import type { EngineError } from '../errors.ts';

/** The format of a log file: `json-file` of Docker, or `k8s-file` of Podman's conmon. */
export type LogFormat = 'json-file' | 'k8s-file';

/**
 * Turns records into lines. A line may be split into several records, with records of the other
 * stream between them.
 */
export interface RecordParser {
  /**
   * Adds the lines of complete records to `to`. Each record must have its line end. Unreadable
   * records are skipped.
   */
  push(records: string, to: LogLine[]): void;
  /** The lines that have no line end yet. */
  end(): LogLine[];
}

/** A line is cut at this length, so that a line without an end cannot fill the memory. */
const MAX_LINE = 1024 * 1024;

type Stream = LogLine['stream'];

/** One record, and whether a line ends with it. */
interface Piece extends LogLine {
  readonly ends: boolean;
}

/**
 * @example
 * const lines: LogLine[] = [];
 * createRecordParser('k8s-file').push('2026-01-01T00:00:05.1+00:00 stdout F hello\n', lines);
 */
export function createRecordParser(format: LogFormat): RecordParser {
  const open: Partial<Record<Stream, LogLine>> = {};
  const pieceOf = format === 'json-file' ? jsonPiece : createKubernetesPiece();
  const add = ({ stream, time, text, ends }: Piece, to: LogLine[]) => {
    // A line gets the time of its last piece, so that a reader that starts between two pieces
    // assigns the same time to it.
    const line = { stream, time, text: open[stream] ? open[stream].text + text : text };
    if (!ends && line.text.length <= MAX_LINE) return void (open[stream] = line);
    delete open[stream];
    to.push(toLine(line));
  };
  return {
    push(records, to) {
      for (
        let at = 0, end = records.indexOf('\n');
        end >= 0;
        at = end + 1, end = records.indexOf('\n', at)
      ) {
        const piece = pieceOf(records, at, end);
        if (!piece) continue;
        if (piece.ends && !open[piece.stream]) to.push(toLine(piece));
        else add(piece, to);
      }
    },
    end: () => Object.values(open).map(toLine),
  };
}

const RETURN = 13;

/** A carriage return before the line end is part of the line end. */
function toLine({ stream, time, text }: LogLine): LogLine {
  return {
    stream,
    time,
    text: text.charCodeAt(text.length - 1) === RETURN ? text.slice(0, -1) : text,
  };
}

const LOG = '{"log":"';
const STREAM = '","stream":"';
const TIME = '","time":"';
/** The offset of the time after `","stream":"stdout`. Both stream names have six letters. */
const TO_TIME = STREAM.length + 6 + TIME.length;
const LONGEST_END = TO_TIME + '2026-01-01T00:00:00.000000000+00:00"}'.length + 1;
const ESCAPE = '\\';
const LETTER_N = 110;

/**
 * Parses `{"log":"hello\n","stream":"stdout","time":"…"}`. Quotes in the text are escaped with a
 * backslash, so the fields after it are found by searching for their unescaped names.
 */
function jsonPiece(records: string, at: number, end: number): Piece | undefined {
  const text = at + LOG.length;
  const mark = records.lastIndexOf(STREAM, end);
  const stream = streamAt(records, mark + STREAM.length);
  const usual =
    mark >= text &&
    records.startsWith(LOG, at) &&
    records.startsWith(TIME, mark + TO_TIME - TIME.length) &&
    records.startsWith('"}', end - 2) &&
    end - mark < LONGEST_END;
  if (!stream || !usual) return anyJsonPiece(records.slice(at, end));
  const time = toNanoseconds(records.slice(mark + TO_TIME, end - 2));
  const escape = records.indexOf(ESCAPE, text);
  if (escape < 0 || escape > mark)
    return { stream, time, text: records.slice(text, mark), ends: false };
  if (escape === mark - 2 && records.charCodeAt(mark - 1) === LETTER_N)
    return { stream, time, text: records.slice(text, escape), ends: true };
  return toPiece(stream, time, parse(records.slice(text - 1, mark + 1)));
}

/** Parses a record with more fields, for example those of the log options `labels` and `tag`. */
function anyJsonPiece(record: string): Piece | undefined {
  const found = parse(record) as { log?: unknown; stream?: unknown; time?: unknown } | undefined;
  if (typeof found?.time !== 'string' || (found.stream !== 'stdout' && found.stream !== 'stderr'))
    return undefined;
  return toPiece(found.stream, toNanoseconds(found.time), found.log ?? '');
}

function toPiece(stream: Stream, time: string, text: unknown): Piece | undefined {
  if (typeof text !== 'string') return undefined;
  const ends = text.endsWith('\n');
  return { stream, time, text: ends ? text.slice(0, -1) : text, ends };
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined; // A killed engine may leave an incomplete record.
  }
}

const FULL_TIME = '2026-01-01T00:00:00.000000000Z'.length;

/**
 * Docker's file omits zeros at the end of the fraction, and its stream always has nine digits. This
 * returns nine digits.
 */
function toNanoseconds(time: string): string {
  if (time.length === FULL_TIME || !time.endsWith('Z')) return time;
  const digits = time.charCodeAt(19) === 46 ? time.slice(20, -1) : '';
  return `${time.slice(0, 19)}.${digits.padEnd(9, '0')}Z`;
}

const LETTER_F = 70;
const LETTER_P = 80;
const SPACE = 32;

/**
 * Parses `2026-01-01T00:00:05.123456789+00:00 stdout F hello`. `P` instead of `F` means that the
 * line continues in the next record of its stream. The last converted time is kept, because many
 * records have the same time.
 */
function createKubernetesPiece(): typeof jsonPiece {
  const toUtc = createToUtc();
  let local = ' ';
  let time = '';
  return (records, at, end) => {
    const known = records.startsWith(local, at) && records.charCodeAt(at + local.length) === SPACE;
    const space = known ? at + local.length : records.indexOf(' ', at);
    const stream = streamAt(records, space + 1);
    const letter = records.charCodeAt(space + 8);
    if (!stream || space + 9 > end || (letter !== LETTER_F && letter !== LETTER_P))
      return undefined;
    if (!known) time = toUtc((local = records.slice(at, space)));
    return time === ''
      ? undefined
      : { stream, time, text: records.slice(space + 10, end), ends: letter === LETTER_F };
  };
}

const LOCAL_TIME = /^(\d{4}-\d\d-\d\dT\d\d:\d\d)(:\d\d)(?:\.(\d{1,9}))?(Z|[+-]\d\d:\d\d)$/;

/**
 * Converts a local time with a zone offset to UTC. Returns '' for an invalid time. Zone offsets are
 * whole minutes.
 */
function createToUtc(): (local: string) => string {
  let last = '';
  let utc = '';
  return (local) => {
    const [, minute = '', seconds = '', digits = '', zone = ''] = LOCAL_TIME.exec(local) ?? [];
    if (minute === '') return '';
    if (minute + zone !== last) {
      const time = new Date(minute + zone);
      if (Number.isNaN(time.getTime())) return '';
      utc = time.toISOString().slice(0, 16);
      last = minute + zone;
    }
    return `${utc}${seconds}.${digits.padEnd(9, '0')}Z`;
  };
}

function streamAt(records: string, at: number): Stream | undefined {
  return records.startsWith('stdout', at)
    ? 'stdout'
    : records.startsWith('stderr', at)
      ? 'stderr'
      : undefined;
}

/** The file on this machine to which an engine writes a container's output. */
export interface LogPlace {
  readonly path: string;
  readonly format: LogFormat;
  /** Whether more output may be written. */
  readonly open: boolean;
  /**
   * Calls `onEnd` once, when nothing more will be written. `failure` is set when the engine has
   * become unreachable.
   */
  watchEnd(onEnd: (failure?: EngineError) => void): { close(): void };
}

/** Returns null when there is no such file or its format is not supported. */
export type FindLogPlace = (client: Dockerode, id: string) => Promise<LogPlace | null>;
