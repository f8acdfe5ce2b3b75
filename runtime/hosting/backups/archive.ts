import type { BackupHead } from '@twofold/runtime/kernel';
import type { Pack } from 'tar-stream';
import { type VolumeEntry, toEntries, volumeHeader } from '../engine/volume-files.ts';
import { joined, type OpenArchive, openParts } from '../archives/parts.ts';
import { packed, writeMember, writePieces } from '../archives/tar-write.ts';
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

const DESCRIPTION = 'backup.json';
const MAX_DESCRIPTION = 16 * 1024 * 1024;
const LIST = 'files.jsonl';

/**
 * Writes a backup as one tar archive: `backup.json`, then `volumes/<name>/…` or `dump/<number>`,
 * then `files.jsonl` with the hash of each file.
 */
export const writeArchive = (
  description: Description,
  sections: AsyncIterable<Section>,
  list: FileList,
): AsyncGenerator<Buffer> =>
  packed(async (archive) => {
    archive.entry({ name: DESCRIPTION }, JSON.stringify(description));
    for await (const section of sections) {
      if (section.kind === 'volume') await writeVolume(archive, section, list);
      else {
        const hashed = list.hashStream('dump', section.chunks);
        await writePieces(archive, 'dump', hashed.data);
        hashed.add();
      }
    }
    const { size, chunks } = await list.finish();
    await writeMember(archive, { name: LIST, size }, chunks);
  });

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

/**
 * Reads a backup: its description, then its sections.
 *
 * @throws AppError `BACKUP_DAMAGED` when it is cut off or not a backup.
 */
export function openArchive(
  chunks: AsyncIterable<Buffer>,
): Promise<OpenArchive<Description, Section>> {
  let complete = false;
  return openParts<Description, Section>(chunks, {
    description: DESCRIPTION,
    most: MAX_DESCRIPTION,
    refused: damaged,
    part(name, run) {
      const [prefix, volume = ''] = /^volumes\/([^/]+)\//.exec(name) ?? [];
      if (prefix !== undefined) {
        const entries = toEntries(run(prefix), prefix);
        return { part: { kind: 'volume', name: volume, entries }, rest: entries };
      }
      if (!name.startsWith('dump/') && name !== LIST) return undefined;
      complete = name === LIST;
      const bytes = joined(run(complete ? LIST : 'dump/'));
      return { part: { kind: complete ? 'list' : 'dump', chunks: bytes }, rest: bytes };
    },
    end() {
      if (!complete) throw damaged('it is cut off');
    },
  });
}
