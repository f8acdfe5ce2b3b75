import { createHash, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createReadStream, createWriteStream } from 'node:fs';
import { unlink } from 'node:fs/promises';
import { join } from 'node:path';
import type { Readable, Writable } from 'node:stream';
import { finished, pipeline } from 'node:stream/promises';
import { createGzip } from 'node:zlib';
import { pack, type Pack } from 'tar-stream';
import type { BackupHead, BackupTable } from '@twofold/runtime/kernel';
import { CommandError } from '../failure.ts';
import { fileOf, HEAD_FILE, framesOf, type Frame } from './frames.ts';
import { sealOf } from './seal.ts';

export interface ArchiveTarget {
  readonly out: Writable;
  /**
   * The file in which a table waits until its size is known, because tar writes the size before the
   * bytes.
   */
  readonly spool: string;
}

/** Only the owner reads the rows of a database. */
export const PRIVATE = 0o600;

/** Writes the stream of a project as a sealed archive. @returns the content of `backup.json` */
export async function writeArchive(
  channel: Readable,
  { out, spool }: ArchiveTarget,
): Promise<BackupHead> {
  const archive = pack();
  const filling = fill(archive, framesOf(channel), spool);
  const packed = archive.pipe(createGzip());
  // The failure is thrown below; without a listener it would also end the process.
  archive.on('error', () => {});
  filling.catch((error: Error) => packed.destroy(error));
  const hash = createHash('sha256');
  for await (const chunk of packed as AsyncIterable<Buffer>) {
    hash.update(chunk);
    if (!out.write(chunk)) await once(out, 'drain');
  }
  const head = await filling;
  out.end(sealOf(hash.digest('hex')));
  await finished(out);
  return head;
}

async function fill(
  archive: Pack,
  frames: AsyncGenerator<Frame>,
  spool: string,
): Promise<BackupHead> {
  let head: Omit<BackupHead, 'tables'> | undefined;
  const tables: BackupTable[] = [];
  for await (const frame of frames) {
    if (!('mark' in frame)) continue;
    const { mark } = frame;
    if ('head' in mark) head = mark.head;
    if ('table' in mark) tables.push(await addTable(archive, frames, { table: mark.table, spool }));
    if (!('done' in mark) || !head) continue;
    const whole = { ...head, tables };
    archive.entry({ name: HEAD_FILE, mode: PRIVATE }, `${JSON.stringify(whole, null, 2)}\n`);
    archive.finalize();
    return whole;
  }
  throw new CommandError('BACKUP_ENDED', {
    message: 'the project ended before all rows were read',
  });
}

interface Spooling {
  readonly table: string;
  readonly spool: string;
}

async function addTable(
  archive: Pack,
  frames: AsyncGenerator<Frame>,
  { table, spool }: Spooling,
): Promise<BackupTable> {
  const path = join(spool, `.twofold-${randomBytes(8).toString('hex')}.jsonl`);
  const file = createWriteStream(path, { flags: 'wx', mode: PRIVATE });
  const hash = createHash('sha256');
  let [size, rows] = [0, 0];
  try {
    for (;;) {
      const { value } = await frames.next();
      if (value === undefined) throw ended(table);
      if ('mark' in value) {
        if (!('end' in value.mark)) throw ended(table);
        rows = value.mark.rows;
        break;
      }
      hash.update(value.bytes);
      size += value.bytes.length;
      if (!file.write(value.bytes)) await once(file, 'drain');
    }
    file.end();
    await finished(file);
    const entry = archive.entry({ name: fileOf(table), size, mode: PRIVATE });
    await pipeline(createReadStream(path), entry);
    return { name: table, rows, sha256: hash.digest('hex') };
  } finally {
    file.destroy();
    await unlink(path).catch(() => {});
  }
}

const ended = (table: string) =>
  new CommandError('BACKUP_ENDED', {
    message: `the project ended while the rows of ${table} were read`,
  });
