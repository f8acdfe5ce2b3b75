import { Cron } from 'croner';
import { failure } from '@twofold/runtime/errors';

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

export const BACKUP_RULES: BackupRules = {
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
  if (schedule !== null) nextTime(schedule, Date.now(), 'backup.schedule');
  if (drill !== null) nextTime(drill, Date.now(), 'backup.drill');
  if ((dump === null) !== (restore === null))
    throw failure.badRequest(
      'backup.dump and backup.restore belong together: a dump that nothing can read is no backup',
    );
}

/**
 * The first time of a schedule after a moment, in milliseconds since 1970.
 *
 * @throws AppError 400 naming the field.
 * @example nextTime('0 3 * * *', Date.now(), 'backup.schedule') // 03:00 UTC of today or tomorrow
 */
export function nextTime(schedule: string, after: number, field: string): number {
  const shown = JSON.stringify(schedule.slice(0, 100));
  if (![5, 6].includes(schedule.trim().split(/\s+/).length))
    throw failure.badRequest(
      `${field}: ${shown} must have 5 fields (minute, hour, day, month, weekday), or 6 with seconds first`,
    );
  let next: Date | null;
  try {
    const options = { timezone: 'UTC', mode: '5-or-6-parts', paused: true } as const;
    next = new Cron(schedule, options).nextRun(new Date(after));
  } catch (error) {
    throw failure.badRequest(`${field}: ${shown}: ${(error as Error).message}`);
  }
  if (next) return next.getTime();
  throw failure.badRequest(`${field}: ${shown} has no time in the future`);
}
