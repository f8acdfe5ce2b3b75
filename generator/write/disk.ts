import * as fs from 'node:fs';
import { dirname } from 'node:path';

/** `latin1` is for files that are not text: the text has a character for each byte. */
export type TextEncoding = 'utf8' | 'latin1';

/** The file operations of a commit. They are passed in, so that a test can stop before each one. */
export interface Disk {
  /** The text of a file, or null when it does not exist. */
  read(path: string, encoding?: TextEncoding): Promise<string | null>;
  /** Creates parent folders. The write is atomic: the file has its whole text or does not exist. */
  write(path: string, text: string, mode?: number, encoding?: TextEncoding): Promise<void>;
  rename(from: string, to: string): Promise<void>;
  /** Does nothing if the file does not exist. */
  remove(path: string): Promise<void>;
  /** Removes a folder with its content; does nothing if it does not exist. */
  removeFolder(path: string): Promise<void>;
  /** Fails with `EEXIST` when the file exists. */
  createExclusive(path: string, text: string): Promise<void>;
  list(path: string): Promise<string[]>;
}

/**
 * The real disk. Operations are synchronous and one after the other: for small files the thread
 * pool takes several times as long, and hundreds of parallel operations exceed the limit of open
 * files.
 */
export const disk: Disk = {
  read: async (path, encoding = 'utf8') => {
    try {
      return fs.readFileSync(path, encoding);
    } catch (error) {
      if (hasCode(error, 'ENOENT', 'ENOTDIR')) return null;
      throw error;
    }
  },
  write: async (path, text, mode, encoding) => {
    makeFolder(dirname(path));
    writeTo(fs.openSync(path, 'w', mode ?? 0o666), text, encoding);
  },
  rename: async (from, to) => {
    makeFolder(dirname(to));
    moveFile(from, to);
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
 * Makes a folder and its parents, one after the other: Node's `recursive` option never returns
 * where no folder can be made, as in `/proc`.
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
    // Another process may have made the folder in the meantime; a broken symbolic link does not
    // count as a folder.
    if (!hasCode(error, 'EEXIST') || !fs.existsSync(path)) throw error;
  }
}

/** To a folder on another disk the file is copied beside its target first. */
function moveFile(from: string, to: string): void {
  try {
    fs.renameSync(from, to);
  } catch (error) {
    if (!hasCode(error, 'EXDEV')) throw error;
    fs.copyFileSync(from, `${to}.part`);
    fs.renameSync(`${to}.part`, to);
    fs.rmSync(from);
  }
}

function writeTo(file: number, text: string, encoding: TextEncoding = 'utf8'): void {
  try {
    for (const piece of piecesOf(text)) fs.writeFileSync(file, piece, encoding);
  } finally {
    fs.closeSync(file);
  }
}

const PIECE = 1 << 20;

/**
 * Writes a long text in pieces, because a single write would need a second copy in memory. No piece
 * ends inside a surrogate pair.
 */
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
