import { type FSWatcher, watch } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';

const IGNORED: ReadonlySet<string> = new Set(['node_modules', '.git', '.generator', 'vendor', 'data', 'dist', 'coverage']);

/**
 * Tells of saved files below a folder. One watch for each folder: Node's own recursive watch on Linux loses sight of a
 * file that is replaced by a rename, which is how most editors save.
 */
export function watchFolders(root: string, saved: (path: string) => void): { close(): void } {
  const watchers = new Map<string, FSWatcher>();
  let closed = false;
  const add = (folder: string) => {
    if (closed || watchers.has(folder)) return;
    try {
      const watcher = watch(join(root, folder), (_event, name) => {
        if (name === null) return;
        saved(folder === '' ? name : `${folder}/${name}`);
        void scan();
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
    const folders = await listFolders(root, '');
    for (const folder of watchers.keys()) if (!folders.includes(folder)) forget(folder);
    folders.forEach(add);
  };
  add('');
  void scan();
  return {
    close: () => {
      closed = true;
      for (const folder of [...watchers.keys()]) forget(folder);
    },
  };
}

async function listFolders(root: string, folder: string): Promise<string[]> {
  const entries = await readdir(join(root, folder), { withFileTypes: true }).catch(() => []);
  const names = entries.filter((entry) => entry.isDirectory() && !IGNORED.has(entry.name)).map(({ name }) => (folder === '' ? name : `${folder}/${name}`));
  const below = await Promise.all(names.map((each) => listFolders(root, each)));
  return [folder, ...below.flat()];
}
