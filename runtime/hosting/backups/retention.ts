import type { StoredBackup } from '../records/backup.ts';
import type { BackupRules } from '../records/backup-rules.ts';
import { type BackupParts, isInUse, messageOf } from './stored.ts';

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
  const { repository, core } = parts;
  const old = outdated(await repository.list(app), keep, core.now());
  for (const backup of old.filter((each) => !isInUse(parts, each)))
    await removeBackup(parts, backup).catch((error: unknown) =>
      core.log.warn(`an old backup is left in ${backup.target}: ${messageOf(error)}`),
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
