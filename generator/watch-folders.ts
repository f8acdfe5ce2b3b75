import { type FSWatcher, watch } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';

const IGNORED: ReadonlySet<string> = new Set([
  'node_modules',
  '.git',
  '.generator',
  'vendor',
  'data',
  'dist',
  'coverage',
]);

/** How long after a file came or went folders are looked for, in milliseconds: a run writes many files. */
const PAUSE = 10;

/**
 * Tells of saved files below a folder. One watch for each folder: Node's own recursive watch on Linux loses sight of a
 * file that is replaced by a rename, which is how most editors save.
 *
 * @returns once all of them are watched.
 */
export async function watchFolders(
  root: string,
  saved: (path: string) => void,
): Promise<{ close(): void }> {
  const watchers = new Map<string, FSWatcher>();
  let closed = false;
  let timer: NodeJS.Timeout | undefined;
  const add = (folder: string) => {
    try {
      const watcher = watch(join(root, folder), (event, name) => {
        if (name === null) return;
        saved(inside(folder, name));
        // Only what came, went or was moved can be a folder.
        if (event === 'rename') timer ??= setTimeout(() => void scanAndTell(), PAUSE);
      });
      watcher.on('error', () => forget(folder));
      watchers.set(folder, watcher);
    } catch {
      // Gone between the listing and the watch: the next listing says so.
    }
  };
  const forget = (folder: string) => {
    watchers.get(folder)?.close();
    watchers.delete(folder);
  };
  const scan = async () => {
    timer = undefined;
    const folders = await listFolders(root, '');
    if (closed) return [];
    for (const folder of watchers.keys()) if (!folders.includes(folder)) forget(folder);
    const fresh = folders.filter((folder) => !watchers.has(folder));
    fresh.forEach(add);
    return fresh;
  };
  /** Files that were written into a folder before it was watched. */
  const scanAndTell = async () => {
    for (const folder of await scan())
      for (const name of await readdir(join(root, folder)).catch(() => []))
        saved(inside(folder, name));
  };
  await scan();
  return {
    close: () => {
      closed = true;
      clearTimeout(timer);
      for (const folder of [...watchers.keys()]) forget(folder);
    },
  };
}

function inside(folder: string, name: string): string {
  return folder === '' ? name : `${folder}/${name}`;
}

async function listFolders(root: string, folder: string): Promise<string[]> {
  const entries = await readdir(join(root, folder), { withFileTypes: true }).catch(() => []);
  const names = entries
    .filter((entry) => entry.isDirectory() && !IGNORED.has(entry.name))
    .map(({ name }) => inside(folder, name));
  const below = await Promise.all(names.map((each) => listFolders(root, each)));
  return [folder, ...below.flat()];
}
