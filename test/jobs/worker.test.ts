import { afterEach, describe, expect, it } from 'vitest';
import { readDefinitions } from '../../runtime/core/jobs/definitions.ts';
import { createPresence } from '../../runtime/core/jobs/presence.ts';
import { createQueue, type Queue } from '../../runtime/core/jobs/queue.ts';
import type { JobOf } from '../../runtime/core/jobs/types.ts';
import { createWorker } from '../../runtime/core/jobs/worker.ts';
import { databases, type JobServer, newDatabase, type Place, startJobs } from './server.ts';

const inputs = { has: () => false } as any;

describe.each(databases)('two processes that share the jobs of %s', (database) => {
  let place: Place;
  let server: JobServer;
  const queues: Queue[] = [];
  afterEach(async () => {
    queues.length = 0;
    await server?.close();
    await place?.drop();
  });

  const gate = Promise.withResolvers<void>();
  const failed: unknown[] = [];
  const jobs: Record<string, JobOf<any>> = {
    plain: { run: () => {} },
    two: { concurrency: 2, run: () => {} },
    cancelled: {
      run: ({ ctx }) =>
        new Promise((_, reject) =>
          ctx.signal.addEventListener('abort', () => reject(ctx.signal.reason)),
        ),
    },
    held: { run: () => gate.promise },
    writes: {
      transaction: true,
      run: async ({ ctx }) => void (await ctx.data.note.create({ data: { text: 'written' } })),
    },
    last: { attempts: 1, run: () => {}, failed: ({ error }) => void failed.push(error) },
  };
  /** A process that has said that it is there, without a loop of its own. */
  const open = async () => {
    place = await newDatabase(database);
    server = await startJobs({ jobs, url: place.url, env: { JOBS: 'off' } });
    return [await join('a'), await join('b')] as const;
  };
  const join = async (owner: string) => {
    const definitions = readDefinitions(jobs, inputs);
    await server.rows(
      `insert into twofold_job_workers (id, slot, names, seen_at) values ('${owner}', null, '[]', 9999999999999)`,
    );
    const { store } = server.kernel;
    const queue = createQueue({ store, definitions, owner });
    queues.push(queue);
    return { queue, owner, definitions };
  };
  const die = async (owner: string) => {
    await server.rows(`delete from twofold_job_workers where id = '${owner}'`);
    const presence = createPresence({
      kernel: server.kernel,
      definitions: readDefinitions(jobs, inputs),
      owner: 'another',
      onReturned: () => {},
      onLost: () => {},
    });
    await presence.start();
    await presence.stop();
  };
  const job = (id: number) => server.ctx.jobs.get(id);

  it('never complete a job twice: one that has lost it is refused', async () => {
    const [a, b] = await open();
    const id = await server.ctx.jobs.send('plain');
    const [lost] = (await a.queue.turn([], 5)).taken;
    expect((await b.queue.turn([], 5)).taken).toEqual([]);
    await die('a');
    const [taken] = (await b.queue.turn([], 5)).taken;
    expect(taken).toMatchObject({ id, attempt: 2, fence: 2 });
    expect(await a.queue.turn([lost!], 0)).toEqual({ taken: [], lost: [id] });
    expect(await a.queue.fail(lost!, { error: 'x', retryIn: undefined })).toBe(false);
    expect(await a.queue.complete(lost!)).toBe(false);
    expect(await job(id)).toMatchObject({ state: 'running', attempt: 2 });
    expect(await b.queue.turn([taken!], 0)).toEqual({ taken: [], lost: [] });
    expect(await job(id)).toMatchObject({ state: 'done', attempt: 2, error: null });
  });

  it('keep no write of a transaction whose process has lost the job', async () => {
    const [a] = await open();
    const id = await server.ctx.jobs.send('writes');
    const late: Queue = {
      ...a.queue,
      complete: async (taken) => {
        // As if the lease ran out while the job was at work.
        await server.rows(`update twofold_jobs set fence = fence + 1 where id = ${id}`);
        return a.queue.complete(taken);
      },
    };
    const worker = createWorker({
      kernel: server.kernel,
      definitions: a.definitions,
      queue: late,
      concurrency: 1,
    });
    worker.start();
    await expect.poll(() => server.lines.join('')).toContain('was given to another server');
    await worker.stop(100);
    expect(await server.rows('select * from notes')).toEqual([]);
  });

  it('call failed for a job whose process died in its last attempt', async () => {
    const [a, b] = await open();
    const id = await server.ctx.jobs.send('last');
    await a.queue.turn([], 5);
    await die('a');
    expect(await job(id)).toMatchObject({ state: 'waiting', attempt: 1, attempts: 1 });
    const worker = createWorker({
      kernel: server.kernel,
      definitions: b.definitions,
      queue: b.queue,
      concurrency: 1,
    });
    worker.start();
    await expect.poll(async () => (await job(id))?.state).toBe('failed');
    await worker.stop(100);
    expect(failed).toEqual([new Error('its server ended while it ran')]);
    expect(await job(id)).toMatchObject({ attempt: 1, error: 'its server ended while it ran' });
    failed.length = 0;
  });

  it('give back what still runs at a stop, and that attempt does not count', async () => {
    const [a] = await open();
    const id = await server.ctx.jobs.send('held');
    const worker = createWorker({
      kernel: server.kernel,
      definitions: a.definitions,
      queue: a.queue,
      concurrency: 1,
    });
    worker.start();
    await expect.poll(async () => (await job(id))?.state).toBe('running');
    await worker.stop(100);
    expect(await job(id)).toMatchObject({ state: 'waiting', attempt: 0 });
  });

  it('run no more of a job together than its concurrency allows', async () => {
    const [a, b] = await open();
    await server.ctx.jobs.sendMany('two', [1, 2, 3, 4, 5]);
    const others = await server.ctx.jobs.sendMany('plain', [1, 2], { priority: -1 });
    const [ofA, ofB] = await Promise.all([a.queue.turn([], 3), b.queue.turn([], 3)]);
    const taken = [...ofA.taken, ...ofB.taken];
    expect(taken.filter(({ name }) => name === 'two')).toHaveLength(2);
    // Those that may not run now do not hide the others.
    expect(taken.flatMap(({ id }) => (others.includes(id) ? [id] : [])).sort()).toEqual(others);
    const [first] = taken.filter(({ name }) => name === 'two');
    const holder = ofA.taken.includes(first!) ? a : b;
    expect((await holder.queue.turn([first!], 3)).taken).toHaveLength(1);
  });

  it('look at an empty queue no more than once a second', async () => {
    const [a] = await open();
    let turns = 0;
    const queue: Queue = { ...a.queue, turn: (...asked) => ((turns += 1), a.queue.turn(...asked)) };
    const { kernel } = server;
    const worker = createWorker({ kernel, definitions: a.definitions, queue, concurrency: 5 });
    worker.start();
    await new Promise((resolve) => setTimeout(resolve, 2_200));
    expect(turns).toBeGreaterThan(0);
    expect(turns).toBeLessThanOrEqual(3);
    await worker.stop(100);
  });

  it('abort the signal of a job that was cancelled by another one', async () => {
    place = await newDatabase(database);
    server = await startJobs({ jobs, url: place.url });
    const id = await server.ctx.jobs.send('cancelled');
    await expect.poll(async () => (await job(id))?.state, { timeout: 3000 }).toBe('running');
    if (database === 'postgres') {
      const other = await startJobs({ jobs, url: place.url, env: { JOBS: 'off' } });
      expect(await other.ctx.jobs.cancel(id)).toBe(true);
      await other.close();
      // Two servers in one process would wait for each other's lock of the file.
    } else await server.rows(`update twofold_jobs set stop = 1 where id = ${id}`);
    await expect.poll(async () => (await job(id))?.state, { timeout: 3000 }).toBe('cancelled');
  });

  it('leave jobs of names that they do not know, and the log says so', async () => {
    place = await newDatabase(database);
    const sender = await startJobs({ jobs, url: place.url, env: { JOBS: 'off' } });
    const id = await sender.ctx.jobs.send('held');
    const { held: _, ...others } = jobs;
    server = await startJobs({ jobs: others, url: place.url });
    const done = await server.ctx.jobs.send('plain');
    await expect.poll(async () => (await job(done))?.state).toBe('done');
    expect(await job(id)).toMatchObject({ state: 'waiting', attempt: 0 });
    await expect
      .poll(() => server.lines.join(''))
      .toContain('1 jobs held wait, and this server has no src/jobs/held.ts');
    await sender.close();
  });

  it('remove jobs that have been kept long enough', async () => {
    place = await newDatabase(database);
    const manifest = 'name: kept\njobs: { keep: 1h, keep_failed: 2h }\n';
    const first = await startJobs({ jobs, url: place.url, env: { JOBS: 'off' } });
    const ids = await first.ctx.jobs.sendMany('plain', [1, 2, 3, 4]);
    const end = (index: number, state: string, minutes: number) =>
      first.rows(
        `update twofold_jobs set state = '${state}', finished_at = ${Date.now() - minutes * 60_000} where id = ${ids[index]}`,
      );
    await end(0, 'done', 61);
    await end(1, 'done', 59);
    await end(2, 'failed', 61);
    await end(3, 'cancelled', 121);
    await first.close();
    server = await startJobs({ jobs, url: place.url, manifest });
    const left = async () =>
      (await server.rows('select id from twofold_jobs order by id')).map(({ id }) => id);
    await expect.poll(left).toEqual([ids[1], ids[2]]);
  });
});
