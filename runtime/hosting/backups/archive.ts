import type { BackupHead } from '@twofold/runtime/kernel';
import { pack, type Pack } from 'tar-stream';
import { type Member, readMembers } from '../source/tar-members.ts';
import { unclosed } from '../source/unclosed.ts';
import type { VolumeEntry } from '../engine/volume-files.ts';
import { toEntries, volumeHeader, writeMember } from '../engine/volume-tar.ts';
import { readBytes } from '../read-bytes.ts';
import { damaged } from './failures.ts';
import type { FileList } from './file-list.ts';

/** What a backup says of itself. It is the first member of the archive, `backup.json`. */
export interface Description {
  readonly version: 1;
  readonly kind: 'volumes' | 'dump' | 'system';
  readonly created_at: string;
  readonly app: string | null;
  /** The names of the volumes whose files it contains. */
  readonly volumes: readonly string[];
  /** The app's configuration, its source and its image. */
  readonly spec?: unknown;
  /** The app's environment and secrets, sealed with the key of the server. */
  readonly sealed?: string;
  /** The image of its deployment, in the engine that made the backup. */
  readonly imageId?: string;
  /** Its name, by which another engine can pull it. */
  readonly image?: string;
  /** Of a backup of the server itself. */
  readonly system?: SystemDescription;
}

/** What brings a server back besides the rows of its database. */
export interface SystemDescription {
  /** The id of the installation, which the names of all its objects begin with. */
  readonly instance: string;
  /** The target that the backup was made in. */
  readonly target: string;
  /** The dump of the database: its tables and migrations. */
  readonly head: BackupHead;
  /** The secrets that sealed texts in the database can be opened with. */
  readonly keys: readonly string[];
  readonly apps: readonly DescribedApp[];
}

/** An app in the backup of a server, to be read by people. Its row in the database has all of it. */
export interface DescribedApp {
  readonly name: string;
  readonly domain: string;
  readonly image: string | null;
  readonly volumes: readonly string[];
  /** Where its backups are. */
  readonly target: string;
}

/** A part of a backup. Sections must be read in their order, and each one to its end. */
export type Section =
  | { readonly kind: 'volume'; readonly name: string; readonly entries: AsyncIterable<VolumeEntry> }
  | { readonly kind: 'dump' | 'list'; readonly chunks: AsyncIterable<Buffer> };

/** Bytes of a dump in one member of the archive, because tar wants the length before the bytes. */
const PIECE = 4 * 1024 * 1024;

/**
 * Writes a backup as one tar archive: `backup.json`, then `volumes/<name>/…` or `dump/<number>`,
 * then `files.jsonl` with the hash of each file.
 */
export async function* writeArchive(
  description: Description,
  sections: AsyncIterable<Section>,
  list: FileList,
): AsyncGenerator<Buffer> {
  const archive = pack();
  let failed: Error | undefined;
  const fed = writeAll(archive, { description, sections, list }).catch((error: Error) => {
    failed = error;
    archive.destroy(error);
  });
  try {
    for await (const chunk of unclosed(archive as AsyncIterable<Buffer>)) yield chunk;
    if (failed) throw failed;
  } finally {
    archive.destroy();
    await fed;
  }
}

interface Contents {
  readonly description: Description;
  readonly sections: AsyncIterable<Section>;
  readonly list: FileList;
}

async function writeAll(archive: Pack, { description, sections, list }: Contents): Promise<void> {
  archive.entry({ name: DESCRIPTION }, JSON.stringify(description));
  for await (const section of sections) {
    if (section.kind === 'volume') await writeVolume(archive, section, list);
    else await writeDump(archive, section.chunks, list);
  }
  const { size, chunks } = await list.finish();
  await writeMember(archive, { name: LIST, size }, chunks);
  archive.finalize();
}

const DESCRIPTION = 'backup.json';
const LIST = 'files.jsonl';

async function writeVolume(
  archive: Pack,
  { name, entries }: Extract<Section, { kind: 'volume' }>,
  list: FileList,
): Promise<void> {
  const prefix = `volumes/${name}`;
  for await (const entry of entries) {
    const hashed = list.hash(prefix, entry);
    await writeMember(archive, volumeHeader(hashed, prefix), hashed.data);
    hashed.add();
  }
}

async function writeDump(
  archive: Pack,
  chunks: AsyncIterable<Buffer>,
  list: FileList,
): Promise<void> {
  const hashed = list.hashStream('dump', chunks);
  let number = 0;
  for await (const piece of pieces(hashed.data, PIECE))
    await writeMember(
      archive,
      { name: `dump/${String((number += 1)).padStart(8, '0')}`, size: piece.length },
      [piece],
    );
  hashed.add();
}

/**
 * Joins chunks into buffers of `size` bytes; the last one may be shorter. With a function, the size
 * may differ from one buffer to the next.
 */
export async function* pieces(
  chunks: AsyncIterable<Buffer>,
  size: number | ((number: number) => number),
): AsyncGenerator<Buffer> {
  for await (const parts of piecesInParts(chunks, size)) yield Buffer.concat(parts);
}

/** The same without joining: memory of that size makes work for the garbage collector. */
export async function* piecesInParts(
  chunks: AsyncIterable<Buffer>,
  size: number | ((number: number) => number),
): AsyncGenerator<Buffer[]> {
  const sizeOf = typeof size === 'number' ? () => size : size;
  let number = 0;
  let wanted = sizeOf(number);
  let held: Buffer[] = [];
  let length = 0;
  for await (const chunk of chunks)
    for (let at = 0; at < chunk.length;) {
      const part = chunk.subarray(at, at + wanted - length);
      held.push(part);
      at += part.length;
      length += part.length;
      if (length < wanted) continue;
      yield held;
      wanted = sizeOf((number += 1));
      held = [];
      length = 0;
    }
  if (length > 0) yield held;
}

/** A backup that is being read. The reader reads all sections, or closes it. */
export interface OpenArchive {
  readonly description: Description;
  readonly sections: AsyncGenerator<Section>;
  close(): Promise<void>;
}

/**
 * Reads a backup: its description, then its sections.
 *
 * @throws AppError `BACKUP_DAMAGED` when it is cut off or not a backup.
 */
export async function openArchive(chunks: AsyncIterable<Buffer>): Promise<OpenArchive> {
  const members = openMembers(chunks);
  try {
    const first = await members.next();
    if (first.done || first.value.header['name'] !== DESCRIPTION)
      throw damaged('it does not begin with a description');
    const description = parseDescription(await readBytes(first.value.data, MAX_DESCRIPTION));
    return { description, sections: readSections(members), close: () => closing(members) };
  } catch (error) {
    await members.return(undefined);
    throw error;
  }
}

const MAX_DESCRIPTION = 16 * 1024 * 1024;

const closing = async (members: AsyncGenerator<Member>) => void (await members.return(undefined));

function parseDescription(bytes: Buffer): Description {
  try {
    return JSON.parse(bytes.toString()) as Description;
  } catch {
    throw damaged('its description cannot be read');
  }
}

/** @throws AppError `BACKUP_DAMAGED` */
const openMembers = (chunks: AsyncIterable<Buffer>) =>
  readMembers(chunks, ({ message }) => damaged(message));

async function* readSections(members: AsyncGenerator<Member>): AsyncGenerator<Section> {
  let complete = false;
  let next = await members.next();
  /** The members of one section, as long as they have this prefix. */
  const run = async function* (prefix: string): AsyncGenerator<Member> {
    while (!next.done && String(next.value.header['name']).startsWith(prefix)) {
      yield next.value;
      next = await members.next();
    }
  };
  try {
    while (!next.done) {
      const name = String(next.value.header['name']);
      const volume = /^(volumes\/([^/]+)\/)/.exec(name);
      if (volume) {
        const prefix = volume[1] as string;
        const entries = toEntries(run(prefix), prefix);
        yield { kind: 'volume', name: volume[2] as string, entries };
        for await (const _rest of entries);
      } else if (name.startsWith('dump/') || name === LIST) {
        complete = name === LIST;
        const chunks = joined(run(complete ? LIST : 'dump/'));
        yield { kind: complete ? 'list' : 'dump', chunks };
        for await (const _rest of chunks);
      } else throw damaged(`it has an unknown member ${JSON.stringify(name.slice(0, 100))}`);
    }
    if (!complete) throw damaged('it is cut off');
  } finally {
    await members.return(undefined);
  }
}

async function* joined(members: AsyncIterable<Member>): AsyncGenerator<Buffer> {
  for await (const { data } of members) yield* data;
}
