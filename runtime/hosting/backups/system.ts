import { createReadStream, createWriteStream } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { failure } from '@twofold/runtime/errors';
import type { BackupHead, Kernel } from '@twofold/runtime/kernel';
import type { StoredBackup } from '../records/backup-repository.ts';
import { backupRulesOf } from '../records/backup-rules.ts';
import { makeFolder } from '../source/leftovers.ts';
import type { DescribedApp, Description, Section } from './archive.ts';
import { removeOutdated, type BackupParts, type BackupWork, storeBackup } from './stored.ts';

/** What a backup of the server itself is made of. */
export interface SystemParts extends BackupParts {
  /** The secrets that sealed texts in the database can be opened with. */
  readonly secrets: readonly string[];
  readonly dumpDatabase: Kernel['dumpDatabase'];
}

/** Backups of the server itself that are kept. */
const KEPT = { last: 7 };

/** @throws AppError 400 without `BACKUP_KEY`: the backup has all secrets of the server. */
export function assertCanBackUp({ key, dumpDatabase }: SystemParts): void {
  if (key === null)
    throw failure.badRequest(
      'A backup of the server has all its secrets, so it must be encrypted: set BACKUP_KEY (openssl rand -base64 32) and start the server again',
    );
  if (!dumpDatabase) throw failure.unavailable('This server has no database that can be dumped');
}

/** Stores the database, the sealing keys and the descriptions of all apps in one encrypted object. */
export async function makeSystemBackup(
  parts: SystemParts,
  { backup, signal }: BackupWork,
): Promise<void> {
  const folder = await makeFolder('backup');
  const path = join(folder, 'database');
  try {
    const { head, start } = await dumpInto(path, parts.dumpDatabase as DumpDatabase);
    const description = describeServer(parts, backup, head);
    const chunks = createReadStream(path, { start }) as AsyncIterable<Buffer>;
    const sections = single({ kind: 'dump', chunks });
    await storeBackup(parts, backup, { description, sections, signal });
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
  await removeOutdated(parts, null, KEPT);
}

/**
 * Writes the rows into a file, as their hashes stand before them in the backup. `start` is the
 * first byte after the head of the dump, which has no hashes.
 *
 * @throws Error of the database, or of a disk that is full.
 */
export async function dumpInto(
  path: string,
  dumpDatabase: DumpDatabase,
): Promise<{ head: BackupHead; start: number }> {
  const rows = new PassThrough();
  // A file stream without a pipeline would end the server when the disk is full.
  const written = pipeline(rows, createWriteStream(path, { mode: 0o600 }));
  const dumped = dumpDatabase(rows);
  dumped.then(
    () => rows.end(),
    (error: Error) => rows.destroy(error),
  );
  const [{ tables }] = await Promise.all([dumped, written]);
  let first = Buffer.alloc(0);
  for await (const chunk of createReadStream(path)) {
    first = Buffer.concat([first, chunk as Buffer]);
    if (first.includes('\n')) break;
  }
  const start = first.indexOf('\n') + 1;
  // The line begins with a byte that marks it.
  const { head } = JSON.parse(first.toString('utf8', 1, start)) as { head: BackupHead };
  return { head: { ...head, tables }, start };
}

type DumpDatabase = NonNullable<Kernel['dumpDatabase']>;

async function* single(section: Section): AsyncGenerator<Section> {
  yield section;
}

function describeServer(
  parts: SystemParts,
  { target }: StoredBackup,
  head: BackupHead,
): Description {
  const { secrets } = parts;
  const apps = parts.apps.all().map(({ name, spec }): DescribedApp => ({
    name,
    domain: spec.domain,
    image: spec.image,
    volumes: spec.volumes.map((volume) => volume.name),
    target: backupRulesOf(spec.backup).target,
  }));
  return {
    version: 1,
    kind: 'system',
    created_at: new Date(parts.now()).toISOString(),
    app: null,
    volumes: [],
    system: { instance: parts.naming.instance, target, head, keys: secrets, apps },
  };
}
