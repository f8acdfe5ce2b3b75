import type { Cron } from 'croner';
import type { HostClient } from '../server-client.ts';

/** An app as its host shows it. */
export interface ScheduledApp {
  readonly name: string;
  readonly created_at: string;
  readonly backup?: { readonly schedule?: string | null } | null;
}

interface SeenBackup {
  readonly status: string;
  readonly error: string | null;
  readonly finished_at: string;
}

/**
 * Apps that have missed two times of their schedule since their last good backup, or since they
 * exist. Schedules of backups are in UTC.
 */
export async function lateBackups(
  client: HostClient,
  apps: readonly ScheduledApp[],
  { Schedule, now }: { readonly Schedule: typeof Cron; readonly now: number },
): Promise<string[]> {
  const late: string[] = [];
  for (const { name, backup, created_at } of apps) {
    if (!backup?.schedule) continue;
    const path = `/api/apps/${encodeURIComponent(name)}/backups`;
    const { backups } = await client<{ backups: SeenBackup[] }>('GET', path);
    const good = backups.find(({ status, error }) => status === 'done' && error === null);
    const pattern = new Schedule(backup.schedule, { paused: true, timezone: 'UTC' });
    const [, second] = pattern.nextRuns(2, new Date(good?.finished_at ?? created_at));
    if (second && second.getTime() < now) late.push(name);
  }
  return late;
}
