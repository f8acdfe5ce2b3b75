import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { describeEachEngine } from '../../engines/available.ts';
import { importImage } from '../../engines/import-image.ts';
import { startServer, type TestServer } from '../server.ts';

const sh = (script: string) => ['sh', '-c', script];

describe('the schedules of an app', () => {
  let server: TestServer;
  beforeAll(async () => {
    server = await startServer({ socket: '/nonexistent.sock' });
    await server.api('POST', '/api/apps', { name: 'shop' });
  });
  afterAll(() => server?.end());

  it.each([
    [{ schedule: '* * * *' }, 'must have 5 fields'],
    [{ schedule: '61 * * * *' }, 'is no schedule'],
    [{ schedule: '0 0 31 2 *' }, 'has no time in the future'],
    [{ timezone: 'Europe/Nowhere' }, 'is no IANA time zone'],
    [{ name: 'Nightly' }, 'pattern'],
    [{ command: [] }, 'command'],
    [{ every: '1h' }, 'every'],
  ])('are refused with 400 when they are wrong: %j', async (wrong, says) => {
    const cron = [{ name: 'nightly', schedule: '0 3 * * *', command: ['true'], ...wrong }];
    const { status, body } = await server.api('PATCH', '/api/apps/shop', { cron });
    expect([status, body.error]).toEqual([400, expect.stringContaining(says)]);
  });

  it('are shown as they were sent, with distinct names', async () => {
    const one = {
      name: 'nightly',
      schedule: '0 3 * * *',
      command: ['true'],
      timezone: 'Asia/Tokyo',
    };
    const two = { name: 'often', schedule: '*/10 * * * * *', command: ['true'], timeout_s: 5 };
    const { body } = await server.api('PATCH', '/api/apps/shop', { cron: [one, two] });
    expect(body.cron).toEqual([one, two]);
    const twice = await server.api('PATCH', '/api/apps/shop', { cron: [one, one] });
    expect(twice.body.error).toBe('cron must not use one name twice');
  });
});

describeEachEngine('cron', ({ socket }) => {
  let server: TestServer;
  beforeAll(async () => {
    const image = await importImage(socket, 'twofold-test/web:1');
    server = await startServer({ socket });
    await server.api('POST', '/api/apps', { name: 'shop', image });
  }, 60_000);
  afterAll(() => server?.end(), 60_000);

  const list = async (query = '') => (await server.api('GET', `/api/apps/shop/runs${query}`)).body;
  const change = (cron: object[]) => server.api('PATCH', '/api/apps/shop', { cron });

  it('starts a run at each time, skips and counts times while the last run goes on, and stops with the app', async () => {
    await change([
      { name: 'tick', schedule: '*/3 * * * * *', command: sh('echo $TWOFOLD_SCHEDULED_AT') },
      { name: 'slow', schedule: '* * * * * *', command: sh('sleep 30') },
    ]);
    const done = async () => (await list('?cron=tick&status=done')).runs as { id: string }[];
    await expect.poll(async () => (await done()).length, { timeout: 20_000 }).toBeGreaterThan(1);
    for (const { id } of await done()) {
      const at = (await server.api('GET', `/api/apps/shop/runs/${id}/logs`)).body as string;
      expect(Date.parse(at.trim()) % 3000).toBe(0);
    }
    const slow = await list('?cron=slow');
    expect(slow.total).toBe(1);
    expect(slow.skipped.slow).toBeGreaterThan(1);
    const busy = await server.api('POST', '/api/apps/shop/cron/slow/run');
    expect([busy.status, busy.body.error]).toEqual([409, 'A run of slow is still going on']);

    await server.api('POST', '/api/apps/shop/stop');
    expect((await list('?status=running')).total).toBe(0);
    const { total } = await list();
    await new Promise((resolve) => setTimeout(resolve, 3500));
    expect((await list()).total).toBe(total);
  }, 60_000);

  it('starts one now, by its name', async () => {
    await server.api('POST', '/api/apps/shop/start');
    await change([{ name: 'nightly', schedule: '0 3 29 2 *', command: sh('exit 4') }]);
    const { status, body } = await server.api('POST', '/api/apps/shop/cron/nightly/run?wait=true');
    expect([status, body.cron, body.status, body.exit_code]).toEqual([200, 'nightly', 'failed', 4]);
    expect((await server.api('POST', '/api/apps/shop/cron/weekly/run')).status).toBe(404);
  }, 30_000);
});
