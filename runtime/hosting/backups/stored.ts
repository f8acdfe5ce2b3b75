import { createHash } from 'node:crypto';
import { AppError } from '@twofold/runtime/errors';
import type { Core } from '../host/core.ts';
import type { Deployer } from '../deploy/deployer.ts';
import type { Lifecycle } from '../deploy/lifecycle.ts';
import type { HostingStore } from '../records/tables.ts';
import type { StoredBackup, BackupRepository } from '../records/backup-repository.ts';
import type { Seal } from '../records/seal.ts';
import { type Description, openArchive, type Section, writeArchive } from './archive.ts';
import { decrypt, encrypt } from './cipher.ts';
import { damaged } from './failures.ts';
import { createFileList } from './file-list.ts';
import type { Targets } from './targets/targets.ts';
import type { BackupRules } from '../records/backup-rules.ts';

/** Shared by the parts of this folder. */
export interface BackupParts extends Core {
  readonly store: HostingStore;
  readonly deployer: Deployer;
  readonly lifecycle: Lifecycle;
  readonly repository: BackupRepository;
  readonly targets: Targets;
  readonly seal: Seal;
  /** `BACKUP_KEY`; null when backups are not encrypted. */
  readonly key: Buffer | null;
  /** The backups that a restore reads at the moment. They must not be removed. */
  readonly inUse: Set<StoredBackup>;
}

/** Work on a backup, until the signal aborts. */
export interface BackupWork {
  readonly backup: StoredBackup;
  readonly signal: AbortSignal;
}

/** Keeps a backup from being removed for the time of `work`. */
export async function whileInUse<T>(
  { inUse }: BackupParts,
  backup: StoredBackup,
  work: () => Promise<T>,
): Promise<T> {
  const mark = { ...backup };
  inUse.add(mark);
  try {
    return await work();
  } finally {
    inUse.delete(mark);
  }
}

/** Whether a restore or a drill reads the backup. */
export const isInUse = ({ inUse }: BackupParts, { id }: StoredBackup): boolean =>
  [...inUse].some((each) => each.id === id);

/** What goes into a backup. */
export interface BackupSource {
  readonly description: Description;
  readonly sections: AsyncIterable<Section>;
  readonly signal: AbortSignal;
}

/** Writes a backup into its target, and the result into its record. */
export async function storeBackup(
  parts: BackupParts,
  backup: StoredBackup,
  { description, sections, signal }: BackupSource,
): Promise<void> {
  const { repository, targets, key } = parts;
  const finished_at = () => new Date(parts.now()).toISOString();
  const list = await createFileList();
  try {
    const target = await targets.open(backup.target);
    const plain = untilAborted(writeArchive(description, sections, list), signal);
    const meter = createMeter();
    const chunks = meter.pass(key ? encrypt(plain, key) : plain);
    await target.put(backup.object, chunks, (attempt) => repository.update(backup.id, { attempt }));
    const result = { ...meter.result(), status: 'done', attempt: null } as const;
    await repository.update(backup.id, { ...result, finished_at: finished_at() });
  } catch (error) {
    const status = 'failed' as const;
    const failed = { status, error: messageOf(error), attempt: null, finished_at: finished_at() };
    await repository.update(backup.id, failed);
    throw error;
  } finally {
    await list.remove();
  }
}

/** Errors that are not meant for a client are only logged. */
export const messageOf = (error: unknown): string =>
  error instanceof AppError || (error as { code?: unknown }).code !== undefined
    ? (error as Error).message
    : `Internal error: ${(error as Error).message}`;

async function* untilAborted(
  chunks: AsyncIterable<Buffer>,
  signal: AbortSignal,
): AsyncGenerator<Buffer> {
  for await (const chunk of chunks) {
    if (signal.aborted) throw new AppError(409, 'CANCELLED', 'The backup was cancelled');
    yield chunk;
  }
}

/** Counts and hashes what passes. */
function createMeter() {
  const hash = createHash('sha256');
  let bytes = 0;
  return {
    async *pass(chunks: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
      for await (const chunk of chunks) {
        hash.update(chunk);
        bytes += chunk.length;
        yield chunk;
      }
    },
    result: () => ({ bytes, sha256: hash.digest('hex') }),
  };
}

/**
 * Opens a stored backup. The last section ends only when all bytes were those that were stored.
 *
 * @throws AppError `BACKUP_DAMAGED`, `BACKUP_KEY_WRONG`
 */
export async function openBackup({ targets, key }: BackupParts, backup: StoredBackup) {
  const target = await targets.open(backup.target);
  return openArchive(decrypt(asStored(target.get(backup.object), backup), key));
}

/**
 * Reads an object that has no record to its end, which finds damaged bytes of an encrypted one.
 *
 * @returns what its record says of the bytes.
 * @throws AppError `BACKUP_DAMAGED`, `BACKUP_KEY_WRONG`
 */
export async function measureObject(
  { targets, key }: Pick<BackupParts, 'targets' | 'key'>,
  { target, object }: Pick<StoredBackup, 'target' | 'object'>,
): Promise<{ readonly bytes: number; readonly sha256: string; readonly created_at: string }> {
  const meter = createMeter();
  const chunks = meter.pass((await targets.open(target)).get(object));
  const { description, parts: sections } = await openArchive(decrypt(chunks, key));
  for await (const _section of sections);
  return { ...meter.result(), created_at: description.created_at };
}

async function* asStored(
  chunks: AsyncIterable<Buffer>,
  { bytes, sha256 }: StoredBackup,
): AsyncGenerator<Buffer> {
  const meter = createMeter();
  yield* meter.pass(chunks);
  const found = meter.result();
  if (found.bytes !== bytes) throw damaged(`it has ${found.bytes} bytes instead of ${bytes}`);
  if (found.sha256 !== sha256) throw damaged('its bytes are not those that were stored');
}

/**
 * Compares all bytes of a stored backup with its record, before anything of it is used.
 *
 * @throws AppError `BACKUP_DAMAGED`, `BACKUP_KEY_WRONG` @returns its description.
 */
export async function checkBackup(parts: BackupParts, backup: StoredBackup): Promise<Description> {
  const target = await parts.targets.open(backup.target);
  for await (const _chunk of asStored(target.get(backup.object), backup));
  const { description, close } = await openBackup(parts, backup);
  await close();
  return description;
}

const DAY = 24 * 60 * 60 * 1000;
/** Records of failed backups that are kept, to be looked at. */
const FAILED = 20;

/** A backup that can be restored, as far as the server knows. */
export const isGood = ({ status, error }: StoredBackup) => status === 'done' && error === null;

/**
 * The backups that are not kept any more. A backup stays when it is one of the last ones, or young
 * enough, or the newest good one.
 *
 * @param backups Newest first.
 */
export function outdated(
  backups: readonly StoredBackup[],
  { last, days = 0 }: BackupRules['keep'],
  now: number,
): StoredBackup[] {
  const done = backups.filter(({ status }) => status === 'done');
  const newestGood = done.find(isGood);
  const old = done.filter(
    (backup, index) =>
      index >= last &&
      Date.parse(backup.started_at) < now - days * DAY &&
      backup.id !== newestGood?.id,
  );
  return [...old, ...backups.filter(({ status }) => status === 'failed').slice(FAILED)];
}

/** Removes what is not kept. A target that does not answer is asked again after the next backup. */
export async function removeOutdated(
  parts: BackupParts,
  app: string | null,
  keep: BackupRules['keep'],
): Promise<void> {
  const { repository } = parts;
  const old = outdated(await repository.list(app), keep, parts.now());
  for (const backup of old.filter((each) => !isInUse(parts, each)))
    await removeBackup(parts, backup).catch((error: unknown) =>
      parts.log.warn(`an old backup is left in ${backup.target}: ${messageOf(error)}`),
    );
}

/** Removes a backup's bytes and its record. */
export async function removeBackup(parts: BackupParts, backup: StoredBackup): Promise<void> {
  const target = await parts.targets.open(backup.target).catch((error: { status?: number }) => {
    // A backup whose target was gone has no bytes.
    if (backup.status !== 'failed' || error.status !== 404) throw error;
  });
  await target?.remove(backup.object);
  await parts.repository.remove(backup.id);
}
