import type { HostedApp } from '../records/app.ts';
import { backupRulesOf } from '../records/backup-rules.ts';
import { nextTime } from '../records/cron.ts';

type Kind = 'schedule' | 'drill';

/** What is due now. */
export interface Due {
  /** The name of the app. */
  readonly name: string;
  readonly kind: Kind;
}

/** The next times of the apps' schedules. A time that passes while the server is off is skipped. */
export interface Schedule {
  due(apps: readonly HostedApp[]): readonly Due[];
}

interface Next {
  readonly pattern: string;
  readonly at: number;
}

export function createSchedule(now: () => number): Schedule {
  const next = new Map<string, Next>();
  /** A pattern that changes, and one that has come, gets a new time from now on. */
  const isDue = (key: string, pattern: string | null): boolean => {
    const known = next.get(key);
    const time = now();
    const due = pattern !== null && known?.pattern === pattern && known.at <= time;
    if (pattern === null) next.delete(key);
    else if (due || known?.pattern !== pattern)
      next.set(key, { pattern, at: nextTime({ schedule: pattern }, time, 'backup') });
    return due;
  };
  return {
    due(apps) {
      const names = new Set(apps.map(({ name }) => name));
      for (const key of next.keys()) if (!names.has(key.split(' ')[0] ?? '')) next.delete(key);
      return apps.flatMap(({ name, spec }) => {
        const rules = backupRulesOf(spec.backup);
        const kinds = (['schedule', 'drill'] as const).filter((kind) =>
          isDue(`${name} ${kind}`, rules[kind]),
        );
        return kinds.map((kind) => ({ name, kind }));
      });
    },
  };
}
