import type { VolumeEntry } from '../engine/volume-files.ts';
import { refusedStream } from './failures.ts';

const TYPES = ['file', 'directory', 'symlink', 'link', 'fifo'];
/** Paths of links that are remembered, so that nothing is written through one of them. */
const MAX_LINKS = 200_000;
const MAX_ID = 2 ** 32 - 2;
/** Attributes that have no rights. Capabilities and labels of the source mean nothing here. */
const ATTRIBUTE = /^SCHILY\.xattr\.(?:user\.|system\.posix_acl_)/;

/**
 * Checks the files of a volume that another server has sent, as they are written.
 *
 * @throws AppError `MOVE_REFUSED`
 */
export function createEntryCheck() {
  const links = new Set<string>();
  return async function* check(entries: AsyncIterable<VolumeEntry>): AsyncGenerator<VolumeEntry> {
    for await (const entry of entries) {
      assertEntry(entry, links);
      if (entry.type === 'symlink') links.add(entry.path);
      else links.delete(entry.path);
      if (links.size > MAX_LINKS) throw refusedStream('it has too many symbolic links');
      yield { ...entry, attributes: allowed(entry.attributes) };
    }
  };
}

function assertEntry(
  { path, type, target, uid, gid, size }: VolumeEntry,
  links: ReadonlySet<string>,
) {
  const shown = JSON.stringify(path.slice(0, 200));
  if (!TYPES.includes(type))
    throw refusedStream(`${shown} is a ${type}, which a volume cannot have`);
  if (!isInside(path, type === 'directory'))
    throw refusedStream(`${shown} is not a path in a volume`);
  const parts = path.split('/');
  for (let count = 1; count < parts.length; count += 1)
    if (links.has(parts.slice(0, count).join('/')))
      throw refusedStream(`${shown} is written through a symbolic link`);
  const isTarget = (text: string) => text !== '' && text.length <= 4096 && !text.includes('\0');
  if (type === 'symlink' && !isTarget(target ?? '')) throw refusedStream(`${shown} has no target`);
  if (type === 'link' && (!isInside(target ?? '', false) || links.has(target ?? '')))
    throw refusedStream(`${shown} is a hard link to something else`);
  const numbers = [uid, gid].every((id) => Number.isInteger(id) && id >= 0 && id <= MAX_ID);
  if (!numbers || !Number.isSafeInteger(size) || size < 0)
    throw refusedStream(`${shown} has a wrong owner or length`);
}

/** Empty is the volume's own folder. */
function isInside(path: string, mayBeEmpty: boolean): boolean {
  if (path === '') return mayBeEmpty;
  if (path.length > 4096 || path.includes('\0')) return false;
  return path.split('/').every((part) => part !== '' && part !== '.' && part !== '..');
}

function allowed(attributes: VolumeEntry['attributes']): VolumeEntry['attributes'] {
  const kept = Object.entries(attributes ?? {}).filter(([name]) => ATTRIBUTE.test(name));
  return kept.length > 0 ? Object.fromEntries(kept) : null;
}
