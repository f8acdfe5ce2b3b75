import { createReadStream } from 'node:fs';
import { mkdir, readdir, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { Spool } from '../source/spool.ts';

/**
 * The uploads that are being built or could not be built, one an app, so that their deployment can
 * be repeated. An upload whose image exists needs none of this.
 */
export interface KeptUploads {
  keep(appId: string, spool: Spool): Promise<void>;
  /** @returns null when nothing is kept. */
  open(appId: string): Promise<AsyncIterable<Buffer> | null>;
  forget(appId: string): Promise<void>;
  /** Forgets those of apps that do not exist. */
  prune(exists: (appId: string) => boolean): Promise<void>;
}

const END = '.tar';

export function createKeptUploads(folder: string): KeptUploads {
  const pathOf = (appId: string) => join(folder, appId + END);
  const forget = (appId: string) => rm(pathOf(appId), { force: true });
  return {
    forget,
    async keep(appId, spool) {
      await mkdir(folder, { recursive: true, mode: 0o700 });
      await forget(appId);
      await spool.copyTo(pathOf(appId)).catch(async (error: unknown) => {
        await forget(appId);
        throw error;
      });
    },
    async open(appId) {
      const path = pathOf(appId);
      const found = await stat(path).catch(() => null);
      return found && createReadStream(path);
    },
    async prune(exists) {
      for (const name of await readdir(folder).catch(() => []))
        if (!exists(name.slice(0, -END.length))) await rm(join(folder, name), { force: true });
    },
  };
}
