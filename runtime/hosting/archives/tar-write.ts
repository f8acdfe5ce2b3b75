import { pack, type Pack } from 'tar-stream';
import { pieces, pump } from './chunks.ts';
import type { TarMember } from './tar-read.ts';
import { unclosed } from './unclosed.ts';

/**
 * The bytes of an archive that `write` makes, at the speed of the reader. What `write` throws, the
 * reader gets. An archive that was destroyed is read no more: `write` may return.
 */
export async function* packed(write: (archive: Pack) => Promise<void>): AsyncGenerator<Buffer> {
  const archive = pack();
  let failed: Error | undefined;
  const written = write(archive).then(
    () => void (archive.destroyed || archive.finalize()),
    (error: Error) => void archive.destroy((failed = error)),
  );
  try {
    yield* bytesOf(archive, () => failed);
    if (failed) throw failed;
  } finally {
    archive.destroy();
    await written;
  }
}

async function* bytesOf(archive: Pack, failed: () => Error | undefined): AsyncGenerator<Buffer> {
  const chunks = archive as AsyncIterable<Buffer>;
  for await (const chunk of unclosed(chunks, (error) => failed() ?? error)) yield chunk;
}

export type Header = Parameters<Pack['entry']>[0];

/** Writes a member; only that of a file has bytes. */
export async function writeMember(
  archive: Pack,
  header: Header,
  data: AsyncIterable<Buffer> | readonly Buffer[],
): Promise<void> {
  const member = archive.entry(header);
  // When the archive fails, its open member emits an error too, and an error without a listener
  // ends the process.
  member.on('error', () => {});
  if ((header.type ?? 'file') === 'file') await pump(data as AsyncIterable<Buffer>, member);
  member.end(null);
}

/** Bytes in one member of a stream, because tar wants the length before the bytes. */
const PIECE = 4 * 1024 * 1024;

/** Writes a stream whose length is not known, as the members `<folder>/<number>`. */
export async function writePieces(
  archive: Pack,
  folder: string,
  chunks: AsyncIterable<Buffer>,
): Promise<void> {
  let number = 0;
  for await (const piece of pieces(chunks, PIECE)) {
    if (archive.destroyed) return;
    const name = `${folder}/${String((number += 1)).padStart(8, '0')}`;
    await writeMember(archive, { name, size: piece.length }, [piece]);
  }
}

/** Writes members as one tar in which root owns every member. */
export const writeTar = (members: AsyncIterable<TarMember>): AsyncGenerator<Buffer> =>
  packed(async (archive) => {
    for await (const { path, kind, target, size, mode, mtime, data } of members) {
      if (archive.destroyed) return;
      const header = {
        name: path,
        type: kind as 'file',
        size,
        mode,
        mtime: new Date(mtime * 1000),
      };
      // tar-stream would write a long path that ends with a slash as an empty name.
      await writeMember(
        archive,
        { ...header, ...(kind === 'symlink' && { linkname: target }) },
        data,
      );
    }
  });

/** A member with a short text as its content. */
export function textMember(path: string, text: string, mtime: number): TarMember {
  const bytes = Buffer.from(text);
  return {
    path,
    kind: 'file',
    target: '',
    size: bytes.length,
    mode: 0o644,
    mtime,
    data: [bytes] as unknown as AsyncIterable<Buffer>,
  };
}
