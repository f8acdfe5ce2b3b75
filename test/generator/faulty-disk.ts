import type { Disk } from '../../generator/write/disk.ts';

/** Thrown where the world ends: nothing after it happens. */
export class Stopped extends Error {}

/**
 * A disk on which the world ends at one operation that changes it. A write that is cut leaves half of its text, as a
 * killed process or a full disk does; renames and removals happen or do not.
 */
export function faultyDisk(disk: Disk, stopAt: number): Disk & { readonly count: () => number } {
  let changes = 0;
  const step = async (half: () => Promise<void>): Promise<void> => {
    if (changes >= stopAt) {
      if (changes++ === stopAt) await half();
      throw new Stopped('the world ended');
    }
    changes++;
  };
  return {
    ...disk,
    write: async (path, text, mode, encoding) => {
      const half = text.slice(0, Math.floor(text.length / 2));
      await step(() => disk.write(path, half, mode, encoding));
      await disk.write(path, text, mode, encoding);
    },
    rename: async (from, to) => {
      await step(async () => {});
      await disk.rename(from, to);
    },
    remove: async (path) => {
      await step(async () => {});
      await disk.remove(path);
    },
    removeFolder: async (path) => {
      await step(() => removeSome(disk, path));
      await disk.removeFolder(path);
    },
    count: () => changes,
  };
}

/** A folder is removed file by file: some are gone, some are not. */
async function removeSome(disk: Disk, path: string): Promise<void> {
  const names = await disk.list(path);
  for (const name of names.slice(0, Math.ceil(names.length / 2)))
    await disk.remove(`${path}/${name}`);
}
