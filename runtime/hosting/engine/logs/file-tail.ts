import type { LogLine } from '../engine.ts';
import type { LogFile } from './generations.ts';
import { createRecordParser, type LogFormat, type RecordParser } from './records.ts';

/**
 * The last lines of an output with some lines before them, which are needed to count positions, and
 * the state from which reading continues.
 */
export interface FileTail {
  readonly lines: LogLine[];
  /** How many of `lines` are before the requested ones. */
  readonly before: number;
  readonly parser: RecordParser;
  /** The position in the last file at which reading continues. */
  readonly offset: number;
}

const FIRST_LENGTH = 64 * 1024;
const GROWTH = 4;
/** Bytes. Lines are cut before they are this long, so a requested line is complete. */
const COMPLETE_LENGTH = 4 * 1024 * 1024;
const NEWLINE = 10;

/** Reads larger and larger pieces from the end, until they contain the last `tail` lines. */
export async function readTail(
  files: readonly LogFile[],
  format: LogFormat,
  tail: number,
): Promise<FileTail> {
  const sizes = await Promise.all(files.map(async ({ handle }) => (await handle.stat()).size));
  const total = sizes.reduce((sum, size) => sum + size, 0);
  for (let length = FIRST_LENGTH; ; length *= GROWTH) {
    const whole = length >= total;
    const { lines, parser, open } = parseEnd(
      await readEnd(files, sizes, Math.min(length, total)),
      whole,
      format,
    );
    const before = Math.max(0, lines.length - tail);
    if (whole || isEnough(lines, before, length))
      return { lines, before, parser, offset: Math.max(0, (sizes.at(-1) ?? 0) - open) };
  }
}

function parseEnd(end: Buffer, whole: boolean, format: LogFormat) {
  const parser = createRecordParser(format);
  const lines: LogLine[] = [];
  const last = end.lastIndexOf(NEWLINE) + 1;
  parser.push(end.toString('utf8', whole ? 0 : end.indexOf(NEWLINE) + 1, last), lines);
  return { lines, parser, open: end.length - last };
}

/**
 * Whether the lines from `before` on are complete and have known positions. The first line that was
 * read may lack its beginning, and lines with the same time must be counted from the first of them.
 */
function isEnough(lines: readonly LogLine[], before: number, length: number): boolean {
  if (before === 0) return false;
  const [first, shown] = [
    lines[0] as LogLine,
    lines[Math.min(before, lines.length - 1)] as LogLine,
  ];
  if (first.time === shown.time) return false;
  const isKnown = (stream: LogLine['stream']) =>
    lines.findIndex((line) => line.stream === stream) < before;
  return length >= COMPLETE_LENGTH || (isKnown('stdout') && isKnown('stderr'));
}

/** The last bytes of several files, read as if they were one file. */
async function readEnd(
  files: readonly LogFile[],
  sizes: readonly number[],
  length: number,
): Promise<Buffer> {
  const pieces: Buffer[] = [];
  let missing = length;
  for (let index = files.length - 1; index >= 0 && missing > 0; index -= 1) {
    const size = sizes[index] ?? 0;
    const piece = Buffer.allocUnsafeSlow(Math.min(size, missing));
    const { bytesRead } = await (files[index] as LogFile).handle.read(
      piece,
      0,
      piece.length,
      size - piece.length,
    );
    pieces.unshift(piece.subarray(0, bytesRead));
    missing -= piece.length;
  }
  return Buffer.concat(pieces);
}
