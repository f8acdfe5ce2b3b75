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

/**
 * Milliseconds between a created or removed file and the search for new folders: a run writes many
 * files at once.
 */
const SCAN_DELAY = 10;

/**
 * Reports saved files below a folder. Each folder has its own watch: Node's recursive watch on
 * Linux no longer reports a file that was replaced by a rename, which is how most editors save.
 *
 * @returns once all folders are watched.
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
        // A new or moved folder is reported as `rename`.
        if (event === 'rename') timer ??= setTimeout(() => void scanAndTell(), SCAN_DELAY);
      });
      watcher.on('error', () => forget(folder));
      watchers.set(folder, watcher);
    } catch {
      // The folder was removed between the listing and the watch; the next listing notices that.
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
  /** Reports files that were written into a folder before it was watched. */
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

/** The folders with files of the project's own, which are not hidden from a watch. */
export async function listFolders(root: string, folder: string): Promise<string[]> {
  const entries = await readdir(join(root, folder), { withFileTypes: true }).catch(() => []);
  const names = entries
    .filter((entry) => entry.isDirectory() && !IGNORED.has(entry.name))
    .map(({ name }) => inside(folder, name));
  const below = await Promise.all(names.map((each) => listFolders(root, each)));
  return [folder, ...below.flat()];
}
