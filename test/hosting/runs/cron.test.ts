import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { openStore } from '../../../runtime/core/store/open-store.ts';
import type { Store } from '../../../runtime/core/store/store.ts';
import type { Core } from '../../../runtime/hosting/host/core.ts';
import { createCronClaims } from '../../../runtime/hosting/runs/cron-claims.ts';
import { createCronSchedules } from '../../../runtime/hosting/runs/cron-schedules.ts';
import type { Run } from '../../../runtime/hosting/records/run.ts';
import { createRunRepository } from '../../../runtime/hosting/runs/run-repository.ts';
import type { Runner } from '../../../runtime/hosting/runs/runner.ts';
import { createDatabase, describeEachEngine, needs } from '../../engines/available.ts';
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

describe('the schedules of two servers with one database', () => {
  it.each(['SQLite', 'PostgreSQL'])(
    'start once at each time, also when the clock is set back and one server ends: %s',
    async (kind) => {
      if (kind === 'PostgreSQL') needs('postgres');
      const database = kind === 'PostgreSQL' ? await createDatabase() : undefined;
      const nowhere = { socket: '/nonexistent.sock' };
      const server = await startServer({
        ...{ ...nowhere, ...(database && { database: database.url }) },
      });
      const { id } = (await server.api('POST', '/api/apps', { name: 'shop' })).body;
      let offset = 0;
      const now = () => Date.now() + offset;
      const other = openStore(database?.url ?? 'file:data/app.db', server.folder);
      const [first, second] = [server.kernel.store, other].map((store) =>
        scheduler(store, { id, now }),
      ) as [Scheduler, Scheduler];
      const begun = () => [...first.begun, ...second.begun].toSorted();
      const more = async (count: number) => {
        const wanted = begun().length + count;
        await vi.waitFor(() => expect(begun().length).toBeGreaterThanOrEqual(wanted), {
          ...{ timeout: 30_000, interval: 50 },
        });
      };
      await more(2);
      offset = -2000;
      await more(2);
      await first.loop.stop();
      await more(2);
      await second.loop.stop();
      const seconds = begun().map((at) => Date.parse(at) / 1000);
      const { tick: skipped = 0 } = await second.claims.skipped(id);
      expect(new Set(seconds).size).toBe(seconds.length);
      expect(seconds.length + skipped).toBe(seconds.at(-1)! - seconds[0]! + 1);
      await other.close();
      await server.end();
      await database?.drop();
    },
  );
});

type Scheduler = ReturnType<typeof scheduler>;

/** The schedules of a server whose app has a run each second, which ends at once. */
function scheduler(store: Store, { id, now }: { id: string; now: () => number }) {
  const begun: string[] = [];
  const runs = createRunRepository(store, now);
  const cron = [{ name: 'tick', schedule: '* * * * * *', command: ['true'] }];
  const app = { id, name: 'shop', deployment: 1, desired: 'running', spec: { cron } };
  const core = {
    ...{ now, apps: { all: () => [app] }, connection: { info: () => ({}) } },
    log: { warn: (text: string) => expect.unreachable(text) },
  } as unknown as Core;
  const runner = {
    carry(run: Run) {
      begun.push(run.at!);
      void runs.update(run.id, { status: 'done' });
    },
  } as unknown as Runner;
  const claims = createCronClaims(store, runs, now);
  const loop = createCronSchedules({ core, claims, runner });
  loop.start();
  return { loop, begun, claims };
}

describeEachEngine('cron', ({ socket }) => {
  let server: TestServer;
  beforeAll(async () => {
    const image = await importImage(socket, 'twofold-test/web:1');
    server = await startServer({ socket });
    await server.api('POST', '/api/apps', { name: 'shop', image });
  });
  afterAll(() => server?.end());

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
  });

  it('starts one now, by its name', async () => {
    await server.api('POST', '/api/apps/shop/start');
    await change([{ name: 'nightly', schedule: '0 3 29 2 *', command: sh('exit 4') }]);
    const { status, body } = await server.api('POST', '/api/apps/shop/cron/nightly/run?wait=true');
    expect([status, body.cron, body.status, body.exit_code]).toEqual([200, 'nightly', 'failed', 4]);
    expect((await server.api('POST', '/api/apps/shop/cron/weekly/run')).status).toBe(404);
  });
});
