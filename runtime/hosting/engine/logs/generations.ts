import { constants } from 'node:fs';
import { open, stat, type FileHandle } from 'node:fs/promises';
import type { LogFormat } from './records.ts';

/** One of the files that an output is in. */
export interface LogFile {
  readonly handle: FileHandle;
  readonly inode: bigint;
  /** When it was last written to, in nanoseconds, as it was opened. */
  readonly written: bigint;
  /** Lines may be missing before it: it was not seen to follow on the one before. */
  missing: boolean;
}

/**
 * The files that an output is in, oldest first. An engine begins a new one when the last is full:
 * Docker renames the full one to `.1` and that to `.2`; Podman puts the new one in its place, and
 * only processes that have the full one open can still read it.
 */
export interface Generations {
  /** The first is the one being read, the last the one being written. */
  readonly files: readonly LogFile[];
  /** Opens what has come since. */
  look(): Promise<void>;
  /** Goes on from the first to the next. */
  shift(): Promise<void>;
  /** Leaves out all but the last. */
  skipToLast(): Promise<void>;
  close(): Promise<void>;
}

/**
 * Full files that are kept open for a slow reader, some 200 MB: more would fill the disk with
 * deleted files.
 */
const HELD: Readonly<Record<LogFormat, number>> = { 'json-file': 20, 'k8s-file': 4 };
/** We never configure an engine to keep more files. */
const MOST = 100;

/**
 * @returns null when the file is not there, not readable, or not the container's: an engine on
 * another machine names a file of that one. A path is followed when the container's id is in it,
 * and not through a link.
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
  const most = files.length + HELD[format];
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
    // One after the other: what has come before it is asked for is seen.
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

/** The oldest of those that wait: the first is just being read. */
async function dropUnread(files: LogFile[]): Promise<void> {
  const [dropped] = files.splice(1, 1);
  if (files[1]) files[1].missing = true;
  await dropped?.handle.close();
}

/**
 * The file and its older ones, back to the one with the inode; `complete` when that was found. They
 * may be renamed meanwhile, and more than once: then one has two names, or a newer one the name
 * that an older one had.
 */
async function openSince(
  path: string,
  last: bigint | undefined,
): Promise<{ found: LogFile[]; complete: boolean }> {
  const found: LogFile[] = [];
  let complete = false;
  let renamed = false;
  for (let number = 0; number < MOST && !complete; number += 1) {
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
    // Without waiting for the other end, should it be a pipe.
    const handle = await open(
      path,
      constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK,
    );
    const { ino: inode, mtimeNs: written, mode } = await handle.stat({ bigint: true });
    if ((Number(mode) & constants.S_IFMT) === constants.S_IFREG)
      return { handle, inode, written, missing: false };
    await handle.close();
  } catch {
    // Not there, or not ours to read.
  }
  return null;
}

const inodeOf = async (path: string) => (await stat(path, { bigint: true }).catch(() => null))?.ino;
