import type { HostedApp } from '../records/app.ts';
import { backupRulesOf } from '../records/backup-rules.ts';
import { nextTime } from '../records/cron.ts';

const KINDS = ['schedule', 'drill'] as const;

type Kind = (typeof KINDS)[number];

/** What is due now. */
export interface Due {
  /** The name of the app. */
  readonly name: string;
  readonly kind: Kind;
}

/**
 * The next times of the apps' schedules. A time that passes while the server is off is skipped. One
 * that comes while the app is busy waits for its end.
 */
export interface Schedule {
  /** At most one for each app: the others of the app wait for it. */
  due(apps: readonly HostedApp[]): readonly Due[];
}

type IsBusy = (app: HostedApp, kind: Kind) => boolean;

interface Next {
  readonly pattern: string;
  readonly at: number;
}

export function createSchedule(now: () => number, isBusy: IsBusy): Schedule {
  const next = new Map<string, Next>();
  const waiting = new Set<string>();
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
  const note = ({ name, spec }: HostedApp): void => {
    for (const kind of KINDS) {
      const key = `${name} ${kind}`;
      const pattern = backupRulesOf(spec.backup)[kind];
      if (pattern === null) waiting.delete(key);
      if (isDue(key, pattern)) waiting.add(key);
    }
  };
  return {
    due(apps) {
      const names = new Set(apps.map(({ name }) => name));
      for (const known of [next, waiting])
        for (const key of known.keys()) if (!names.has(key.split(' ')[0] ?? '')) known.delete(key);
      apps.forEach(note);
      return apps.flatMap((app) => {
        // What has waited longest comes first.
        const kinds = [...waiting].filter((key) => key.split(' ')[0] === app.name);
        const key = kinds.find((one) => !isBusy(app, kindOf(one)));
        if (key === undefined) return [];
        waiting.delete(key);
        return [{ name: app.name, kind: kindOf(key) }];
      });
    },
  };
}

const kindOf = (key: string) => key.split(' ')[1] as Kind;
