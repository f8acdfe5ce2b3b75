import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { inferred } from '../../runtime/core/inferred.ts';
import { databases, startServer, type TestServer } from './harness.ts';

const SDL = `
  type Note { id: ID! text: String! @unique }
  type Query { notes: [Note!]! }
  type Mutation {
    createNote(text: String!): Note!
    nest(order: [String!]!, fail: Boolean): Int!
    free(order: [String!]!, fail: Boolean): Int!
  }
`;

const HANDLES = ['db', 'data', 'inferred', 'transaction'] as const;
type Handle = (typeof HANDLES)[number] | 'lock';
type Next = () => Promise<void>;

/** Writes a row by the handle and runs `next` as deep inside of it as the handle lets. */
const WAYS: Readonly<Record<Handle, (ctx: any, text: string, next: Next) => Promise<void>>> = {
  db: (ctx, text, next) =>
    ctx.db.transaction().execute(async (trx: any) => {
      await trx.insertInto('notes').values({ text }).execute();
      await next();
    }),
  transaction: (ctx, text, next) =>
    ctx.transaction(async () => {
      await ctx.db.insertInto('notes').values({ text }).execute();
      await next();
    }),
  lock: (ctx, text, next) =>
    ctx.lock('notes', async () => {
      await ctx.data.note.create({ data: { text } });
      await next();
    }),
  data: async (ctx, text, next) => {
    await ctx.data.note.create({ data: { text } });
    await next();
  },
  inferred: async (ctx, text, next) => {
    await ctx.graphql('mutation ($text: String!) { createNote(text: $text) { text } }', { text });
    await next();
  },
};

const run = async (_: unknown, { order, fail }: any, ctx: any): Promise<number> => {
  const step = async (depth: number): Promise<void> => {
    if (depth < order.length)
      return WAYS[order[depth] as Handle](ctx, `${depth}`, () => step(depth + 1));
    if (fail) throw new RangeError('mine');
  };
  await step(0);
  // All handles see what was written, before the commit.
  expect(await ctx.data.note.count()).toBe(order.length);
  expect((await ctx.graphql('{ notes { id } }')).notes.length).toBe(order.length);
  return order.length;
};

const resolvers = {
  Mutation: {
    createNote: (parent: any, args: any, ctx: any, info: any) => inferred(parent, args, ctx, info),
    nest: run,
    free: {
      transaction: false as const,
      resolve: (parent: any, args: any, ctx: any) => ctx.transaction(() => run(parent, args, ctx)),
    },
  },
};

const pairs = HANDLES.flatMap((first) => HANDLES.map((second) => [first, second]));
const triples = pairs.flatMap((pair) => HANDLES.map((third) => [...pair, third]));
const locks = HANDLES.flatMap((handle) => [
  ['lock', handle],
  [handle, 'lock', 'lock'],
]);

describe.each(databases)('transactions nested in every order on %s (acceptance 3)', (database) => {
  let server: TestServer;
  let folder: string;

  beforeEach(async () => {
    folder = mkdtempSync(join(tmpdir(), 'twofold-nesting-'));
    const file = database === 'sqlite' ? { url: `file:${join(folder, 'app.db')}` } : { database };
    server = await startServer(SDL, { resolvers, pool: 1, ...file });
  });
  afterEach(async () => {
    await server.close();
    rmSync(folder, { recursive: true });
  });

  const texts = async () =>
    (await server.query('{ notes { text } }')).data.notes.map(({ text }: any) => text);

  /** Each run takes a second at most. */
  async function within<T>(order: readonly string[], run: () => Promise<T>): Promise<T> {
    const since = performance.now();
    const done = await run();
    expect(performance.now() - since, order.join()).toBeLessThanOrEqual(1000);
    return done;
  }

  it.each([
    ['nest', [...pairs, ...triples, ...locks]],
    ['free', pairs],
  ])('are all or nothing, each within a second, by %s', async (field, orders) => {
    const mutation = `mutation ($order: [String!]!, $fail: Boolean) { ${field}(order: $order, fail: $fail) }`;
    for (const order of orders) {
      const failed = await within(order, () => server.query(mutation, { order, fail: true }));
      expect(failed.errors?.[0].message, order.join()).toBe('Internal server error');
      expect(await texts(), order.join()).toEqual([]);
      const done = await within(order, () => server.query(mutation, { order }));
      expect(done, order.join()).toEqual({ data: { [field]: order.length } });
      expect(await texts()).toEqual(order.map((_, depth) => String(depth)));
      await server.store.db.deleteFrom('notes').execute();
    }
  });
});
