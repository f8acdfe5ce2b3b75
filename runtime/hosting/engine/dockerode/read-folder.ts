import { constants, type Stats } from 'node:fs';
import { type FileHandle, lstat, open, readdir, readlink } from 'node:fs/promises';
import { EngineError } from '../errors.ts';
import type { VolumeEntry } from '../volume-files.ts';

/**
 * Yields a folder of this machine and all that is in it. The folder belongs to an app that may run
 * and may be hostile: each name is opened below the handle of its parent and without following
 * links, so that a folder that becomes a link in the meantime leads nowhere else.
 */
export async function* readFolder(path: string): AsyncGenerator<VolumeEntry> {
  const root = await openFolder(path).catch((error: NodeJS.ErrnoException) => {
    throw new EngineError(
      'failed',
      `The files of the volume cannot be read (${error.code}), because the server is not root on the engine's machine: give the app a dump command`,
      error,
    );
  });
  yield* walk(root, '', new Map());
}

const FLAGS = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;
const openFolder = (path: string) => open(path, FLAGS | constants.O_DIRECTORY);
const below = ({ fd }: FileHandle, name: string) => `/proc/self/fd/${fd}/${name}`;

/** Files with more than one name, by their number: the second name becomes a hard link. */
type Seen = Map<string, string>;

async function* walk(folder: FileHandle, path: string, seen: Seen): AsyncGenerator<VolumeEntry> {
  try {
    yield entryOf(path, 'directory', await folder.stat());
    const names = await readdir(`/proc/self/fd/${folder.fd}`);
    for (const name of names.sort()) {
      const stats = await gone(lstat(below(folder, name)));
      if (stats)
        yield* entries({ folder, name, stats, path: path ? `${path}/${name}` : name }, seen);
    }
  } finally {
    await folder.close();
  }
}

interface Found {
  readonly folder: FileHandle;
  readonly name: string;
  readonly path: string;
  readonly stats: Stats;
}

async function* entries(
  { folder, name, path, stats }: Found,
  seen: Seen,
): AsyncGenerator<VolumeEntry> {
  const at = below(folder, name);
  if (stats.isDirectory()) {
    const inner = await gone(openFolder(at));
    if (inner) yield* walk(inner, path, seen);
  } else if (stats.isSymbolicLink()) {
    const target = await gone(readlink(at));
    if (target !== null) yield { ...entryOf(path, 'symlink', stats), target };
  } else if (stats.isFIFO()) yield entryOf(path, 'fifo', stats);
  else if (stats.isFile()) yield* file(at, path, seen);
}

async function* file(at: string, path: string, seen: Seen): AsyncGenerator<VolumeEntry> {
  const handle = await gone(open(at, FLAGS));
  if (!handle) return;
  try {
    const stats = await handle.stat();
    if (!stats.isFile()) return;
    const key = `${stats.dev}:${stats.ino}`;
    const first = seen.get(key);
    if (first !== undefined) return yield { ...entryOf(path, 'link', stats), target: first };
    if (stats.nlink > 1) seen.set(key, path);
    yield {
      ...entryOf(path, 'file', stats),
      size: stats.size,
      data: readBytes(handle, stats.size),
    };
  } finally {
    await handle.close();
  }
}

const CHUNK = 256 * 1024;

/** Exactly `size` bytes: the file may grow or shrink meanwhile. What is missing is zeros, as in tar. */
async function* readBytes(handle: FileHandle, size: number): AsyncGenerator<Buffer> {
  for (let left = size; left > 0;) {
    const buffer = Buffer.allocUnsafe(Math.min(CHUNK, left));
    const { bytesRead } = await handle.read(buffer, 0, buffer.length, size - left);
    const chunk = bytesRead > 0 ? buffer.subarray(0, bytesRead) : buffer.fill(0);
    left -= chunk.length;
    yield chunk;
  }
}

function entryOf(path: string, type: string, stats: Stats): VolumeEntry {
  const { mode, uid, gid, mtime } = stats;
  return {
    ...{ path, type, target: null, size: 0, mode: mode & 0o7777, uid, gid, mtime },
    ...{ device: [0, 0], attributes: null, data: nothing() },
  };
}

async function* nothing(): AsyncGenerator<Buffer> {}

/** The app may remove or exchange a file after its name was read: it is left out. */
async function gone<T>(work: Promise<T>): Promise<T | null> {
  return work.catch((error: NodeJS.ErrnoException) => {
    if (['ENOENT', 'ELOOP', 'ENOTDIR', 'ENXIO'].includes(error.code ?? '')) return null;
    throw error;
  });
}
