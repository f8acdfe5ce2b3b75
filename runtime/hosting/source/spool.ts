import { createReadStream } from 'node:fs';
import { copyFile, link, rm } from 'node:fs/promises';
import { join, posix } from 'node:path';
import { createHash } from 'node:crypto';
import { makeFolder } from './leftovers.ts';
import { storeChunks } from '../archives/chunks.ts';
import { createListing, filterTar, type SourceLimits, type SourceListing } from './tar-filter.ts';
import { readTar, type TarMember } from '../archives/tar-read.ts';
import { textMember, writeTar } from '../archives/tar-write.ts';

/**
 * A source that has been checked and is stored as one tar file, because the kind of project is
 * known only when all of it was read.
 */
export interface Spool {
  readonly listing: SourceListing;
  readonly sha256: string;
  /** The tar for the build: `folder` without ignored paths, then the extra files. */
  read(options: {
    readonly folder: string;
    readonly ignore: (path: string) => boolean;
    readonly extra: Readonly<Record<string, string>>;
  }): AsyncGenerator<Buffer>;
  /** Adds the text of a file to the listing's manifests. Does nothing when there is no such file. */
  load(path: string): Promise<void>;
  /** Also stores it at a path at which there is no file. It takes no space on the same disk. */
  copyTo(path: string): Promise<void>;
  remove(): Promise<void>;
}

/**
 * Filters a tar stream and stores it in a file that only this user can read.
 *
 * @throws AppError 422 as `filterTar`.
 */
export async function spoolSource(
  chunks: AsyncIterable<Buffer>,
  limits: SourceLimits,
): Promise<Spool> {
  const folder = await makeFolder('source');
  const remove = () => rm(folder, { recursive: true, force: true });
  const path = join(folder, 'source.tar');
  const listing = createListing();
  const hash = createHash('sha256');
  const now = Math.floor(Date.now() / 1000);
  try {
    await storeChunks(path, filterTar(chunks, limits, listing), (chunk) => hash.update(chunk));
  } catch (error) {
    await remove();
    throw error;
  }
  return {
    listing,
    sha256: hash.digest('hex'),
    remove,
    copyTo: (other) => link(path, other).catch(() => copyFile(path, other)),
    load: (file) => loadText(readTar(createReadStream(path)), listing, file),
    read: (options) => writeTar(rewrite(readTar(createReadStream(path)), { ...options, now })),
  };
}

/** The most bytes of a file that is loaded. */
const MAX_TEXT = 256 * 1024;

async function loadText(
  members: AsyncIterable<TarMember>,
  { manifests, paths }: SourceListing,
  path: string,
): Promise<void> {
  if (manifests.has(path) || !paths.has(path)) return;
  for await (const { path: found, kind, size, data } of members) {
    if (posix.normalize(found) !== path || kind !== 'file' || size > MAX_TEXT) continue;
    manifests.set(path, Buffer.concat(await Array.fromAsync(data)).toString('utf8'));
    return;
  }
}

/**
 * Selects the members of our stored tar: it makes paths relative to `folder`, omits ignored
 * members, and sets `now` as the time of members without a time.
 */
async function* rewrite(
  members: AsyncIterable<TarMember>,
  { folder, ignore, extra, now }: Parameters<Spool['read']>[0] & { readonly now: number },
): AsyncGenerator<TarMember> {
  for await (const member of members) {
    const path = relativePath(member.path, folder);
    if (path === null || ignore(path) || path in extra) continue;
    yield { ...member, path, mtime: member.mtime || now };
  }
  for (const [path, text] of Object.entries(extra)) yield textMember(path, text, now);
}

function relativePath(path: string, folder: string): string | null {
  const clean = posix.normalize(path).replace(/\/$/, '');
  if (folder === '') return clean;
  return clean.startsWith(`${folder}/`) ? clean.slice(folder.length + 1) : null;
}
