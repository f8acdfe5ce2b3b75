import { createReadStream } from 'node:fs';
import { type FileHandle, mkdir, open, readdir, rename, rm } from 'node:fs/promises';
import { dirname, join, relative, sep } from 'node:path';
import type { Target } from './target.ts';

const PART = '.part';
const BLOCK = 1024 * 1024;
/** Of a block: as many as the kernel takes in one call. */
const MOST_CHUNKS = 1024;

/** A folder of this machine. Only this user can read it. */
export function createLocalTarget(folder: string): Target {
  const pathOf = (name: string) => join(folder, name);
  return {
    async put(name, chunks) {
      const path = pathOf(name);
      await makeFolder(dirname(path));
      try {
        await writeFile(path + PART, chunks);
        await rename(path + PART, path);
        await syncFolder(dirname(path));
      } catch (error) {
        await rm(path + PART, { force: true });
        throw error;
      }
    },
    discard: (name) => rm(pathOf(name) + PART, { force: true }),
    get: (name) => createReadStream(pathOf(name), { highWaterMark: BLOCK }),
    remove: (name) => rm(pathOf(name), { force: true }),
    async list(prefix) {
      const found = await readdir(folder, { recursive: true, withFileTypes: true }).catch(() => []);
      return found
        .filter((entry) => entry.isFile() && !entry.name.endsWith(PART))
        .map(({ parentPath, name }) =>
          relative(folder, join(parentPath, name)).replaceAll(sep, '/'),
        )
        .filter((name) => name.startsWith(prefix))
        .sort();
    },
  };
}

/** Not `recursive`: below /proc Node would try for ever. */
async function makeFolder(path: string): Promise<void> {
  try {
    await mkdir(path, { mode: 0o700 });
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'EEXIST') return;
    if (code !== 'ENOENT' || dirname(path) === path) throw error;
    await makeFolder(dirname(path));
    await mkdir(path, { mode: 0o700 });
  }
}

/**
 * The bytes are on the disk when it resolves: the rename must not come before them. A block is written
 * while the next one is collected. Its chunks are not joined: memory of that size makes work for the
 * garbage collector, which took a third of the time of a backup.
 */
async function writeFile(path: string, chunks: AsyncIterable<Buffer>): Promise<void> {
  const file = await open(path, 'w', 0o600);
  let written: Promise<void> = Promise.resolve();
  try {
    for await (const block of blocks(chunks)) {
      await written;
      written = writeBlock(file, block);
      // Its failure is reported by the next wait for it.
      written.catch(() => {});
    }
    await written;
    await file.sync();
  } finally {
    await written.catch(() => {});
    await file.close();
  }
}

async function* blocks(chunks: AsyncIterable<Buffer>): AsyncGenerator<Buffer[]> {
  let block: Buffer[] = [];
  let length = 0;
  for await (const chunk of chunks) {
    block.push(chunk);
    length += chunk.length;
    if (length < BLOCK && block.length < MOST_CHUNKS) continue;
    yield block;
    block = [];
    length = 0;
  }
  if (block.length > 0) yield block;
}

async function writeBlock(file: FileHandle, block: readonly Buffer[]): Promise<void> {
  const { bytesWritten } = await file.writev(block);
  const length = block.reduce((sum, chunk) => sum + chunk.length, 0);
  // A full disk takes a part. The next attempt says why.
  if (bytesWritten < length) await file.writeFile(Buffer.concat(block).subarray(bytesWritten));
}

async function syncFolder(path: string): Promise<void> {
  const folder = await open(path, 'r');
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
}
