import { pack, type Pack } from 'tar-stream';
import { pump } from './pump.ts';
import type { TarMember } from './tar-read.ts';

/** Writes members as one tar in which root owns every member. */
export async function* writeTar(members: AsyncIterable<TarMember>): AsyncGenerator<Buffer> {
  const archive = pack();
  const feed = writeAll(members, archive).catch((error: Error) => archive.destroy(error));
  try {
    yield* archive as AsyncIterable<Buffer>;
  } finally {
    archive.destroy();
    await feed;
  }
}

async function writeAll(members: AsyncIterable<TarMember>, archive: Pack): Promise<void> {
  for await (const { path, kind, target, size, mode, mtime, data } of members) {
    if (archive.destroyed) return;
    const entry = archive.entry({
      // tar-stream would write a long path that ends with a slash as an empty name.
      name: path,
      type: kind as 'file',
      ...(kind === 'symlink' && { linkname: target }),
      size,
      mode,
      mtime: new Date(mtime * 1000),
    });
    // When the archive fails, its open member also emits an error, and an error without a listener
    // ends the process.
    entry.on('error', () => {});
    if (kind !== 'file') continue;
    await pump(data, entry);
    entry.end(null);
  }
  archive.finalize();
}

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
