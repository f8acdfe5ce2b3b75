import { createHash } from 'node:crypto';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import type { VolumeEntry } from '../engine/volume-files.ts';
import { makeFolder } from '../source/leftovers.ts';

/**
 * Finds what differs in a volume since its files were copied. The list of files is in a temporary
 * database, because a volume may have millions of them. Contents are compared by their hashes: a
 * program can write a file and set its old time again.
 */
export interface Differences {
  /**
   * Passes the files of a running app on. A file that changes while it is read keeps the length that
   * it had at first, and counts as different.
   */
  copying(entries: AsyncIterable<VolumeEntry>): AsyncGenerator<VolumeEntry>;
  /**
   * Compares the files of the stopped app. @returns `whole` when a file is gone or a folder is none
   * any more: files cannot be removed from a volume one by one.
   */
  compare(entries: AsyncIterable<VolumeEntry>): Promise<'same' | 'changes' | 'whole'>;
  /** The entries that differ. */
  changed(entries: AsyncIterable<VolumeEntry>): AsyncGenerator<VolumeEntry>;
  remove(): Promise<void>;
}

export async function createDifferences(): Promise<Differences> {
  const folder = await makeFolder('backup');
  const db = new DatabaseSync(join(folder, 'files.db'));
  db.exec('PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; BEGIN');
  db.exec(
    'CREATE TABLE files (path TEXT PRIMARY KEY, before TEXT, after TEXT, folder INTEGER, target TEXT) WITHOUT ROWID',
  );
  const copied = db.prepare('INSERT OR REPLACE INTO files (path, before, folder) VALUES (?, ?, ?)');
  const seen = db.prepare(
    'INSERT INTO files (path, after, target) VALUES (?, ?, ?) ON CONFLICT (path) DO UPDATE SET after = excluded.after, target = excluded.target, folder = iif(before IS NULL OR folder = ?, folder, 2)',
  );
  const differs = db.prepare('SELECT before IS NOT after AS is_changed FROM files WHERE path = ?');
  return {
    async *copying(entries) {
      for await (const entry of entries) {
        const file = inItsLength(entry);
        yield { ...entry, data: file.data };
        for await (const _rest of file.data);
        copied.run(
          entry.path,
          file.complete() ? lineOf(entry, file.sha256()) : '',
          folderOf(entry),
        );
      }
    },
    async compare(entries) {
      for await (const entry of entries) {
        const file = inItsLength(entry);
        for await (const _chunk of file.data);
        const target = entry.type === 'link' ? entry.target : null;
        seen.run(entry.path, lineOf(entry, file.sha256()), target, folderOf(entry));
      }
      // A changed file is written anew, so the other names of it have to be written again too.
      db.exec(
        "UPDATE files SET before = '' WHERE target IN (SELECT path FROM files WHERE before IS NOT after)",
      );
      const has = (where: string) =>
        db.prepare(`SELECT 1 FROM files WHERE ${where} LIMIT 1`).get() !== undefined;
      if (has('after IS NULL OR folder = 2')) return 'whole';
      return has('before IS NOT after') ? 'changes' : 'same';
    },
    async *changed(entries) {
      for await (const entry of entries) {
        const row = differs.get(entry.path) as { is_changed: number } | undefined;
        if (row?.is_changed !== 0) yield entry;
      }
    },
    async remove() {
      db.close();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

const folderOf = ({ type }: VolumeEntry) => (type === 'directory' ? 1 : 0);

function lineOf({ type, target, size, mode, uid, gid, attributes }: VolumeEntry, hash: string) {
  return JSON.stringify([type, target, size, mode, uid, gid, attributes, hash]);
}

/** Gives as many bytes as the entry has said, whatever happens to the file meanwhile. */
function inItsLength({ size, data }: VolumeEntry) {
  const hash = createHash('sha256');
  let left = size;
  let failed = false;
  const bounded = async function* (): AsyncGenerator<Buffer> {
    try {
      for await (const chunk of data) {
        hash.update(chunk);
        left -= chunk.length;
        yield chunk;
      }
    } catch {
      failed = true;
    }
    failed ||= left > 0;
    for (; left > 0; left -= Math.min(left, ZEROS.length))
      yield ZEROS.subarray(0, Math.min(left, ZEROS.length));
  };
  return { data: bounded(), complete: () => !failed, sha256: () => hash.digest('hex') };
}

const ZEROS = Buffer.alloc(64 * 1024);
