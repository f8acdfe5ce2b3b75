import { describe, expect, it } from 'vitest';
import { outdated } from '../../runtime/hosting/backups/stored.ts';
import { createSchedule } from '../../runtime/hosting/backups/schedule.ts';
import type { HostedApp } from '../../runtime/hosting/records/app.ts';
import { assertBackupRules } from '../../runtime/hosting/records/backup-rules.ts';
import type { StoredBackup } from '../../runtime/hosting/records/backup-repository.ts';

const DAY = 86_400_000;
const NOW = Date.parse('2026-03-10T12:00:00Z');
const backup = (id: string, age: number, change: Partial<StoredBackup> = {}): StoredBackup => ({
  ...{ id, app: 'shop', target: 'local', status: 'done', bytes: 1, sha256: 'x', error: null },
  ...{ started_at: new Date(NOW - age * DAY).toISOString(), finished_at: null },
  ...{ verified_at: null, object: id, attempt: null },
  ...change,
});
const idsOf = (backups: readonly StoredBackup[]) => backups.map(({ id }) => id);

describe('what is kept', () => {
  const four = [backup('a', 0), backup('b', 1), backup('c', 5), backup('d', 9)];

  it('is the last ones, and with days all that are younger too', () => {
    expect(idsOf(outdated(four, { last: 2 }, NOW))).toEqual(['c', 'd']);
    expect(idsOf(outdated(four, { last: 1, days: 6 }, NOW))).toEqual(['d']);
    expect(idsOf(outdated(four, { last: 10 }, NOW))).toEqual([]);
  });

  it('is the newest good one, however many bad ones are newer', () => {
    const bad = { error: 'The backup is damaged' };
    const list = [backup('a', 0, bad), backup('b', 1, bad), backup('c', 90), backup('d', 91)];
    expect(idsOf(outdated(list, { last: 1 }, NOW))).toEqual(['b', 'd']);
  });

  it('is not what runs, and the last twenty failures', () => {
    const failed = Array.from({ length: 22 }, (_, index) =>
      backup(`f${index}`, index, { status: 'failed', error: 'x' }),
    );
    const list = [backup('r', 100, { status: 'running' }), ...failed, ...four];
    expect(idsOf(outdated(list, { last: 4 }, NOW))).toEqual(['f20', 'f21']);
  });
});

describe('a schedule', () => {
  it('is due once at each of its times, and skips those at which nobody looked', () => {
    let now = Date.parse('2026-03-10T02:59:50Z');
    const schedule = createSchedule(
      () => now,
      () => false,
    );
    const app = (backupRules: object, name = 'shop') =>
      ({ name, spec: { backup: backupRules } }) as unknown as HostedApp;
    const rules = { schedule: '0 3 * * *', drill: '*/20 * * * * *' };
    const kinds = (seconds: number, given: object = rules) => {
      now += seconds * 1000;
      return schedule.due([app(given)]).map(({ kind }) => kind);
    };
    expect(kinds(0)).toEqual([]);
    expect(kinds(9)).toEqual([]);
    // The second of one moment comes with the next look.
    expect(kinds(1)).toEqual(['schedule']);
    expect(kinds(1)).toEqual(['drill']);
    expect(kinds(1)).toEqual([]);
    expect(kinds(18)).toEqual(['drill']);
    expect(kinds(3 * 86_400)).toEqual(['schedule']);
    expect(kinds(1)).toEqual(['drill']);
    expect(kinds(1)).toEqual([]);
    // Another schedule begins from now on, and an app that is gone leaves nothing.
    expect(kinds(0, { schedule: '0 4 * * *' })).toEqual([]);
    expect(kinds(3600, { schedule: '0 4 * * *' })).toEqual(['schedule']);
    expect(schedule.due([])).toEqual([]);
  });

  it('waits for the end of what the app does, and what has waited longest comes first', () => {
    let now = Date.parse('2026-03-10T02:59:50Z');
    let busy: string[] = [];
    const schedule = createSchedule(
      () => now,
      ({ name }) => busy.includes(name),
    );
    const apps = (backup: object) =>
      ['shop', 'blog'].map((name) => ({ name, spec: { backup } }) as unknown as HostedApp);
    const rules = { schedule: '*/10 * * * * *', drill: '5 * * * * *' };
    const due = (seconds: number, given: object = rules) => {
      now += seconds * 1000;
      return schedule.due(apps(given)).map(({ name, kind }) => `${name} ${kind}`);
    };
    expect(due(0)).toEqual([]);
    busy = ['shop'];
    expect(due(10)).toEqual(['blog schedule']);
    expect(due(5)).toEqual(['blog drill']);
    // A time that comes again while the first one waits is one time.
    expect(due(5)).toEqual(['blog schedule']);
    busy = [];
    expect(due(1)).toEqual(['shop schedule']);
    expect(due(1)).toEqual(['shop drill']);
    expect(due(1)).toEqual([]);
    busy = ['shop'];
    expect(due(10)).toEqual(['blog schedule']);
    busy = [];
    expect(due(0, { schedule: null, drill: null })).toEqual([]);
  });

  it.each(['', '* * * *', '61 * * * *', '0 0 31 2 *', '@daily', '* * * * * * *'])(
    'cannot be %j',
    (schedule) => expect(() => assertBackupRules({ schedule })).toThrow('backup.schedule'),
  );

  it('comes with a dump only together with its restore', () => {
    expect(() => assertBackupRules({ dump: ['pg_dump'] })).toThrow('belong together');
    expect(() => assertBackupRules({ dump: ['a'], restore: ['b'] })).not.toThrow();
  });
});
