import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { failure } from '../../runtime/core/errors.ts';
import { inferred } from '../../runtime/core/inferred.ts';
import { databases, startServer, type TestServer } from './harness.ts';

const SDL = `
  type Account { id: ID! owner: String! @unique balance: Int! log: [Entry!]! }
  type Entry { id: ID! text: String! account: Account! }
  type Query { accounts: [Account!]! }
  type Mutation {
    createAccount(owner: String!, balance: Int!): Account!
    createEntry(text: String!, accountId: ID!): Entry!
    move(from: ID!, to: ID!, amount: Int!): Account!
    careless(owner: String!): Account!
  }
`;

/** Each mutation here waits, inside its transaction, for every other way of writing. */
const resolvers = {
  Mutation: {
    createAccount: (parent: any, args: any, ctx: any, info: any) =>
      ctx.db.transaction().execute(async () => {
        const account: any = await inferred(parent, args, ctx, info);
        await ctx.db.insertInto('accounts').values({ owner: 'bank', balance: 0 }).execute();
        if (args.balance < 0) throw failure.invalid('a new account is not in debt');
        return account;
      }),
    move: (_: unknown, { from, to, amount }: any, ctx: any) =>
      ctx.db.transaction().execute(async (trx: any) => {
        await trx.updateTable('accounts').set({ balance: 0 }).where('id', '=', from).execute();
        // By another handle than the transaction's own: this waited for ever.
        await ctx.db
          .updateTable('accounts')
          .set({ balance: amount })
          .where('id', '=', to)
          .execute();
        return ctx.loaders.account.load(to);
      }),
    // The inner transaction is a part of the outer one.
    careless: (_: unknown, { owner }: any, ctx: any) =>
      ctx.db.transaction().execute(async () => {
        const insert = (name: string) =>
          ctx.db
            .insertInto('accounts')
            .values({ owner: name, balance: 1 })
            .returningAll()
            .executeTakeFirst();
        const made = await ctx.db.transaction().execute(() => insert(owner));
        await ctx.db
          .transaction()
          .execute(() => insert(owner))
          .catch(() => {});
        return made;
      }),
  },
};

describe.each(databases)('a mutation of your own inside a transaction on %s', (database) => {
  let server: TestServer;
  beforeEach(async () => {
    server = await startServer(SDL, { resolvers, database });
  });
  afterEach(() => server.close());

  const accounts = async () => (await server.query('{ accounts { owner balance } }')).data.accounts;

  it('writes by the inferred action and by every handle, all or nothing', async () => {
    const create =
      'mutation ($balance: Int!) { createAccount(owner: "ann", balance: $balance) { id } }';
    expect((await server.query(create, { balance: -1 })).errors?.[0].extensions.code).toBe(
      'BAD_USER_INPUT',
    );
    expect(await accounts()).toEqual([]);
    expect((await server.query(create, { balance: 5 })).errors).toBeUndefined();
    expect(await accounts()).toEqual([
      { owner: 'ann', balance: 5 },
      { owner: 'bank', balance: 0 },
    ]);
  });

  it('goes on, and so does everybody else, when many run at the same time', async () => {
    const owners = ['a', 'b', 'c'];
    for (const owner of owners)
      await server.store.db.insertInto('accounts').values({ owner, balance: 9 }).execute();
    const moves = Array.from({ length: 25 }, (_, index) =>
      server.query(
        'mutation ($amount: Int!) { move(from: 1, to: 2, amount: $amount) { balance } }',
        { amount: index },
      ),
    );
    const entry = server.query('mutation { createEntry(text: "x", accountId: 3) { text } }');
    const answers = await Promise.all(moves);
    expect(answers.map(({ data }) => data.move.balance)).toEqual(answers.map((_, index) => index));
    expect((await entry).data).toEqual({ createEntry: { text: 'x' } });
  });

  it('keeps what came before a nested transaction that failed', async () => {
    const careless = await server.query('mutation { careless(owner: "eve") { owner } }');
    expect(careless).toEqual({ data: { careless: { owner: 'eve' } } });
    expect(await accounts()).toEqual([{ owner: 'eve', balance: 1 }]);
  });
});
