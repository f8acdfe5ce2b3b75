/** A backup as the API shows it. */
export interface BackupRecord {
  readonly id: string;
  /** The name of the app; null for a backup of the server itself. */
  readonly app: string | null;
  readonly target: string;
  readonly status: 'running' | 'done' | 'failed';
  /** The size of the stored object; null until it is stored. */
  readonly bytes: number | null;
  /** The SHA-256 of the stored object. */
  readonly sha256: string | null;
  readonly started_at: string;
  readonly finished_at: string | null;
  /** When a drill has last restored it with success. */
  readonly verified_at: string | null;
  readonly error: string | null;
}

/** A backup as it is stored. */
export interface StoredBackup extends BackupRecord {
  /** The name of the object in the target. */
  readonly object: string;
  /** What the target needs to remove the bytes of an unfinished upload. */
  readonly attempt: string | null;
}

/** `BackupRecord` without the columns that are only for the server. */
export function showBackup(backup: StoredBackup): BackupRecord {
  const { object: _object, attempt: _attempt, ...shown } = backup;
  return shown;
}
