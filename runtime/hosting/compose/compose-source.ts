import { createReadStream } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join, posix } from 'node:path';
import { failure } from '@twofold/runtime/errors';
import { makeFolder } from '../source/leftovers.ts';
import { storeChunks } from '../archives/chunks.ts';
import { readTar } from '../archives/tar-read.ts';
import { unpack, type UnpackLimits } from '../source/unpack.ts';
import type { ComposeSource, SourceFile } from './compose-app.ts';
import { MOST_CHARACTERS } from './parse-compose.ts';

/** The archive beside a compose file, on the disk as it was sent. It is read once for each use. */
export interface ComposeArchive {
  /** The bytes of the archive. */
  read(): AsyncIterable<Buffer>;
  /** The text of `compose.yaml`. @throws AppError 422 when the archive has none. */
  composeFile(): Promise<string>;
  /** The small files that `wanted` names, or that are below a folder that it names. */
  files(wanted: ReadonlySet<string>): Promise<ComposeSource>;
  remove(): Promise<void>;
}

const COMPOSE_FILES = ['compose.yaml', 'compose.yml', 'docker-compose.yaml', 'docker-compose.yml'];
/** Bytes of a file, and of all files, that may be copied into containers or read as variables. */
const MOST_BYTES = 1024 * 1024;
const MOST_FILES = 2000;

export async function receiveArchive(
  upload: AsyncIterable<Buffer>,
  limits: UnpackLimits,
): Promise<ComposeArchive> {
  const folder = await makeFolder('source');
  const path = join(folder, 'source.tar.gz');
  const remove = () => rm(folder, { recursive: true, force: true });
  try {
    let taken = 0;
    await storeChunks(path, upload, ({ length }) => {
      taken += length;
      if (taken > limits.compressed)
        throw failure.tooLarge(`The archive is larger than ${limits.compressed} bytes`);
    });
  } catch (error) {
    await remove();
    throw error;
  }
  const read = () => createReadStream(path) as AsyncIterable<Buffer>;
  const members = () => readTar(unpack(read(), limits));
  return {
    read,
    remove,
    composeFile: () => findCompose(members()),
    files: (wanted) => collect(members(), wanted),
  };
}

const cleanPath = (path: string) => posix.normalize(path).replace(/^\.?\/|\/$/g, '');

async function findCompose(members: ReturnType<typeof readTar>): Promise<string> {
  const found = new Map<string, string>();
  for await (const { path, kind, size, data } of members) {
    const name = cleanPath(path);
    if (kind !== 'file' || !COMPOSE_FILES.includes(name)) continue;
    if (size > 4 * MOST_CHARACTERS) throw failure.unprocessable(`${name} is too large`);
    found.set(name, Buffer.concat(await Array.fromAsync(data)).toString('utf8'));
  }
  const name = COMPOSE_FILES.find((each) => found.has(each));
  if (name !== undefined) return found.get(name) as string;
  throw failure.unprocessable('The source has no compose.yaml');
}

async function collect(
  members: ReturnType<typeof readTar>,
  wanted: ReadonlySet<string>,
): Promise<ComposeSource> {
  const files = new Map<string, SourceFile>();
  const folders = new Set<string>();
  let left = MOST_BYTES;
  for await (const { path, kind, size, mode, data } of members) {
    const name = cleanPath(path);
    const parents = name.split('/').slice(0, -1);
    const above = parents.map((_, index) => parents.slice(0, index + 1).join('/'));
    for (const folder of above) folders.add(folder);
    const isWanted = wanted.has(name) || wanted.has('') || above.some((each) => wanted.has(each));
    if (kind !== 'file' || !isWanted) continue;
    if (size > left || files.size === MOST_FILES)
      throw failure.unprocessable(
        `The files that are copied hold more than ${MOST_BYTES} bytes: ${name}`,
      );
    const content = Buffer.concat(await Array.fromAsync(data));
    left -= content.length;
    files.set(name, { content, executable: (mode & 0o111) !== 0 });
  }
  const below = (folder: string) => (folder === '' ? '' : `${folder}/`);
  return {
    file: (path) => files.get(path),
    hasFolder: (path) => path === '' || folders.has(path),
    folder: (path) =>
      new Map(
        [...files]
          .filter(([name]) => name.startsWith(below(path)))
          .map(([name, file]) => [name.slice(below(path).length), file]),
      ),
  };
}

/** Reads nothing, and notes which paths a compose file asks for. */
export function noteWanted(): { readonly wanted: Set<string>; readonly source: ComposeSource } {
  const wanted = new Set<string>();
  return {
    wanted,
    source: {
      file: (path) => void wanted.add(path),
      folder: () => new Map(),
      hasFolder: () => true,
    },
  };
}
