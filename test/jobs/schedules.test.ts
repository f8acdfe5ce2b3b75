import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, describe, expect, it } from 'vitest';
import type { JobOf } from '../../runtime/core/jobs/types.ts';
import { databases, type JobServer, newDatabase, type Place, startJobs } from './server.ts';

/** The whole of acceptance 13 is `JOBS_SECONDS=60 vitest run test/jobs/schedules.test.ts`. */
const SECONDS = Number(process.env['JOBS_SECONDS'] ?? 3);
const HOUR = 3_600_000;

describe.each(databases)('schedules on %s', (database) => {
  let place: Place;
  let servers: JobServer[] = [];
  let ran: string[] = [];
  afterEach(async () => {
    await Promise.all(servers.map((server) => server.close()));
    await place?.drop();
    servers = [];
    ran = [];
  });
  const run = ({ job }: { job: { name: string } }) => void ran.push(job.name);
  const start = async (jobs: Record<string, JobOf<any>>, now: () => number = Date.now) => {
    place ??= await newDatabase(database);
    const server = await startJobs({ jobs, url: place.url, now });
    servers.push(server);
    return server;
  };
  const stop = async () => Promise.all(servers.splice(0).map((server) => server.close()));
  const times = async (server: JobServer) =>
    (await server.rows('select name, at from twofold_job_times order by at')).map(({ at }) => at);

  it(
    `send one job for each second, ${SECONDS} in all, by three servers (acceptance 13)`,
    { timeout: SECONDS * 1000 + 30_000 },
    async () => {
      place = await newDatabase(database);
      const second = { second: { schedule: '* * * * * *', run } };
      // Two connections of one process to one file of SQLite would wait for each other.
      const count = database === 'sqlite' ? 1 : 3;
      for (let n = 0; n < count; n += 1) await start(second);
      const before = ran.length;
      await sleep(SECONDS * 1000);
      const runs = ran.length - before;
      if (SECONDS > 10) console.log(`${database}: ${runs} runs in ${SECONDS} s`);
      expect(Math.abs(runs - SECONDS)).toBeLessThanOrEqual(1);
      const sent = await times(servers[0]!);
      expect(sent.every((at) => at % 1000 === 0)).toBe(true);
      expect(new Set(sent).size).toBe(sent.length);
      await expect
        .poll(async () => (await times(servers[0]!)).length - ran.length)
        .toBeLessThanOrEqual(1);
    },
  );

  it('send no time twice when a clock is set back, and none in between when it is set forward', async () => {
    place = await newDatabase(database);
    let offset = 0;
    const server = await start(
      { second: { schedule: '* * * * * *', run } },
      () => Date.now() + offset,
    );
    await expect.poll(() => ran.length, { timeout: 5000 }).toBeGreaterThanOrEqual(2);
    offset = -3000;
    await sleep(700);
    offset = HOUR;
    await sleep(700);
    offset = 0;
    await sleep(1200);
    const sent = await times(server);
    expect(new Set(sent).size).toBe(sent.length);
    // An hour has 3,600 seconds: those that were skipped were not sent, the last half minute is late.
    expect(sent.length).toBeLessThan(50);
    await expect.poll(() => ran.length, { timeout: 5000 }).toBeGreaterThanOrEqual(sent.length);
    const stats = await server.rows('select count(*) as n from twofold_jobs');
    expect(stats[0]!['n']).toBe((await times(server)).length);
  });

  it('send one job for all times at which no server ran, or none', async () => {
    place = await newDatabase(database);
    const jobs = {
      skipped: { schedule: '0 * * * *', run },
      caught: { schedule: '0 * * * *', missed: 'once' as const, timezone: 'Asia/Kolkata', run },
      other: { run },
    };
    const begin = Date.parse('2030-01-01T10:10:00Z');
    let started = Date.now();
    const from = (time: number) => () => time + Date.now() - started;
    await start(jobs, from(begin));
    await sleep(50);
    await stop();
    expect(ran).toEqual([]);
    started = Date.now();
    const server = await start(jobs, from(begin + 3 * HOUR));
    await expect.poll(() => ran).toEqual(['caught']);
    // Half past by UTC is the full hour in India.
    expect(await times(server)).toEqual([Date.parse('2030-01-01T12:30:00Z')]);
    await stop();
    // A new pattern has missed nothing.
    started = Date.now();
    const changed = { ...jobs, caught: { ...jobs.caught, schedule: '5 * * * *' } };
    await start(changed, from(begin + 9 * HOUR));
    await sleep(1200);
    expect(ran).toEqual(['caught']);
  });
});

describe('a schedule that cannot be read', () => {
  const starting = (job: Partial<JobOf>) =>
    startJobs({ jobs: { wrong: { run: () => {}, ...job } as JobOf }, url: ':memory:' });

  it.each([
    ['* * *', 'must have 5 fields'],
    ['61 * * * *', 'Invalid value for minute'],
    ['0 0 30 2 *', 'has no time in the future'],
    ['@daily', 'must have 5 fields'],
  ])('%s ends the start', async (schedule, why) => {
    const started = starting({ schedule });
    await expect(started).rejects.toThrow(/src\/jobs\/wrong\.ts: JOB_SCHEDULE_INVALID/);
    await expect(started).rejects.toThrow(why);
  });

  it('is one with a time zone that does not exist', async () => {
    await expect(starting({ schedule: '* * * * *', timezone: 'Mars/Base' })).rejects.toThrow(
      'timezone "Mars/Base" is no IANA name',
    );
  });

  it('is named with everything else that is wrong with the files', async () => {
    const started = startJobs({
      jobs: {
        one: { attempts: 0, timeout: 'soon', run: () => {} },
        two: { input: 'Lettre', concurrency: 0, run: () => {} },
        Three: { missed: 'once', run: () => {} },
      },
      url: ':memory:',
    });
    const error: any = await started.catch((thrown: unknown) => thrown);
    expect(error.problems).toEqual([
      'src/jobs/one.ts: attempts must be a whole number from 1',
      'src/jobs/one.ts: timeout must be a duration such as 500ms, 10s or 1h',
      expect.stringContaining('src/jobs/two.ts: the schema has no input type Lettre'),
      'src/jobs/two.ts: concurrency must be a whole number from 1, or { limit, key }',
      'src/jobs/Three.ts: its name must have lower case letters, digits and dashes',
      'src/jobs/Three.ts: timezone and missed belong to a schedule, and it has none',
    ]);
  });
});
