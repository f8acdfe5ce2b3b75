import type { Header } from 'tar-stream';
import type { AppError } from '@twofold/runtime/errors';
import { refuse } from './refuse.ts';
import { readMembers } from './tar-members.ts';

/** A member of an archive, according to its headers. `size` is the number of bytes that follow. */
export interface TarEntry {
  readonly path: string;
  readonly kind: 'file' | 'directory' | 'symlink' | 'hardlink' | 'other';
  readonly target: string;
  readonly size: number;
  readonly mode: number;
  /** Whole seconds since 1970. */
  readonly mtime: number;
}

/** A member with its bytes. Bytes that the caller does not read are skipped. */
export interface TarMember extends TarEntry {
  readonly data: AsyncIterable<Buffer>;
}

/**
 * Reads an archive that somebody has sent, member by member.
 *
 * @throws AppError 422 when the archive is damaged, cut off or not a tar, and for names that two
 * programs may read differently.
 */
export async function* readTar(chunks: AsyncIterable<Buffer>): AsyncGenerator<TarMember> {
  let members = 0;
  for await (const { header, data } of readMembers(chunks, toRefusal)) {
    members += 1;
    yield { ...toEntry(header), data };
  }
  if (members === 0) throw refuse('The archive is empty or no tar archive');
}

const KINDS: Readonly<Record<string, TarEntry['kind']>> = {
  file: 'file',
  'contiguous-file': 'file',
  directory: 'directory',
  symlink: 'symlink',
  link: 'hardlink',
};

/** tar-stream returns null or NaN for an unreadable size, and would wait for that many bytes. */
function toEntry({ name, type, linkname, size, mode, mtime, ...more }: Header): TarEntry {
  const pax = more.pax as Readonly<Record<string, string>> | null;
  const kind = KINDS[type ?? ''] ?? 'other';
  if (!Number.isSafeInteger(size))
    throw refuse('The archive holds a number that is too large or none');
  if (Object.keys(pax ?? {}).some((key) => key.startsWith('GNU.sparse')))
    throw refuse('The archive holds a sparse file');
  const seconds = pax?.['mtime'] === undefined ? Number(mtime) / 1000 : Number(pax['mtime']);
  return {
    path: assertText(name),
    kind,
    target: assertText(linkname ?? ''),
    size: kind === 'file' ? Number(size) : 0,
    mode: mode || 0,
    mtime: Math.floor(seconds) || 0,
  };
}

/**
 * Accepts only names in UTF-8: two programs could read another name differently, and a check in the
 * one would not protect the other.
 */
function assertText(name: string): string {
  if (name.includes('\uFFFD')) throw refuse('The archive holds a name that is not UTF-8');
  return name;
}

function toRefusal({ message }: Error): AppError {
  if (message === 'Unexpected end of data') return refuse('The archive is cut off');
  if (message === 'Header exceeds max size')
    return refuse('The archive holds an extended header that is too long');
  return refuse('The archive is damaged or no tar archive');
}
