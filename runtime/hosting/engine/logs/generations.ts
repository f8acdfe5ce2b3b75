import { constants } from 'node:fs';
import { open, stat, type FileHandle } from 'node:fs/promises';
import type { LogFormat } from './records.ts';

/** One of the files with a container's output. */
export interface LogFile {
  readonly handle: FileHandle;
  readonly inode: bigint;
  /** The time of the last write, in nanoseconds, when the file was opened. */
  readonly written: bigint;
  /** Whether lines may be missing before this file: its predecessor was not found. */
  missing: boolean;
}

/**
 * The files of a container's output, oldest first. When a file is full, the engine begins a new
 * one. Docker renames the full file to `.1`, and `.1` to `.2`. Podman replaces the full file, which
 * can then be read only by processes that have it open.
 */
export interface Generations {
  /** The first file is being read, the last one is being written. */
  readonly files: readonly LogFile[];
  /** Opens files that the engine has begun since the last call. */
  look(): Promise<void>;
  /** Closes the first file and continues with the next. */
  shift(): Promise<void>;
  /** Closes all files except the last. */
  skipToLast(): Promise<void>;
  close(): Promise<void>;
}

/**
 * How many full files stay open for a slow reader: about 200 MB. More would fill the disk with
 * deleted files.
 */
const MAX_FULL_FILES: Readonly<Record<LogFormat, number>> = { 'json-file': 20, 'k8s-file': 4 };
/** The most files to look for. Our engine settings never keep more. */
const MAX_FILES = 100;

/**
 * @returns null when the file does not exist, is not readable, or may not be the container's: an
 * engine on another machine returns a path of that machine. The path must contain the container's
 * id and must not be a symbolic link.
 *
 * @example
 * const generations = await openGenerations({ path: LogPath, id, format: 'json-file' });
 */
export async function openGenerations({
  path,
  id,
  format,
}: {
  readonly path: string;
  readonly id: string;
  readonly format: LogFormat;
}): Promise<Generations | null> {
  if (!path.startsWith('/') || id.length < 12 || !path.includes(id)) return null;
  const { found } = await openSince(path, undefined);
  if (found.length === 0) return null;
  const files = [...found];
  const most = files.length + MAX_FULL_FILES[format];
  let looking: Promise<void> = Promise.resolve();

  const look = async () => {
    const newest = files.at(-1);
    if (!newest || (await inodeOf(path)) === newest.inode) return;
    const { found: fresh, complete } = await openSince(path, newest.inode);
    if (fresh[0] && !complete && format === 'json-file') fresh[0].missing = true;
    files.push(...fresh);
    while (files.length > most) await dropUnread(files);
  };
  return {
    files,
    // Calls run one after the other, so that each one finds all files that were begun before it.
    look: () => (looking = looking.catch(() => {}).then(look)),
    shift: async () => void (await files.shift()?.handle.close()),
    async skipToLast() {
      for (const { handle } of files.splice(0, files.length - 1)) await handle.close();
    },
    async close() {
      await looking.catch(() => {});
      for (const { handle } of files.splice(0)) await handle.close();
    },
  };
}

/** Closes the oldest file that waits to be read. The first one is being read already. */
async function dropUnread(files: LogFile[]): Promise<void> {
  const [dropped] = files.splice(1, 1);
  if (files[1]) files[1].missing = true;
  await dropped?.handle.close();
}

/**
 * Opens the file and its predecessors, back to the one with the inode `last`. `complete` says
 * whether that one was found. Files may be renamed at the same time, even more than once: then one
 * file is found under two names, or the names are in the wrong order.
 */
async function openSince(
  path: string,
  last: bigint | undefined,
): Promise<{ found: LogFile[]; complete: boolean }> {
  const found: LogFile[] = [];
  let complete = false;
  let renamed = false;
  for (let number = 0; number < MAX_FILES && !complete; number += 1) {
    const file = await openFile(number === 0 ? path : `${path}.${number}`);
    if (!file) break;
    const again = found.some(({ inode }) => inode === file.inode);
    renamed ||= again;
    complete = file.inode === last;
    if (again || complete) await file.handle.close();
    else found.unshift(file);
  }
  renamed ||= found.length > 1 && (await inodeOf(path)) !== found.at(-1)?.inode;
  if (renamed) found.sort((a, b) => Number(a.written - b.written));
  return { found, complete };
}

async function openFile(path: string): Promise<LogFile | null> {
  try {
    // O_NONBLOCK: opening a named pipe must not wait for its other end.
    const handle = await open(
      path,
      constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK,
    );
    const { ino: inode, mtimeNs: written, mode } = await handle.stat({ bigint: true });
    if ((Number(mode) & constants.S_IFMT) === constants.S_IFREG)
      return { handle, inode, written, missing: false };
    await handle.close();
  } catch {
    // The file does not exist, or this process may not read it.
  }
  return null;
}

const inodeOf = async (path: string) => (await stat(path, { bigint: true }).catch(() => null))?.ino;
