import { type VolumeEntry, toEntries, volumeHeader } from '../engine/volume-files.ts';
import { joined, openParts } from '../archives/parts.ts';
import { packed, writeMember, writePieces } from '../archives/tar-write.ts';
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

const DESCRIPTION = 'move.json';
const MAX_DESCRIPTION = 48 * 1024 * 1024;

/** Writes a move as one tar archive: `move.json`, `image/<number>`, `<kind>/<volume>/<path>`. */
export const writeMove = (
  description: MoveDescription,
  parts: AsyncIterable<MovePart>,
): AsyncGenerator<Buffer> =>
  packed(async (archive) => {
    archive.entry({ name: DESCRIPTION }, JSON.stringify(description));
    for await (const part of parts) {
      if (archive.destroyed) return;
      if (part.kind === 'image') await writePieces(archive, 'image', part.chunks);
      else
        for await (const entry of part.entries) {
          if (archive.destroyed) return;
          const header = volumeHeader(entry, `${part.kind}/${part.volume}`);
          await writeMember(archive, header, entry.data);
        }
    }
  });

/** Reads the description, then the parts. @throws AppError `MOVE_REFUSED` */
export const openMove = (chunks: AsyncIterable<Buffer>) =>
  openParts<unknown, MovePart>(chunks, {
    description: DESCRIPTION,
    most: MAX_DESCRIPTION,
    refused: refusedStream,
    part(name, run) {
      if (name.startsWith('image/')) {
        const bytes = joined(run('image/'));
        return { part: { kind: 'image', chunks: bytes }, rest: bytes };
      }
      const [prefix, kind, volume = ''] = /^(copy|changes|whole)\/([^/]+)\//.exec(name) ?? [];
      if (prefix === undefined) return undefined;
      const entries = toEntries(run(prefix), prefix);
      return { part: { kind: kind as 'copy', volume, entries }, rest: entries };
    },
  });
