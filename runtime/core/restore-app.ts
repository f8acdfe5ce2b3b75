import type { Readable } from 'node:stream';
import type { App } from './app.ts';
import { databaseOf, rootOf } from './database-of-app.ts';
import type { MoveOptions, RestoreReport } from './move-report.ts';
import { ownedBy } from './owned-tables.ts';
import { type BackupReader, readBackup } from './store/transfer/backup-stream.ts';
import { intoTarget } from './target-of-app.ts';

export interface RestoreInput {
  /** The database; that of the project's settings when absent. */
  readonly database?: string;
  /** Whether rows that are already in the target are removed first. */
  readonly replace?: boolean;
  /** The name of a guarded database, whose rows may be removed. */
  readonly confirm?: string;
}

export interface RestoreOptions extends MoveOptions {
  /** The stream from which the rows are read. */
  readonly channel: Readable;
}

/**
 * Writes the rows of a backup into a database and compares them there, for `generator db restore`.
 * All rows are written or none.
 *
 * @throws AppError `BACKUP_DAMAGED`, `BACKUP_AHEAD`, `TARGET_HAS_ROWS`, `TARGET_DIFFERS`,
 * `VALUE_NOT_HELD`
 */
export async function restoreApp(
  app: App,
  { database, ...input }: RestoreInput,
  { channel, ...options }: RestoreOptions,
): Promise<RestoreReport> {
  const backup = readBackup(channel);
  const { migrations } = await backup.head();
  const owned = await ownedBy(app, options);
  const url = database ?? databaseOf(app, options);
  return intoTarget({ app, url, root: rootOf(app), owned, migrations, ...input, options }, () =>
    allOf(backup),
  );
}

async function* allOf(backup: BackupReader) {
  for (;;) {
    const table = await backup.next();
    if (!table) return;
    yield table;
  }
}
