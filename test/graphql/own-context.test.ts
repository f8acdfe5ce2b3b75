import { sql } from 'kysely';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { AppError } from '../../runtime/core/errors.ts';
import { inferred } from '../../runtime/core/inferred.ts';
import { systemContext } from '../../runtime/core/own-context/system-context.ts';
import { databases, startServer, type TestServer } from './harness.ts';

const SDL = `
  type Account { id: ID! owner: String! @unique balance: Int! @default(value: 0) }
  type Query { accounts: [Account!]! account(id: ID!): Account }
  type Mutation {
    createAccount(owner: String!): Account!
    renamed(owner: String!): Account!
    nothing: Boolean!
    late(owner: String!): Account!
    patient(owner: String!): Boolean!
    strict(owner: String!): Boolean!
  }
`;
const MANIFEST = 'name: own\ndatabase: { transaction_timeout: 300ms }\n';
const forever = () => new Promise<never>(() => {});

const resolvers = {
  Mutation: {
    renamed: (parent: any, args: any, ctx: any, info: any) =>
      inferred(parent, { name: args.owner }, ctx, info),
    nothing: () => true,
    late: async (_: unknown, { owner }: any, ctx: any) => {
      const account = await ctx.data.account.create({ data: { owner } });
      ctx.afterCommit(() => events.push(`made ${owner}`));
      if (owner === 'bad') throw new AppError(409, 'CONFLICT', 'taken');
      return account;
    },
    patient: {
      transaction: false as const,
      resolve: async (_: unknown, { owner }: any, ctx: any) => {
        await ctx.data.account.create({ data: { owner } });
        throw new AppError(409, 'CONFLICT', 'taken');
      },
    },
    strict: {
      transaction: { isolation: 'serializable' as const, timeout: '100ms' },
      resolve: async (_: unknown, { owner }: any, ctx: any) => {
        await ctx.transaction(() => ctx.data.account.create({ data: { owner } }), {
          isolation: 'serializable',
        });
        return forever();
      },
    },
  },
};
const events: string[] = [];

describe.each(databases)('the context of your own code on %s', (database) => {
  let server: TestServer;
  let ctx: any;

  beforeEach(async () => {
    events.length = 0;
    server = await startServer(SDL, { resolvers, database, manifest: MANIFEST });
    const log = {
      child: () => log,
      warn: () => {},
      debug: () => {},
      error: () => events.push('logged'),
    };
    ctx = systemContext({ store: server.store, log: log as never });
  });
  afterEach(() => server.close());

  const open = (owner: string, context = ctx) => context.data.account.create({ data: { owner } });
  const owners = async () =>
    (await ctx.data.account.findMany()).map(({ owner }: { owner: string }) => owner);

  it('still reads and writes after its signal was aborted, when no request waits for it', async () => {
    ctx.cancel();
    await ctx.data.account.create({ data: { owner: 'late' } });
    await ctx.data.account.update({ where: { id: 1 }, data: { balance: 2 } });
    expect(await ctx.data.account.findMany()).toMatchObject([{ owner: 'late', balance: 2 }]);
  });

  it('reads for as long as it takes, when no request waits for it', async () => {
    await server.close();
    server = await startServer(SDL, {
      database,
      change: (project) => ({
        ...project,
        api: { ...project.api, limits: { ...project.api.limits, time: 1 } },
      }),
    });
    const log = { child: () => log };
    ctx = systemContext({ store: server.store, log: log as never });
    const data = Array.from({ length: 5000 }, (_, at) => ({
      owner: `owner ${at} ${'x'.repeat(500)}`,
    }));
    await ctx.data.account.createMany({ data });
    expect(await ctx.data.account.count({ where: { owner: { contains: ' 49' } } })).toBe(111);
  });

  it('runs a function of Mutation as one transaction, begun with its first statement', async () => {
    server.statements();
    expect(await server.query('mutation { nothing }')).toEqual({ data: { nothing: true } });
    expect(server.statements()).toEqual([]);
    const good = await server.query('mutation { late(owner: "ann") { owner } }');
    expect(good).toEqual({ data: { late: { owner: 'ann' } } });
    expect((await server.query('mutation { late(owner: "bad") { id } }')).errors?.[0].message).toBe(
      'taken',
    );
    expect(await owners()).toEqual(['ann']);
    expect(events).toEqual(['made ann']);
    await server.query('mutation { patient(owner: "kept") }');
    expect(await owners()).toEqual(['ann', 'kept']);
  });

  it('takes the options of a function: its time limit says where it was opened', async () => {
    const { errors } = await server.query('mutation { strict(owner: "ann") }');
    expect(errors?.[0].extensions.code).toBe('TIMEOUT');
    expect(server.lines.some((line) => line.includes('the transaction was opened here'))).toBe(
      true,
    );
    expect(await owners()).toEqual([]);
  });

  it('rolls back a callback that never ends; others write (acceptance 4)', async () => {
    const begun = Promise.withResolvers<void>();
    const stuck = ctx.transaction(async () => {
      await open('stuck');
      begun.resolve();
      await forever();
    });
    await begun.promise;
    const since = performance.now();
    const during = open('during').then(() => performance.now() - since);
    await expect(stuck).rejects.toMatchObject({ code: 'TIMEOUT' });
    if (database === 'postgres') expect(await during).toBeLessThan(250);
    else await during;
    await open('after');
    expect(await owners()).toEqual(['during', 'after']);
  });

  it('refuses a statement after the end of its transaction', async () => {
    let later: Promise<unknown> = forever();
    const ended = Promise.withResolvers<void>();
    await ctx.transaction(async () => {
      await open('ann');
      later = ended.promise.then(() => open('late'));
    });
    ended.resolve();
    await expect(later).rejects.toMatchObject({ code: 'TRANSACTION_CLOSED' });
    expect(await owners()).toEqual(['ann']);
  });

  it('adds rightly in 50 serializable transactions side by side (acceptance 5)', async () => {
    const { id } = await open('ann');
    const add = () =>
      ctx.transaction(
        async () => {
          const { balance } = await ctx.data.account.findUnique({ where: { id } });
          await ctx.data.account.update({ where: { id }, data: { balance: balance + 1 } });
        },
        { isolation: 'serializable', timeout: '30s' },
      );
    await Promise.all(Array.from({ length: 50 }, add));
    expect((await ctx.data.account.findUnique({ where: { id } })).balance).toBe(50);
  });

  // SQLite has one writer at a time, so that nothing fails so.
  if (database === 'postgres') {
    /** The first insert of an owner "fails N" is refused N times: a sequence is not rolled back. */
    const refuseSome = async () => {
      const { db } = server.store;
      await sql`create sequence tries`.execute(db);
      await sql`create function refuse() returns trigger language plpgsql as $$ begin
        if nextval('tries') <= split_part(new.owner, ' ', 2)::int
        then raise exception 'no' using errcode = '40001'; end if;
        return new; end $$`.execute(db);
      await sql`create trigger refuse before insert on accounts for each row execute function refuse()`.execute(
        db,
      );
    };
    const serialization = { code: 'CONFLICT', extensions: { reason: 'SERIALIZATION' } };

    it.each([
      [3, undefined, 4, true],
      [5, undefined, 6, true],
      [2, 1, 2, false],
      [1, 0, 1, false],
    ])(
      'with %i serialization failures and %s retries runs a callback %i times',
      async (failures, retries, times, succeeds) => {
        await refuseSome();
        let ran = 0;
        const done = ctx.transaction(
          () => {
            ran += 1;
            return open(`fails ${failures}`);
          },
          { ...(retries !== undefined && { retries }) },
        );
        if (succeeds) await done;
        else await expect(done).rejects.toMatchObject(serialization);
        expect(ran).toBe(times);
      },
    );

    it('runs an inferred mutation and a function of Mutation again after a serialization failure', async () => {
      await refuseSome();
      const tries = async () =>
        (await sql<{ n: number }>`select last_value::int n from tries`.execute(server.store.db))
          .rows[0]!.n;
      const create = 'mutation ($owner: String!) { createAccount(owner: $owner) { owner } }';
      expect(await server.query(create, { owner: 'fails 3' })).toMatchObject({
        data: { createAccount: { owner: 'fails 3' } },
      });
      expect(await tries()).toBe(4);
      expect((await server.query(create, { owner: 'fails 99' })).errors?.[0].extensions).toEqual({
        code: 'CONFLICT',
        reason: 'SERIALIZATION',
      });
      expect(await tries()).toBe(8);
      expect(await server.query('mutation { late(owner: "fails 10") { owner } }')).toEqual({
        data: { late: { owner: 'fails 10' } },
      });
      expect(events).toEqual(['made fails 10']);
      const { errors } = await server.query('mutation { late(owner: "fails 999") { id } }');
      expect(errors?.[0].extensions).toEqual({ code: 'CONFLICT', reason: 'SERIALIZATION' });
    });
  }

  it('refuses more isolation inside than around it', async () => {
    const nested = ctx.transaction(
      () => ctx.transaction(() => open('ann'), { isolation: 'serializable' }),
      { isolation: 'read committed' },
    );
    if (database === 'sqlite') await nested;
    else await expect(nested).rejects.toMatchObject({ code: 'TRANSACTION_ISOLATION' });
  });

  it('calls work after the outermost commit, once, and never of what was undone (acceptance 6)', async () => {
    await ctx.transaction(async () => {
      ctx.afterCommit(() => events.push('outer'));
      await ctx.transaction(async () => void ctx.afterCommit(() => events.push('inner')));
      await ctx
        .transaction(async () => {
          ctx.afterCommit(() => events.push('undone'));
          throw new Error('mine');
        })
        .catch(() => {});
      ctx.afterCommit(() => {
        throw new Error('logged, and changes no answer');
      });
      expect(events).toEqual([]);
    });
    await new Promise(setImmediate);
    expect(events).toEqual(['outer', 'inner', 'logged']);
    await ctx
      .transaction(async () => {
        ctx.afterCommit(() => events.push('rolled back'));
        throw new Error('mine');
      })
      .catch(() => {});
    expect(events).toEqual(['outer', 'inner', 'logged']);
  });

  it('keeps what must outlive a rollback, and once', async () => {
    const count = () => server.store.keep(() => open(`kept ${(kept += 1)}`));
    let kept = 0;
    await ctx
      .transaction(async () => {
        await open('undone');
        await ctx.transaction(async () => {
          await count();
          throw new Error('inner');
        });
      })
      .catch(() => {});
    expect((await owners()).length).toBe(1);
    kept = 10;
    await ctx.transaction(async () => {
      await ctx
        .transaction(async () => {
          await count();
          throw new Error('inner');
        })
        .catch(() => {});
    });
    await count();
    expect((await owners()).slice(1)).toEqual(['kept 12', 'kept 13']);
  });

  it('locks a name for one at a time, and joins inside itself', async () => {
    let inside = 0;
    let most = 0;
    const locked = () =>
      ctx.lock('stock', () =>
        ctx.lock('stock', async () => {
          most = Math.max(most, (inside += 1));
          await ctx.transaction(() => open(`o${Math.random()}`));
          inside -= 1;
        }),
      );
    await Promise.all(Array.from({ length: 12 }, locked));
    expect(most).toBe(1);
    expect((await owners()).length).toBe(12);
  });

  it('empties the loaders of a request with any write of it', async () => {
    const request = ctx.sudo();
    expect(await request.loaders.account.load(1)).toBe(null);
    await open('ann', request);
    expect(await request.loaders.account.load(1)).toMatchObject({ owner: 'ann' });
    await request.db.updateTable('accounts').set({ owner: 'bob' }).execute();
    expect(await request.loaders.account.load(1)).toMatchObject({ owner: 'bob' });
    await request.db.selectFrom('accounts').selectAll().execute();
    request.loaders.account.clear(1).prime(1, { owner: 'eve' });
    expect(await request.loaders.account.load(1)).toEqual({ owner: 'eve' });
    await ctx.sudo().graphql('mutation { createAccount(owner: "cas") { id } }');
    await request.sudo().data.account.update({ where: { id: 1 }, data: { balance: 3 } });
    expect(await request.loaders.account.load(1)).toMatchObject({ owner: 'bob', balance: 3 });
  });

  it('runs an operation as the caller: its data, or its first error', async () => {
    expect(await ctx.graphql('mutation { createAccount(owner: "ann") { owner } }')).toEqual({
      createAccount: { owner: 'ann' },
    });
    await expect(
      ctx.graphql('mutation ($owner: String!) { createAccount(owner: $owner) { id } }', {
        owner: 'ann',
      }),
    ).rejects.toMatchObject({ code: 'CONFLICT' });
    await expect(ctx.graphql('{ nobody }')).rejects.toThrow('Cannot query field');
  });

  it('names an argument that the inferred action does not know', async () => {
    const { errors } = await server.query('mutation { renamed(owner: "ann") { id } }');
    expect(errors?.[0].message).toBe('Internal server error');
    expect(server.lines.join()).toContain('Mutation.renamed has no argument name');
  });
});
