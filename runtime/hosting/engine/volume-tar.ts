import type { Pack } from 'tar-stream';
import { pump } from '../source/pump.ts';
import type { VolumeEntry } from './volume-files.ts';

type Header = Parameters<Pack['entry']>[0];

/** The header of a file of a volume in an archive that has the volume below `prefix`. */
export function volumeHeader(entry: VolumeEntry, prefix: string): Header {
  const { path, type, target, attributes, device, data: _data, ...rest } = entry;
  const name = `${prefix}/${path}${type === 'directory' && path !== '' ? '/' : ''}`;
  const linkname = type === 'link' ? `${prefix}/${target}` : target;
  return {
    ...rest,
    ...{ name, type: type as 'file', devmajor: device[0], devminor: device[1] },
    ...(linkname !== null && { linkname }),
    ...(attributes && { pax: attributes }),
  } as Header;
}

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
