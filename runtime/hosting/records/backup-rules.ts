import { failure } from '@twofold/runtime/errors';
import { nextTime } from './cron.ts';

/** How an app is backed up: its field `backup`. */
export interface BackupRules {
  /** When backups are made, in UTC. */
  readonly schedule: string | null;
  /** The newest `last` backups are kept, and those of the last `days` days. */
  readonly keep: { readonly last: number; readonly days?: number };
  readonly target: string;
  /** When the newest backup is restored into a throwaway copy, in UTC. */
  readonly drill: string | null;
  /** Prints a backup on its standard output. Without it the volumes are archived. */
  readonly dump: readonly string[] | null;
  /** Reads a backup from its standard input. */
  readonly restore: readonly string[] | null;
  /** Whether the app is stopped while its volumes are archived. */
  readonly stop: boolean;
}

const BACKUP_RULES: BackupRules = {
  schedule: null,
  keep: { last: 7 },
  target: 'local',
  drill: null,
  dump: null,
  restore: null,
  stop: false,
};

/** The rules of an app, with every default. */
export const backupRulesOf = (given: Partial<BackupRules> | undefined): BackupRules => ({
  ...BACKUP_RULES,
  ...given,
});

/** @throws AppError 400 for a schedule that is none, and for a dump without its restore. */
export function assertBackupRules(given: Partial<BackupRules> | undefined): void {
  if (!given) return;
  const { schedule, drill, dump, restore } = backupRulesOf(given);
  if (schedule !== null) nextTime({ schedule }, Date.now(), 'backup.schedule');
  if (drill !== null) nextTime({ schedule: drill }, Date.now(), 'backup.drill');
  if ((dump === null) !== (restore === null))
    throw failure.badRequest(
      'backup.dump and backup.restore belong together: a dump that nothing can read is no backup',
    );
}
