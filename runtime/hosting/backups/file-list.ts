import { createHash } from 'node:crypto';
import { createReadStream, createWriteStream } from 'node:fs';
import { rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { once } from 'node:events';
import type { VolumeEntry } from '../engine/volume-files.ts';
import { makeFolder } from '../source/leftovers.ts';

/** A stream whose bytes are hashed on their way; `add` writes its line into the list. */
interface Hashed {
  readonly data: AsyncIterable<Buffer>;
  add(): void;
}

/**
 * The list of a backup: a line of JSON for each file, with owner, mode and SHA-256. It is kept in a
 * temporary file, because a volume may have millions of files.
 */
export interface FileList {
  hash(prefix: string, entry: VolumeEntry): VolumeEntry & Hashed;
  hashStream(path: string, chunks: AsyncIterable<Buffer>): Hashed;
  finish(): Promise<{ readonly size: number; readonly chunks: AsyncIterable<Buffer> }>;
  remove(): Promise<void>;
}

/** Creates an empty list in a folder of its own below the system's temporary folder. */
export async function createFileList(): Promise<FileList> {
  const folder = await makeFolder('backup');
  const path = join(folder, 'files.jsonl');
  const out = createWriteStream(path, { mode: 0o600 });
  let failed: Error | undefined;
  out.on('error', (error) => (failed = error));
  const write = (line: object) => void out.write(`${JSON.stringify(line)}\n`);
  return {
    hash(prefix, entry) {
      const hashed = hashing(entry.data);
      const path = entry.path === '' ? prefix : `${prefix}/${entry.path}`;
      return {
        ...entry,
        data: hashed.data,
        add: () => write(lineOf({ ...entry, path }, hashed.digest())),
      };
    },
    hashStream(path, chunks) {
      const hashed = hashing(chunks);
      return { data: hashed.data, add: () => write({ path, sha256: hashed.digest() }) };
    },
    async finish() {
      out.end();
      if (!failed) await once(out, 'close');
      if (failed) throw failed;
      return { size: (await stat(path)).size, chunks: readLater(path) };
    },
    async remove() {
      out.destroy();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** Opens the file when it is read, so that nothing is left open when it is not. */
async function* readLater(path: string): AsyncGenerator<Buffer> {
  yield* createReadStream(path) as AsyncIterable<Buffer>;
}

function hashing(chunks: AsyncIterable<Buffer>) {
  const hash = createHash('sha256');
  return {
    data: (async function* () {
      for await (const chunk of chunks) {
        hash.update(chunk);
        yield chunk;
      }
    })(),
    digest: () => hash.digest('hex'),
  };
}

/** Times are left out: engines write those of folders in different ways. */
function lineOf({ path, type, target, size, mode, uid, gid }: VolumeEntry, sha256: string): object {
  if (type === 'symlink') return { path, type, uid, gid, target };
  if (type === 'link') return { path, type, target };
  return { path, type, mode, uid, gid, ...(type === 'file' && { size, sha256 }) };
}

/** Compares the files of restored volumes with a list. */
export interface ListComparison {
  /** Reads the list of the backup. */
  expect(chunks: AsyncIterable<Buffer>): Promise<void>;
  /** Reads all files of a restored volume. */
  find(prefix: string, entries: AsyncIterable<VolumeEntry>): Promise<void>;
  /** @returns a sentence about the first difference; null when there is none. */
  difference(): string | null;
  remove(): Promise<void>;
}

/** Keeps the lines in a temporary database, so that memory does not grow with their number. */
export async function createListComparison(): Promise<ListComparison> {
  const folder = await makeFolder('backup');
  const db = new DatabaseSync(join(folder, 'list.db'));
  db.exec('PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; BEGIN');
  db.exec('CREATE TABLE lines (path TEXT PRIMARY KEY, line TEXT, found TEXT) WITHOUT ROWID');
  const expected = db.prepare('INSERT INTO lines (path, line) VALUES (?, ?)');
  const found = db.prepare(
    'INSERT INTO lines (path, found) VALUES (?, ?) ON CONFLICT (path) DO UPDATE SET found = excluded.found',
  );
  return {
    async expect(chunks) {
      for await (const line of linesOf(chunks)) {
        const { path, type } = JSON.parse(line) as { path: string; type?: string };
        if (type !== undefined) expected.run(path, line);
      }
    },
    async find(prefix, entries) {
      for await (const entry of entries) {
        const { data, digest } = hashing(entry.data);
        for await (const _chunk of data);
        const path = entry.path === '' ? prefix : `${prefix}/${entry.path}`;
        found.run(path, JSON.stringify(lineOf({ ...entry, path }, digest())));
      }
    },
    difference() {
      const row = db
        .prepare(
          'SELECT path, line, found FROM lines WHERE line IS NOT found ORDER BY path LIMIT 1',
        )
        .get() as { path: string; line: string | null; found: string | null } | undefined;
      if (!row) return null;
      if (row.found === null) return `${row.path} is missing`;
      return row.line === null ? `${row.path} is not in the list` : `${row.path} differs`;
    },
    async remove() {
      db.close();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

async function* linesOf(chunks: AsyncIterable<Buffer>): AsyncGenerator<string> {
  let rest: Buffer = Buffer.alloc(0);
  for await (const chunk of chunks) {
    rest = rest.length > 0 ? Buffer.concat([rest, chunk]) : chunk;
    for (let end = rest.indexOf(10); end >= 0; end = rest.indexOf(10)) {
      yield rest.toString('utf8', 0, end);
      rest = rest.subarray(end + 1);
    }
  }
}
