import type { Header as ReadHeader } from 'tar-stream';
import type { Member } from '../archives/tar-members.ts';
import type { Header } from '../archives/tar-write.ts';

/** A file, folder or link of a volume. */
export interface VolumeEntry {
  /** Relative to the volume, without a slash at its ends. Empty for the volume's own folder. */
  readonly path: string;
  /** A type of tar: `file`, `directory`, `symlink`, `link` (a hard link), `fifo`, `character-device`. */
  readonly type: string;
  /** The target of a link; that of a hard link is relative to the volume. */
  readonly target: string | null;
  /** Bytes of a file, else 0. */
  readonly size: number;
  readonly mode: number;
  readonly uid: number;
  readonly gid: number;
  readonly mtime: Date;
  /** Major and minor number of a device. */
  readonly device: readonly [number, number];
  /** Extended attributes, as `SCHILY.xattr.user.name`. */
  readonly attributes: Readonly<Record<string, string>> | null;
  /** The bytes of a file. What is not read is skipped with the next entry. */
  readonly data: AsyncIterable<Buffer>;
}

/** The files of one volume on the engine's machine. No process of an app is involved. */
export interface VolumeFiles {
  /** Yields the volume's own folder first, then everything in it, parents before children. */
  read(): AsyncGenerator<VolumeEntry>;
  /** Adds the entries with their owners, modes and times. */
  write(entries: AsyncIterable<VolumeEntry>): Promise<void>;
  /** Must be called; the volume cannot be removed before. */
  close(): Promise<void>;
}

/** A command that runs in a container, with its input and its output as streams. */
export interface PipedCommand {
  /** What it prints on its standard output. */
  readonly output: AsyncIterable<Buffer>;
  /** Resolves when the output was read to its end. */
  result(): Promise<{ readonly exitCode: number; readonly stderr: string }>;
}

export interface PipeOptions {
  /** Its standard input. Without it the command has none. */
  readonly input?: AsyncIterable<Buffer>;
  /** Ends the connection to the command. */
  readonly signal: AbortSignal;
}

/** The header of a file of a volume in an archive that has the volume below `prefix`. */
export function volumeHeader(entry: VolumeEntry, prefix: string): Header {
  const { path, type, target, attributes, device, data: _data, ...rest } = entry;
  const name = `${prefix}/${path}${type === 'directory' && path !== '' ? '/' : ''}`;
  const linkname = type === 'link' ? `${prefix}/${target}` : target;
  return {
    ...rest,
    name,
    type: type as 'file',
    devmajor: device[0],
    devminor: device[1],
    ...(linkname !== null && { linkname }),
    ...(attributes && { pax: attributes }),
  } as Header;
}

/** The files of a volume that an archive has below `prefix`, which ends with a slash. */
export async function* toEntries(
  members: AsyncIterable<Member>,
  prefix: string,
): AsyncGenerator<VolumeEntry> {
  const relative = (path: string) => path.slice(prefix.length).replace(/\/$/, '');
  for await (const { header, data } of members) {
    const { name, linkname, size = 0, mode = 0, uid = 0, gid = 0, mtime, ...more } = header;
    const type = header.type === 'contiguous-file' ? 'file' : (header.type ?? 'file');
    yield {
      path: relative(name),
      type,
      size: type === 'file' ? size : 0,
      target: linkname ? (type === 'link' ? relative(linkname) : linkname) : null,
      mode: mode & 0o7777,
      uid,
      gid,
      mtime: mtime ?? new Date(0),
      device: [more.devmajor ?? 0, more.devminor ?? 0],
      attributes: attributesOf(more.pax),
      data,
    };
  }
}

/** Binary values do not survive as text: tar-stream reads them as UTF-8. */
function attributesOf(pax: ReadHeader['pax']): VolumeEntry['attributes'] {
  const kept = Object.entries(pax ?? {}).filter(
    ([key, value]) => key.startsWith('SCHILY.xattr.') && !value.includes('\uFFFD'),
  );
  return kept.length > 0 ? Object.fromEntries(kept) : null;
}
