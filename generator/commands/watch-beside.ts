import { join } from 'node:path';
import { type WatchedDocuments, watchedDocuments } from '../documents/watched-documents.ts';
import { watchFolders } from '../watch-folders.ts';

/** Follows the documents of front ends, also those that are not in the project's folder. */
export interface DocumentWatch {
  /** Whether a saved path is one of a document. */
  has(path: string): boolean;
  /** Reads the manifest again, and watches the folders that it names now. */
  refresh(): Promise<void>;
  close(): void;
}

export function createDocumentWatch(root: string, saved: (path: string) => void): DocumentWatch {
  let watched: WatchedDocuments = watchedDocuments(root);
  const watchers = new Map<string, { close(): void }>();
  let closed = false;
  const refresh = async () => {
    watched = watchedDocuments(root);
    for (const [folder, watcher] of watchers)
      if (!watched.folders.includes(folder)) {
        watcher.close();
        watchers.delete(folder);
      }
    for (const folder of watched.folders) {
      if (watchers.has(folder)) continue;
      const watcher = await watchFolders(join(root, folder), (name) => saved(`${folder}/${name}`));
      if (closed) watcher.close();
      else watchers.set(folder, watcher);
    }
  };
  return {
    has: (path) => watched.has(path.replaceAll('\\', '/')),
    refresh,
    close: () => {
      closed = true;
      for (const watcher of watchers.values()) watcher.close();
    },
  };
}
