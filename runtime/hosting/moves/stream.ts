import { pack, type Pack } from 'tar-stream';
import { pieces } from '../backups/archive.ts';
import type { VolumeEntry } from '../engine/volume-files.ts';
import { toEntries, volumeHeader, writeMember } from '../engine/volume-tar.ts';
import { readBytes } from '../read-bytes.ts';
import { type Member, readMembers } from '../source/tar-members.ts';
import { unclosed } from '../source/unclosed.ts';
import type { MoveDescription } from './description.ts';
import { refusedStream } from './failures.ts';

/**
 * A part of the stream. `copy`: the files of a volume while the app ran; `changes`: those that
 * differed when it was stopped; `whole`: all files of a volume, in place of what came before.
 */
export type MovePart =
  | { readonly kind: 'image'; readonly chunks: AsyncIterable<Buffer> }
  | {
      readonly kind: 'copy' | 'changes' | 'whole';
      readonly volume: string;
      readonly entries: AsyncIterable<VolumeEntry>;
    };

/** Bytes of the image in one member, because tar wants the length before the bytes. */
const PIECE = 4 * 1024 * 1024;
const DESCRIPTION = 'move.json';
const MAX_DESCRIPTION = 48 * 1024 * 1024;

/** Writes a move as one tar archive: `move.json`, `image/<number>`, `<kind>/<volume>/<path>`. */
export async function* writeMove(
  description: MoveDescription,
  parts: AsyncIterable<MovePart>,
): AsyncGenerator<Buffer> {
  const archive = pack();
  let failed: Error | undefined;
  const fed = writeAll(archive, description, parts).catch((error: Error) => {
    failed = error;
    archive.destroy(error);
  });
  try {
    for await (const chunk of unclosed(archive as AsyncIterable<Buffer>)) yield chunk;
    if (failed) throw failed;
  } catch (error) {
    throw failed ?? error;
  } finally {
    archive.destroy();
    await fed;
  }
}

async function writeAll(
  archive: Pack,
  description: MoveDescription,
  parts: AsyncIterable<MovePart>,
): Promise<void> {
  archive.entry({ name: DESCRIPTION }, JSON.stringify(description));
  for await (const part of parts) {
    if (archive.destroyed) return;
    if (part.kind === 'image') await writeImage(archive, part.chunks);
    else
      for await (const entry of part.entries) {
        if (archive.destroyed) return;
        await writeMember(archive, volumeHeader(entry, `${part.kind}/${part.volume}`), entry.data);
      }
  }
  archive.finalize();
}

async function writeImage(archive: Pack, chunks: AsyncIterable<Buffer>): Promise<void> {
  let number = 0;
  for await (const piece of pieces(chunks, PIECE)) {
    if (archive.destroyed) return;
    const name = `image/${String((number += 1)).padStart(8, '0')}`;
    await writeMember(archive, { name, size: piece.length }, [piece]);
  }
}

/** A stream that is being read. The reader reads all parts in their order, or closes it. */
export interface OpenMove {
  readonly description: unknown;
  readonly parts: AsyncGenerator<MovePart>;
  close(): Promise<void>;
}

/** Reads the description, then the parts. @throws AppError `MOVE_REFUSED` */
export async function openMove(chunks: AsyncIterable<Buffer>): Promise<OpenMove> {
  const members = readMembers(chunks, ({ message }) => refusedStream(message));
  try {
    const first = await members.next();
    if (first.done || first.value.header['name'] !== DESCRIPTION)
      throw refusedStream('it does not begin with a description');
    const bytes = await readBytes(first.value.data, MAX_DESCRIPTION);
    return {
      description: parse(bytes),
      parts: readParts(members),
      close: async () => void (await members.return(undefined)),
    };
  } catch (error) {
    await members.return(undefined);
    throw error;
  }
}

function parse(bytes: Buffer): unknown {
  try {
    return JSON.parse(bytes.toString());
  } catch {
    throw refusedStream('its description cannot be read');
  }
}

async function* readParts(members: AsyncGenerator<Member>): AsyncGenerator<MovePart> {
  let next = await members.next();
  /** The members of one part, as long as they have this prefix. */
  const run = async function* (prefix: string): AsyncGenerator<Member> {
    while (!next.done && String(next.value.header['name']).startsWith(prefix)) {
      yield next.value;
      next = await members.next();
    }
  };
  try {
    while (!next.done) {
      const name = String(next.value.header['name']);
      const [prefix, kind, volume] = /^(copy|changes|whole)\/([^/]+)\//.exec(name) ?? [];
      if (name.startsWith('image/')) {
        const chunks = joined(run('image/'));
        yield { kind: 'image', chunks };
        for await (const _rest of chunks);
      } else if (prefix !== undefined) {
        const entries = toEntries(run(prefix), prefix);
        yield { kind: kind as 'copy', volume: volume as string, entries };
        for await (const _rest of entries);
      } else throw refusedStream(`it has a member ${JSON.stringify(name.slice(0, 100))}`);
    }
  } finally {
    await members.return(undefined);
  }
}

async function* joined(members: AsyncIterable<Member>): AsyncGenerator<Buffer> {
  for await (const { data } of members) yield* data;
}
