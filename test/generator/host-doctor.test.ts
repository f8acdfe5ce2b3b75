import { Cron } from 'croner';
import { describe, expect, it } from 'vitest';
import { checkHost, type HostState } from '../../generator/host/doctor/checks.ts';
import { lateBackups } from '../../generator/host/doctor/late-backups.ts';

const GIB = 2 ** 30;
const GOOD: HostState = {
  engine: { version: 'Docker 20.10.24', liveRestore: true },
  ingress: 'listening',
  names: [{ name: 'panel.test', addresses: ['192.0.2.1'] }],
  certificates: [{ name: 'panel.test', days: 60 }],
  disk: { free: 50 * GIB, size: 100 * GIB },
  memory: { free: GIB, size: 2 * GIB },
  clock: true,
  units: [
    { unit: 'twofold.service', state: 'active enabled' },
    { unit: 'twofold-ingress.service', state: 'active enabled' },
  ],
  lateBackups: [],
  trustedProxies: [],
  behindProxy: false,
  data: '/opt/twofold/data',
};

/** What is wrong, with the line that mends it. */
const wrong = (change: Partial<HostState>) =>
  checkHost({ ...GOOD, ...change })
    .filter(({ ok }) => !ok)
    .map(({ id, message, fix }) => [id, `${message} | ${fix}`]);

describe('host doctor', () => {
  it('finds nothing on a host that is well, and says what it looked at', () => {
    expect(wrong({})).toEqual([]);
    expect(checkHost(GOOD).map(({ id }) => id)).toEqual([
      ...['units', 'engine', 'live-restore', 'ports', 'dns', 'certificates', 'disk', 'memory'],
      ...['clock', 'backups', 'trusted_proxies'],
    ]);
  });

  const stopped = { unit: 'twofold.service', state: 'failed enabled' };
  const rows: readonly (readonly [string, Partial<HostState>, RegExp])[] = [
    ['units', { units: [stopped] }, /failed.*systemctl enable --now twofold.service/],
    ['units', { units: [{ ...stopped, state: 'not-found' }] }, /generator host install/],
    ['live-restore', { engine: { version: '1', liveRestore: false } }, /daemon.json/],
    ['ports', { ingress: 'unavailable' }, /ss -ltnp/],
    ['ports', { ingress: null }, /journalctl/],
    ['dns', { names: [{ name: 'a.test', addresses: [] }] }, /a.test.*records for a.test/],
    ['certificates', { certificates: [{ name: 'a.test', days: null }] }, /a.test: none.*--email/],
    ['certificates', { certificates: [{ name: 'a.test', days: 13 }] }, /ends in 13 days/],
    ['disk', { disk: { free: GIB, size: 10 * GIB } }, /1.0 GiB of 10.0.*prune/],
    ['disk', { disk: { free: 4 * GIB, size: 100 * GIB } }, /4.0 GiB/],
    ['memory', { memory: { free: GIB / 8, size: GIB } }, /docker stats/],
    ['clock', { clock: false }, /set-ntp true/],
    ['backups', { lateBackups: ['shop'] }, /shop.*apps\/shop\/backups/],
    ['backups', { lateBackups: null }, /start twofold/],
    ['trusted_proxies', { trustedProxies: ['0.0.0.0/0'] }, /another address/],
    ['trusted_proxies', { behindProxy: true }, /no proxy is trusted/],
  ];
  it.each(rows)('names the line that mends %s: %j', (id, change, words) => {
    expect(wrong(change)).toEqual([[id, expect.stringMatching(words)]]);
  });

  it('takes an engine that is away for two things, and Podman as one without a daemon', () => {
    expect(wrong({ engine: null }).map(([id]) => id)).toEqual(['engine', 'live-restore']);
    expect(wrong({ engine: { version: 'Podman 4', liveRestore: null } })).toEqual([]);
  });
});

describe('late backups', () => {
  const NOW = Date.parse('2026-03-09T02:00:00Z');
  const done = (finished_at: string, change: object = {}) => ({
    ...{ status: 'done', error: null, finished_at, ...change },
  });
  /** What is late of an app with this schedule and these backups, newest first. */
  const late = async (schedule: string | null, backups: object[], created_at = '2026-01-01') => {
    const asked: string[] = [];
    const client = async (_method: string, path: string) => {
      asked.push(path);
      return { backups } as never;
    };
    const app = { name: 'shop', created_at, backup: { schedule } };
    const names = await lateBackups(client, [app], { Schedule: Cron, now: NOW });
    return [...names, ...asked.filter((path) => path !== '/api/apps/shop/backups')];
  };

  it('are those that have missed two times, and the first time alone is not late', async () => {
    expect(await late('0 3 * * *', [done('2026-03-08T03:00:20Z')])).toEqual([]);
    expect(await late('0 3 * * *', [done('2026-03-07T03:00:20Z')])).toEqual([]);
    expect(await late('0 3 * * *', [done('2026-03-06T03:00:20Z')])).toEqual(['shop']);
  });

  it('are not late over a weekend without a time of theirs', async () => {
    expect(await late('0 3 * * 1-5', [done('2026-03-06T03:00:20Z')])).toEqual([]);
    expect(await late('0 3 * * 1-5', [done('2026-03-04T03:00:20Z')])).toEqual(['shop']);
  });

  it('count only good ones: done, and not found to be damaged', async () => {
    const old = done('2026-03-01T03:00:20Z');
    const failed = done('2026-03-08T03:00:20Z', { status: 'failed', error: 'no' });
    const damaged = done('2026-03-08T03:00:20Z', { error: 'The backup is damaged' });
    expect(await late('0 3 * * *', [failed, old])).toEqual(['shop']);
    expect(await late('0 3 * * *', [damaged, old])).toEqual(['shop']);
  });

  it('are those of an app without any from its second time on, and none without a schedule', async () => {
    expect(await late('0 3 * * *', [], '2026-03-08T12:00:00Z')).toEqual([]);
    expect(await late('0 3 * * *', [], '2026-03-06T12:00:00Z')).toEqual(['shop']);
    expect(await late(null, [])).toEqual([]);
  });
});
