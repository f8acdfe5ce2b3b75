import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, describe, expect, it } from 'vitest';
import { endAll, startProcess } from './process.ts';
import { jobs, SDL } from './program.ts';
import { type JobServer, newDatabase, type Place, startJobs } from './server.ts';

const SECONDS = Number(process.env['JOBS_SECONDS'] ?? 3);

describe('three processes on one file of SQLite', () => {
  let place: Place;
  let reader: JobServer | undefined;
  afterEach(async () => {
    endAll();
    await reader?.close();
    await place?.drop();
  });

  it(
    `send each second of a schedule once and run it once: ${SECONDS} s (acceptance 13)`,
    { timeout: SECONDS * 1000 + 60_000 },
    async () => {
      place = await newDatabase('sqlite');
      reader = await startJobs({ jobs, sdl: SDL, url: place.url, env: { JOBS: 'off' } });
      const start = () => startProcess(place.url, { EACH_SECOND: '1' });
      const processes = await Promise.all([start(), start(), start()]);
      const from = Date.now();
      await sleep(SECONDS * 1000);
      const to = Date.now();
      await Promise.all(processes.map((each) => each.stop()));
      const times = (await reader.rows('select at from twofold_job_times')).map(({ at }) => at);
      const within = times.filter((at) => at > from && at <= to);
      expect(new Set(times).size).toBe(times.length);
      expect(Math.abs(within.length - SECONDS)).toBeLessThanOrEqual(1);
      const done = await reader.rows(
        `select state, attempt from twofold_jobs where name = 'second'`,
      );
      expect(done.length).toBe(times.length);
      const runs = await reader.rows('select pid from dones');
      const finished = done.filter(({ state }) => state === 'done');
      expect(runs.length).toBeGreaterThanOrEqual(finished.length);
      expect(runs.length).toBeLessThanOrEqual(times.length);
      if (SECONDS > 10)
        console.log(`${runs.length} runs by ${new Set(runs.map(({ pid }) => pid)).size} processes`);
    },
  );
});
