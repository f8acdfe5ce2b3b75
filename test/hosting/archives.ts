import { gzipSync } from 'node:zlib';
import { TAR_END, tarFile, tarHeader, tarPadding } from './raw-tar.ts';

/** A member to put into a test archive: text is a file; anything else is written as it says, safe or not. */
export type Member =
  | string
  | { kind?: string; target?: string; mode?: number; data?: Buffer; size?: number };

/** A tar of these members, in order. */
export function tarOf(
  members: Record<string, Member> | readonly (readonly [string, Member])[],
): Buffer {
  const list = Array.isArray(members) ? members : Object.entries(members);
  return Buffer.concat([...list.map(([path, member]) => memberOf(path, member)), TAR_END]);
}

/** The same, packed. */
export const tarGzOf = (members: Parameters<typeof tarOf>[0]): Buffer => gzipSync(tarOf(members));

function memberOf(path: string, member: Member): Buffer {
  if (typeof member === 'string') return tarFile(path, member);
  const data = member.data ?? Buffer.alloc(0);
  const header = tarHeader({
    path,
    kind: 'file',
    target: member.target ?? '',
    size: member.size ?? data.length,
    mode: member.mode ?? 0o644,
  });
  return Buffer.concat([withType(header, member.kind ?? 'file'), data, tarPadding(data.length)]);
}

const TYPES: Record<string, string> = {
  file: '0',
  hardlink: '1',
  symlink: '2',
  chardev: '3',
  blockdev: '4',
  directory: '5',
  fifo: '6',
  sparse: 'S',
};

/** Sets the type byte of the last header block, and the checksum with it. */
export function withType(header: Buffer, kind: string): Buffer {
  const block = header.subarray(header.length - 512);
  block.write(TYPES[kind] ?? kind, 156);
  return withChecksum(header);
}

/** Makes the checksum of the last header block right again. */
export function withChecksum(header: Buffer): Buffer {
  const block = header.subarray(header.length - 512);
  block.write('        ', 148);
  block.write(
    `${block
      .reduce((sum, byte) => sum + byte, 0)
      .toString(8)
      .padStart(6, '0')}\0 `,
    148,
  );
  return header;
}

/** The form of `POST /api/deploy`. */
export function sourceForm(config: unknown, archive: Buffer): FormData {
  const form = new FormData();
  form.set('config', typeof config === 'string' ? config : JSON.stringify(config));
  form.set('source', new Blob([archive as never]), 'source.tar.gz');
  return form;
}
