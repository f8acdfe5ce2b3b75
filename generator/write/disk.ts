import * as fs from 'node:fs';
import { dirname } from 'node:path';

/**
 * The file operations that a commit is made of. Passed in, so that a test can stop the world before each one.
 */
export interface Disk {
  /** Text of a file, or null when there is none. */
  read(path: string): Promise<string | null>;
  /** Creates the folders above it. The file has its whole text or does not exist under this name. */
  write(path: string, text: string, mode?: number): Promise<void>;
  rename(from: string, to: string): Promise<void>;
  /** A file that is not there is fine. */
  remove(path: string): Promise<void>;
  /** A folder with everything in it; one that is not there is fine. */
  removeFolder(path: string): Promise<void>;
  /** Fails with `EEXIST` when the file is there. */
  createExclusive(path: string, text: string): Promise<void>;
  list(path: string): Promise<string[]>;
}

/**
 * The real disk. One operation after the other, and none of them through the pool of threads: for files as small as these
 * that takes several times as long, and hundreds at once are more than a process may have open.
 */
export const disk: Disk = {
  read: async (path) => {
    try {
      return fs.readFileSync(path, 'utf8');
    } catch (error) {
      if (hasCode(error, 'ENOENT', 'ENOTDIR')) return null;
      throw error;
    }
  },
  write: async (path, text, mode) => {
    makeFolder(dirname(path));
    writeTo(fs.openSync(path, 'w', mode ?? 0o666), text);
  },
  rename: async (from, to) => {
    makeFolder(dirname(to));
    fs.renameSync(from, to);
  },
  remove: async (path) => fs.rmSync(path, { force: true }),
  removeFolder: async (path) => fs.rmSync(path, { recursive: true, force: true }),
  createExclusive: async (path, text) => {
    makeFolder(dirname(path));
    writeTo(fs.openSync(path, 'wx'), text);
  },
  list: async (path) => {
    try {
      return fs.readdirSync(path).sort();
    } catch (error) {
      if (hasCode(error, 'ENOENT', 'ENOTDIR')) return [];
      throw error;
    }
  },
};

/**
 * Makes a folder and those above it, one after the other: Node's own `recursive` never ends where no folder can be made, as in `/proc`.
 *
 * @throws the error of the operating system, with the folder that could not be made.
 */
export function makeFolder(path: string): void {
  if (fs.existsSync(path)) return;
  const above = dirname(path);
  if (above !== path) makeFolder(above);
  try {
    fs.mkdirSync(path);
  } catch (error) {
    // Somebody else has made it since; a link to nowhere is none.
    if (!hasCode(error, 'EEXIST') || !fs.existsSync(path)) throw error;
  }
}

function writeTo(file: number, text: string): void {
  try {
    for (const piece of piecesOf(text)) fs.writeFileSync(file, piece);
  } finally {
    fs.closeSync(file);
  }
}

const PIECE = 1 << 20;

/** A long text is written in pieces: as one it would stand in memory a second time. No character of two halves is cut. */
function* piecesOf(text: string): Generator<string> {
  for (let from = 0; from < text.length;) {
    const end = from + PIECE;
    const cut = isFirstHalf(text.charCodeAt(end - 1)) ? end + 1 : end;
    yield text.slice(from, cut);
    from = cut;
  }
}

function isFirstHalf(unit: number): boolean {
  return unit >= 0xd800 && unit < 0xdc00;
}

/** Whether an error of the operating system has one of these codes. */
export function hasCode(error: unknown, ...codes: string[]): boolean {
  return error instanceof Error && 'code' in error && codes.includes(String(error.code));
}
