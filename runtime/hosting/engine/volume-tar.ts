import type { Header as ReadHeader } from 'tar-stream';
import type { Member } from '../source/tar-members.ts';
import type { Header } from '../source/tar-write.ts';
import type { VolumeEntry } from './volume-files.ts';

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
      ...{ path: relative(name), type, size: type === 'file' ? size : 0 },
      target: linkname ? (type === 'link' ? relative(linkname) : linkname) : null,
      ...{ mode: mode & 0o7777, uid, gid, mtime: mtime ?? new Date(0) },
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
