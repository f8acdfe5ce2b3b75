import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, describe, expect, it } from 'vitest';
import { endAll, type JobProcess, startProcess } from './process.ts';
import { jobs, SDL } from './program.ts';
import { databases, type JobServer, newDatabase, type Place, startJobs } from './server.ts';

/** The whole of acceptance 12 is `JOBS_KILLED=10000 vitest run test/jobs/killed.test.ts`. */
const JOBS = Number(process.env['JOBS_KILLED'] ?? 300);
const LONG = JOBS > 1000;

describe.each(databases)('servers that are killed, on %s', (database) => {
  let place: Place;
  let sender: JobServer;
  afterEach(async () => {
    endAll();
    await sender?.close();
    await place?.drop();
  });
  const state = async (id: number) => (await sender.ctx.jobs.get(id))?.state;

  /** Sends jobs and runs none. */
  const open = async () => {
    place = await newDatabase(database);
    sender = await startJobs({ jobs, sdl: SDL, url: place.url, env: { JOBS: 'off' } });
  };
  /** As if the lease of every process had passed: those that are alive lose what they run. */
  const forget = () => sender.kernel.store.query('update twofold_job_workers set seen_at = 0', []);

  it(
    `complete each of ${JOBS} jobs with a transaction once (acceptance 12)`,
    { timeout: LONG ? 1_200_000 : 60_000 },
    async () => {
      await open();
      const count = database === 'sqlite' ? 1 : 3;
      const list = Array.from({ length: JOBS }, (_, n) => ({ n, wait: 5 }));
      await sender.ctx.jobs.sendMany('insert', list);
      const processes: JobProcess[] = await Promise.all(
        Array.from({ length: count }, () => startProcess(place.url)),
      );
      let kills = 0;
      const left = async () =>
        (await sender.rows(`select count(*) as n from twofold_jobs where state <> 'done'`))[0]![
          'n'
        ];
      while ((await left()) > 0) {
        await sleep(LONG ? 1000 : 400);
        if (!LONG && kills >= 2) continue;
        const victim = kills % count;
        await processes[victim]!.kill();
        kills += 1;
        if (!LONG && database === 'postgres') await forget();
        processes[victim] = await startProcess(place.url);
      }
      const rows = await sender.rows('select job from dones');
      if (LONG) console.log(`${database}: ${rows.length} rows, ${kills} kills`);
      expect(rows.length).toBe(JOBS);
      expect(new Set(rows.map(({ job }) => job)).size).toBe(JOBS);
      expect(kills).toBeGreaterThan(0);
    },
  );

  // On PostgreSQL the test above shows the same.
  if (database === 'sqlite' || LONG)
    it(
      'give a job back at their end, and an attempt that SIGTERM ended does not count',
      { timeout: 60_000 },
      async () => {
        await open();
        const first = await startProcess(place.url);
        const id = await sender.ctx.jobs.send('slow', { wait: 60_000 });
        await expect.poll(() => state(id), { timeout: 10_000 }).toBe('running');
        await first.kill();
        if (database === 'postgres') await forget();
        const second = await startProcess(place.url);
        await expect
          .poll(() => sender.ctx.jobs.get(id), { timeout: 10_000 })
          .toMatchObject({ state: 'running', attempt: 2 });
        // A stop waits 10 s for the job: `worker.test.ts` has a shorter one.
        if (!LONG) return second.kill();
        const stopping = performance.now();
        expect(await second.stop()).toBe(0);
        expect(performance.now() - stopping).toBeGreaterThan(9_000);
        expect(await sender.ctx.jobs.get(id)).toMatchObject({ state: 'waiting', attempt: 1 });
      },
    );
});
