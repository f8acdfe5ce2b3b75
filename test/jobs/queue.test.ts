import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import type { JobOf } from '../../runtime/core/jobs/types.ts';
import { databases, type JobServer, newDatabase, type Place, startJobs } from './server.ts';

type Row = Record<string, any>;

describe.each(databases)('jobs on %s', (database) => {
  let place: Place;
  let server: JobServer;
  const ran: Row[] = [];
  const gates = new Map<string, PromiseWithResolvers<void>>();
  const gate = (name: string) => {
    const made = gates.get(name) ?? Promise.withResolvers<void>();
    gates.set(name, made);
    return made;
  };
  const note = ({ data, job }: Row) => void ran.push({ ...job, data });
  const jobs: Record<string, JobOf<any>> = {
    plain: { run: note },
    letter: { input: 'Letter', run: note },
    checked: { input: z.object({ n: z.coerce.number() }), run: note },
    failing: {
      attempts: 3,
      backoff: { initial: '20ms', factor: 3 },
      run: (call) => {
        note(call);
        throw new Error(`attempt ${call.job.attempt}`);
      },
      failed: ({ data, error, job }) => void ran.push({ failed: data, error, ...job }),
    },
    capped: {
      attempts: 4,
      backoff: { initial: '10ms', factor: 1000, max: '30ms' },
      run: ({ job }) => {
        throw new Error(`attempt ${job.attempt}`);
      },
    },
    slow: {
      timeout: '100ms',
      attempts: 1,
      run: ({ ctx }) =>
        new Promise((_, reject) =>
          ctx.signal.addEventListener('abort', () => reject(ctx.signal.reason)),
        ),
    },
    waits: {
      run: async (call) => {
        note(call);
        call.ctx.signal.addEventListener('abort', () => gate(call.data).resolve());
        await gate(call.data).promise;
        call.ctx.signal.throwIfAborted();
      },
    },
    single: {
      concurrency: { limit: 1, key: (data) => data.of },
      run: async (call) => {
        ran.push({ begins: call.data.of });
        await new Promise((resolve) => setTimeout(resolve, 20));
        ran.push({ ends: call.data.of });
      },
    },
    writes: {
      transaction: true,
      attempts: 2,
      backoff: { initial: '10ms' },
      run: async ({ data, ctx, job }) => {
        await ctx.data.note.create({ data: { text: `${data} ${job.attempt}` } });
        if (job.attempt === 1 && data === 'again') throw new Error('once');
      },
    },
  };
  const state = async (id: number) => (await server.ctx.jobs.get(id))?.state;
  const ends = (id: number, as = 'done') =>
    expect.poll(() => state(id), { timeout: 5000 }).toBe(as);

  beforeAll(async () => {
    place = await newDatabase(database);
    const env = database === 'postgres' ? {} : {};
    server = await startJobs({ jobs, url: place.url, env });
  });
  afterAll(async () => {
    await server?.close();
    await place?.drop();
  });

  it('runs a job that was sent, with its data', async () => {
    const id = await server.ctx.jobs.send('plain', { a: [1, 'x'] });
    await ends(id);
    expect(ran.find((each) => each['id'] === id)).toEqual({
      id,
      name: 'plain',
      attempt: 1,
      data: { a: [1, 'x'] },
    });
    expect(await server.ctx.jobs.get(id)).toMatchObject({
      name: 'plain',
      state: 'done',
      attempt: 1,
      attempts: 5,
      error: null,
      data: { a: [1, 'x'] },
    });
  });

  it('checks data by an input type or a Standard Schema when it is sent', async () => {
    await expect(server.ctx.jobs.send('letter', { to: 'x' })).rejects.toMatchObject({
      code: 'BAD_USER_INPUT',
      extensions: { field: 'to' },
    });
    const letter = await server.ctx.jobs.send('letter', { to: 'Ada' });
    expect((await server.ctx.jobs.get(letter))?.data).toEqual({ to: 'Ada', copies: 1 });
    await expect(server.ctx.jobs.send('checked', { n: 'x' })).rejects.toMatchObject({
      code: 'BAD_USER_INPUT',
    });
    const checked = await server.ctx.jobs.send('checked', { n: '4' });
    expect((await server.ctx.jobs.get(checked))?.data).toEqual({ n: 4 });
    await expect(server.ctx.jobs.send('plane', {})).rejects.toThrow('Did you mean "plain"?');
    await expect(server.ctx.jobs.send('plain', 'x'.repeat(262_144))).rejects.toThrow(
      '262146 bytes',
    );
  });

  it('tries a failed job again with growing waits, and then calls failed', async () => {
    const id = await server.ctx.jobs.send('failing', { of: 'f' });
    await ends(id, 'failed');
    const attempts = ran.filter((each) => each['id'] === id);
    expect(attempts.map(({ attempt }) => attempt)).toEqual([1, 2, 3, 3]);
    expect(attempts[3]).toMatchObject({ failed: { of: 'f' }, error: new Error('attempt 3') });
    const shown: any = await server.ctx.jobs.get(id);
    expect(shown.error).toBe('attempt 3');
    expect(shown.errors.map((each: Row) => each['message'])).toEqual([
      'attempt 1',
      'attempt 2',
      'attempt 3',
    ]);
    const [first, second, third] = shown.errors.map((each: Row) => Date.parse(each['at']));
    expect(second - first).toBeGreaterThanOrEqual(20);
    expect(third - second).toBeGreaterThanOrEqual(60);
  });

  it('waits no longer than backoff.max between attempts', async () => {
    const id = await server.ctx.jobs.send('capped');
    // Without the limit the third attempt would come after ten seconds, the fourth after hours.
    await ends(id, 'failed');
    const shown: any = await server.ctx.jobs.get(id);
    const times = shown.errors.map((each: Row) => Date.parse(each['at']));
    expect(times).toHaveLength(4);
    for (const [index, waited] of [10, 30, 30].entries())
      expect(times[index + 1] - times[index]).toBeGreaterThanOrEqual(waited);
  });

  it('ends an attempt at its timeout, and aborts its signal', async () => {
    const id = await server.ctx.jobs.send('slow');
    await ends(id, 'failed');
    expect((await server.ctx.jobs.get(id))?.error).toBe('it took longer than 100 ms');
  });

  it('runs the jobs of one key of concurrency one after the other', async () => {
    ran.length = 0;
    const ids = await server.ctx.jobs.sendMany('single', [
      { of: 1 },
      { of: 1 },
      { of: 2 },
      { of: 1 },
    ]);
    for (const id of ids) await ends(id);
    const one = ran.filter(({ begins, ends: ended }) => begins === 1 || ended === 1);
    expect(one.map((each) => Object.keys(each)[0])).toEqual(
      Array.from({ length: 3 }, () => ['begins', 'ends']).flat(),
    );
    // The other key does not wait for the first one.
    expect(ran.slice(0, 2)).toEqual([{ begins: 1 }, { begins: 2 }]);
  });

  it('commits what a job with a transaction writes together with its completion', async () => {
    const id = await server.ctx.jobs.send('writes', 'again');
    await ends(id);
    const rows = await server.rows(`select text from notes where text like 'again%'`);
    expect(rows).toEqual([{ text: 'again 2' }]);
  });

  it('adds nothing while a job with the key waits, and gives it new data with replace', async () => {
    const options = { delay: '1h', key: 'k' };
    const first = await server.ctx.jobs.send('plain', 1, options);
    expect(await server.ctx.jobs.send('plain', 2, options)).toBe(first);
    expect((await server.ctx.jobs.get(first))?.data).toBe(1);
    const at = '2100-01-01T00:00:00.000Z';
    expect(await server.ctx.jobs.send('plain', 3, { at, key: 'k', replace: true })).toBe(first);
    expect(await server.ctx.jobs.get(first)).toMatchObject({ data: 3, at });
    const all = await Promise.all(
      Array.from({ length: 20 }, (_, n) =>
        server.ctx.jobs.send('plain', n, { delay: '1h', key: 'x' }),
      ),
    );
    expect(new Set(all).size).toBe(1);
    expect(await server.ctx.jobs.cancel(first)).toBe(true);
    expect(await state(first)).toBe('cancelled');
    expect(await server.ctx.jobs.cancel(first)).toBe(false);
  });

  it('aborts the signal of a running job that is cancelled, which is not tried again', async () => {
    const id = await server.ctx.jobs.send('waits', 'cancelled');
    await expect.poll(() => state(id)).toBe('running');
    expect(await server.ctx.jobs.cancel(id)).toBe(true);
    await ends(id, 'cancelled');
  });

  it('runs by priority and then by time', async () => {
    ran.length = 0;
    const held = await server.ctx.jobs.sendMany(
      'waits',
      Array.from({ length: 10 }, () => 'hold'),
    );
    await expect.poll(() => ran.length).toBe(10);
    ran.length = 0;
    const ids = [
      await server.ctx.jobs.send('plain', 'low', { priority: -1 }),
      await server.ctx.jobs.send('plain', 'first'),
      await server.ctx.jobs.send('plain', 'second'),
      await server.ctx.jobs.send('plain', 'high', { priority: 5 }),
      await server.ctx.jobs.send('plain', 'earlier', { at: '2020-01-01T00:00:00Z' }),
    ];
    gate('hold').resolve();
    for (const id of [...held, ...ids]) await ends(id);
    expect(ran.map(({ data }) => data)).toEqual(['high', 'earlier', 'first', 'second', 'low']);
  });

  it('has no job of a transaction that was rolled back, or of a savepoint that was undone (acceptance 6)', async () => {
    const sent: number[] = [];
    await server.ctx
      .transaction(async () => {
        sent.push(await server.ctx.jobs.send('plain', 'undone'));
        throw new Error('no');
      })
      .catch(() => {});
    await server.ctx.transaction(async () => {
      await server.ctx
        .transaction(async () => {
          sent.push(await server.ctx.jobs.send('plain', 'undone'));
          throw new Error('no');
        })
        .catch(() => {});
      sent.push(await server.ctx.jobs.send('plain', 'kept'));
      await new Promise((resolve) => setTimeout(resolve, 50));
      expect(ran.some(({ data }) => data === 'kept')).toBe(false);
    });
    await ends(sent[2]!);
    expect(ran.filter(({ data }) => data === 'kept')).toHaveLength(1);
    expect(ran.some(({ data }) => data === 'undone')).toBe(false);
    expect(await server.rows(`select id from twofold_jobs where data = '"undone"'`)).toEqual([]);
  });
});
