import type { LogLine } from '../engine.ts';
import type { Generations } from './generations.ts';
import type { RecordParser } from './records.ts';

/** Lines that were read, and whether lines may be missing before them. */
export interface ReadLines {
  readonly lines: LogLine[];
  readonly missing: boolean;
}

export interface FileReader {
  /** The lines of the next piece, perhaps none. Null at the current end of the output. */
  next(): Promise<ReadLines | null>;
}

/** Bytes per read: many for speed, but few enough that other work does not wait long. */
const PIECE = 128 * 1024;
/**
 * Bytes. Engines never write a longer record, so more bytes without a line end are damage, such as
 * zeros after a power failure.
 */
const LONGEST_RECORD = 1024 * 1024;
const NEWLINE = 10;

/** Reads the files one after the other. `offset` is the position in the first file. */
export function createFileReader(
  generations: Generations,
  parser: RecordParser,
  offset: number,
): FileReader {
  let at = offset;
  let rest: Buffer = Buffer.alloc(0);
  let missing = false;
  let isComplete = false;

  const begin = (lost: boolean) => {
    at = 0;
    rest = Buffer.alloc(0);
    missing ||= lost;
    isComplete = false;
  };
  /**
   * Moves to the next text: the rest of this file after the engine has begun a new one, then the
   * new file, or the new text of a file that was cut. @returns false when there is none.
   */
  const goOn = async (): Promise<boolean> => {
    await generations.look();
    if (generations.files.length === 1) {
      const isCut = (await handle().stat()).size < at;
      if (isCut) begin(true);
      return isCut;
    }
    if (isComplete) {
      await generations.shift();
      begin(generations.files[0]?.missing === true);
    } else isComplete = true;
    return true;
  };
  const handle = () => (generations.files[0] as Generations['files'][number]).handle;
  const linesOf = (piece: Buffer): ReadLines => {
    const whole = piece.lastIndexOf(NEWLINE) + 1;
    const found: ReadLines = { lines: [], missing };
    missing = false;
    parser.push(piece.toString('utf8', 0, whole), found.lines);
    rest =
      piece.length - whole > LONGEST_RECORD ? Buffer.alloc(0) : Buffer.from(piece.subarray(whole));
    return found;
  };
  return {
    async next() {
      for (;;) {
        const { bytesRead, buffer } = await handle().read(
          Buffer.allocUnsafeSlow(PIECE),
          0,
          PIECE,
          at,
        );
        at += bytesRead;
        if (bytesRead > 0)
          return linesOf(
            rest.length > 0
              ? Buffer.concat([rest, buffer.subarray(0, bytesRead)])
              : buffer.subarray(0, bytesRead),
          );
        if (!(await goOn())) return null;
      }
    },
  };
}
