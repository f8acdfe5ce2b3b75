import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { createReadStream } from 'node:fs';
import { access } from 'node:fs/promises';
import type { Writable } from 'node:stream';
import { createGunzip } from 'node:zlib';
import { extract } from 'tar-stream';
import { CommandError } from '../failure.ts';
import type { BackupHead, BackupTable } from '@twofold/runtime/kernel';
import { fileOf, HEAD_FILE, markLine } from './frames.ts';
import { sealedBytes } from './seal.ts';

/** An archive all of whose bytes are those that were written. */
export interface CheckedArchive {
  readonly head: BackupHead;
  /** Sends the rows to a project. */
  send(channel: Writable): Promise<void>;
}

/**
 * Reads all of a backup before anything is done with it.
 *
 * @throws CommandError `BACKUP_DAMAGED` for a file that was cut off or changed.
 */
export async function checkArchive(file: string): Promise<CheckedArchive> {
  await access(file).catch(() => {
    throw new CommandError('BACKUP_MISSING', { message: `there is no file ${file}` });
  });
  const bytes = await sealedBytes(file);
  if (bytes === undefined) throw damaged(file, 'its checksum is another one');
  const archive = { file, bytes };
  const head = await contentOf(archive).catch((error: unknown) => {
    if (error instanceof CommandError) throw error;
    throw damaged(file, error instanceof Error ? error.message : String(error));
  });
  return { head, send: (channel) => sendRows(archive, head, channel) };
}

interface Archive {
  readonly file: string;
  /** Bytes before the seal. */
  readonly bytes: number;
}

async function* entriesOf({ file, bytes }: Archive) {
  const reader = extract();
  const unpacking = createReadStream(file, { end: bytes - 1 }).on('error', (error) =>
    reader.destroy(error),
  );
  unpacking
    .pipe(createGunzip())
    .on('error', (error) => reader.destroy(error))
    .pipe(reader);
  for await (const entry of reader) {
    const body = entry as AsyncIterable<Buffer>;
    yield { name: entry.header.name, body };
  }
}

async function contentOf(archive: Archive): Promise<BackupHead> {
  const found = new Map<string, Omit<BackupTable, 'name'>>();
  let head: BackupHead | undefined;
  for await (const { name, body } of entriesOf(archive)) {
    if (name === HEAD_FILE) head = await headOf(body);
    else found.set(name, await factsOf(body));
  }
  if (!head) throw damaged(archive.file, 'it has no backup.json');
  if (head.version !== 1)
    throw new CommandError('BACKUP_NEWER', {
      message: `${archive.file} has format ${String(head.version)}, and this version reads format 1`,
      fix: 'use the version of Twofold that wrote it, or a newer one',
    });
  assertSame(archive.file, head, found);
  return head;
}

async function headOf(body: AsyncIterable<Buffer>): Promise<BackupHead> {
  const chunks: Buffer[] = [];
  for await (const chunk of body) chunks.push(chunk);
  return JSON.parse(Buffer.concat(chunks).toString('utf8')) as BackupHead;
}

async function factsOf(body: AsyncIterable<Buffer>): Promise<Omit<BackupTable, 'name'>> {
  const hash = createHash('sha256');
  let rows = 0;
  for await (const chunk of body) {
    hash.update(chunk);
    for (let at = chunk.indexOf(0x0a); at !== -1; at = chunk.indexOf(0x0a, at + 1)) rows += 1;
  }
  return { rows, sha256: hash.digest('hex') };
}

function assertSame(
  file: string,
  { tables }: BackupHead,
  found: ReadonlyMap<string, Omit<BackupTable, 'name'>>,
): void {
  for (const { name, rows, sha256 } of tables) {
    const facts = found.get(fileOf(name));
    if (!facts) throw damaged(file, `the table ${name} is missing`);
    if (facts.rows !== rows || facts.sha256 !== sha256)
      throw damaged(file, `the rows of ${name} are not those that were written`);
  }
  if (found.size !== tables.length) throw damaged(file, 'it has a file that it does not list');
}

async function sendRows(archive: Archive, head: BackupHead, channel: Writable): Promise<void> {
  const names = new Map(head.tables.map(({ name }) => [fileOf(name), name]));
  const send = async (bytes: Buffer) => {
    if (channel.destroyed) return;
    if (!channel.write(bytes)) await Promise.race([once(channel, 'drain'), once(channel, 'close')]);
  };
  await send(markLine({ head }));
  for await (const { name, body } of entriesOf(archive)) {
    const table = names.get(name);
    if (table === undefined) for await (const _ of body);
    else {
      await send(markLine({ table }));
      for await (const chunk of body) await send(chunk);
      await send(markLine({ end: table }));
    }
  }
  await send(markLine({ done: true }));
  channel.end();
}

const damaged = (file: string, problem: string) =>
  new CommandError('BACKUP_DAMAGED', {
    message: `${file} was cut off or changed: ${problem}; nothing was written`,
    fix: 'take another copy of the backup',
  });
