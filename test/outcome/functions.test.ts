import { setTimeout as pause } from 'node:timers/promises';
import { beforeEach, expect, it, vi } from 'vitest';
import { atOnce, everywhere } from './places.ts';

const SDL = `
  type Counter { id: ID! n: Int! }
  type Doctor { id: ID! name: String! onCall: Boolean! }
  type Sent { id: ID! by: Int! }
  type Query { counter(id: ID!): Counter sents: [Sent!]! }
  type Mutation {
    add(id: ID!): Counter
    leave(name: String!): Boolean!
    told(id: ID!): Int!
    swallowed(id: ID!): Int!
    once(id: ID!): Int!
    setCounter(id: ID!, n: Int!): Counter @resolve(as: UPDATE)
  }
  type Subscription { added: Int! }
`;
const seen = { committed: 0, attempts: [] as number[], values: [] as boolean[], runs: 0 };

/** Subscribes to `added`, and counts its events. */
async function listen(url: string) {
  const abort = new AbortController();
  const response = await fetch(`${url}/graphql`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', accept: 'text/event-stream' },
    body: JSON.stringify({ query: 'subscription { added }' }),
    signal: abort.signal,
  });
  let text = '';
  const read = async () => {
    for await (const piece of response.body!) text += Buffer.from(piece).toString();
  };
  read().catch(() => {});
  return { count: () => text.split('event: next').length - 1, stop: () => abort.abort() };
}

/** Reads, waits until others have read too, and writes. */
async function increment(ctx: any, id: unknown, within?: () => Promise<unknown>): Promise<number> {
  const { n } = await ctx.data.counter.findUnique({ where: { id } });
  await pause(5);
  await within?.();
  await ctx.data.counter.update({ where: { id }, data: { n: n + 1 } });
  return n + 1;
}

const resolvers = {
  Mutation: {
    add: async (_: unknown, { id }: any, ctx: any) => ({ id, n: await increment(ctx, id) }),
    leave: async (_: unknown, { name }: any, ctx: any) => {
      const others = await ctx.data.doctor.count({ where: { onCall: true, name: { ne: name } } });
      await pause(20);
      if (others === 0) return false;
      const { id } = await ctx.data.doctor.findFirst({ where: { name } });
      await ctx.data.doctor.update({ where: { id }, data: { onCall: false } });
      return true;
    },
    told: async (_: unknown, { id }: any, ctx: any) => {
      seen.attempts.push(ctx.attempt);
      seen.values.push(ctx.values.get('mine')[1]);
      ctx.values.set('mine', true);
      ctx.afterCommit(() => (seen.committed += 1));
      ctx.publish('added', 1);
      return increment(ctx, id, () => ctx.jobs.send('note', { by: 1 }));
    },
    swallowed: async (_: unknown, { id }: any, ctx: any) => {
      const { n } = await ctx.data.counter.findUnique({ where: { id } });
      await pause(5);
      await ctx
        .transaction(() => ctx.data.counter.update({ where: { id }, data: { n: n + 1 } }))
        .catch(() => {});
      return n + 1;
    },
    once: {
      transaction: { retries: 0 },
      resolve: async (_: unknown, { id }: any, ctx: any) => {
        seen.runs += 1;
        return increment(ctx, id);
      },
    },
  },
};
const jobs = {
  note: { run: async ({ data, ctx }: any) => void (await ctx.data.sent.create({ data })) },
  step: {
    transaction: true,
    run: async ({ data, ctx }: any) => void (await increment(ctx, data.id)),
  },
};
const hooks = {
  Sent: {
    afterOperation: { create: ({ ctx, item }: any) => item.by > 1 && increment(ctx, item.by) },
  },
};

everywhere('functions', { sdl: SDL, resolvers, jobs, entityHooks: hooks as never }, (servers) => {
  const n = async () =>
    ((await servers[0]!.ctx.data) as any).counter
      .findUnique({ where: { id: 2 } })
      .then((row: any) => row.n);

  beforeEach(async () => {
    Object.assign(seen, { committed: 0, attempts: [], values: [], runs: 0 });
    const { data } = servers[0]!.ctx as any;
    await data.counter.createMany({ data: [{ n: 0 }, { n: 0 }] });
    await data.doctor.createMany({
      data: [
        { name: 'ann', onCall: true },
        { name: 'bob', onCall: true },
      ],
    });
  });

  it('20 that read a number and write one more end at 20', async () => {
    const since = performance.now();
    const answers = await atOnce(servers, 20, ({ query }) =>
      query('mutation { add(id: 2) { n } }'),
    );
    expect(answers.flatMap(({ errors = [] }) => errors)).toEqual([]);
    expect(await n()).toBe(20);
    expect(performance.now() - since).toBeLessThan(5_000);
  });

  it('each sees its own write in the answer, and inferred mutations between them are not lost', async () => {
    await atOnce(servers, 10, ({ query }, at) =>
      query(
        at === 4
          ? 'mutation { setCounter(id: 2, n: 1000) { n } }'
          : 'mutation { add(id: 2) { n } }',
      ),
    );
    const last = await n();
    expect(last).toBeGreaterThanOrEqual(1000);
    expect(last).toBeLessThanOrEqual(1009);
  });

  it('two that check the row of the other before they write their own do not both pass', async () => {
    for (let round = 0; round < 5; round += 1) {
      const answers = await atOnce(servers, 2, ({ query }, at) =>
        query(`mutation { leave(name: "${['ann', 'bob'][at]}") }`),
      );
      expect(answers.map(({ data }) => data.leave).sort()).toEqual([false, true]);
      await servers[0]!.ctx.data.doctor.updateMany({
        where: { onCall: false },
        data: { onCall: true },
      });
    }
  });

  it('side effects of an attempt that lost are dropped, and happen once', async () => {
    const answers = await atOnce(servers, 20, ({ query }) => query('mutation { told(id: 2) }'));
    expect(answers.map(({ data }) => data.told).sort((a, b) => a - b)).toEqual(
      Array.from({ length: 20 }, (_, at) => at + 1),
    );
    await vi.waitFor(async () => expect(await servers[0]!.ctx.data.sent.count()).toBe(20), {
      timeout: 20_000,
      interval: 200,
    });
    await pause(300);
    expect(await servers[0]!.ctx.data.sent.count()).toBe(20);
    expect(seen.committed).toBe(20);
    expect(seen.values).not.toContain(true);
    expect(seen.attempts.filter((each) => each === 1).length).toBe(20);
    if (servers.length === 1) return;
    const again = seen.attempts.length - 20;
    expect(again).toBeGreaterThan(0);
    const told = servers
      .flatMap(({ lines }) => lines)
      .filter((line) => line.includes('runs again'));
    expect(told.length).toBe(again);
    expect(told.filter((line) => line.includes('retries: 0')).length).toBeLessThanOrEqual(2);
  });

  it('what an attempt that lost has published reaches nobody, and each subscriber gets the rest once', async () => {
    const streams = await Promise.all(servers.map(({ url }) => listen(url)));
    await atOnce(servers, 20, ({ query }) => query('mutation { told(id: 2) }'));
    if (servers.length > 1) expect(seen.attempts.length).toBeGreaterThan(20);
    await vi.waitFor(() => streams.forEach(({ count }) => expect(count()).toBe(20)), {
      timeout: 10_000,
      interval: 100,
    });
    await pause(500);
    expect(streams.map(({ count }) => count())).toEqual(servers.map(() => 20));
    for (const { stop } of streams) stop();
  });

  it('one that swallows the error of its loss runs again all the same', async () => {
    await atOnce(servers, 10, ({ query }) => query('mutation { swallowed(id: 2) }'));
    expect(await n()).toBe(10);
  });

  it('with retries: 0 it is never run again, and says CONFLICT', async () => {
    const answers = await atOnce(servers, 10, ({ query }) => query('mutation { once(id: 2) }'));
    expect(seen.runs).toBe(10);
    const refused = answers.flatMap(({ errors = [] }) => errors);
    expect(await n()).toBe(10 - refused.length);
    for (const { extensions } of refused)
      expect(extensions).toEqual({ code: 'CONFLICT', reason: 'SERIALIZATION' });
  });

  it('hooks of a write and jobs with a transaction are run again too', async () => {
    await Promise.all([
      atOnce(servers, 10, ({ ctx }) => ctx.data.sent.create({ data: { by: 2 } })),
      atOnce(servers, 10, ({ ctx }) => ctx.jobs.send('step', { id: 2 })),
    ]);
    await vi.waitFor(async () => expect(await n()).toBe(20), { timeout: 20_000, interval: 200 });
  });
});

everywhere(
  'functions with the defaults of an earlier release',
  { sdl: SDL, resolvers, jobs, manifest: 'name: outcome\ndefaults: "0.0"' },
  (servers) => {
    it('are read committed, and never run again', async () => {
      await servers[0]!.ctx.data.counter.createMany({ data: [{ n: 0 }, { n: 0 }] });
      seen.attempts.length = 0;
      const answers = await atOnce(servers, 20, ({ query }) => query('mutation { told(id: 2) }'));
      expect(answers.flatMap(({ errors = [] }) => errors)).toEqual([]);
      expect(seen.attempts).toEqual(Array.from({ length: 20 }, () => 1));
    });
  },
);
