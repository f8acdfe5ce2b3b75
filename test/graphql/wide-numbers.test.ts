import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { databases, startServer, type TestServer } from './harness.ts';

const SDL = `
  scalar Long scalar Byte scalar JSON
  type Account {
    id: ID! name: String balance: Long photo: Byte document: JSON owner: Owner
    label(as: String): String next(by: Int): Long other(as: String): Long broken(as: String): String
  }
  type Owner { id: ID! name: String total: Long accounts(orderBy: [AccountOrder!], first: Int, after: String): AccountConnection! }
  type AccountConnection { edges: [AccountEdge!]! totalCount: Int! }
  type AccountEdge { node: Account! cursor: String! }
  enum Direction { ASC DESC }
  input AccountOrder { balance: Direction }
  type AccountAggregate { max: AccountMax! sum: AccountSum! }
  type AccountMax { balance: Long } type AccountSum { balance: Float }
  type Query {
    accounts: [Account!]! account(id: ID!): Account owners: [Owner!]! mine: [Account!]! own: Account told: String!
    accountsAggregate: AccountAggregate!
  }
  type Mutation { createAccount(name: String, balance: Long, photo: Byte, document: JSON, ownerId: ID): Account! createOwner(name: String, total: Long): Owner! }
`;

const [WIDE, HIGH] = ['9007199254740993', '9223372036854775807'];

/** The text of an answer: `JSON.parse` would round what is looked at. */
async function textOf(server: TestServer, query: string): Promise<string> {
  const response = await fetch(`${server.url}${server.project.api.path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ query }),
  });
  // PostgreSQL writes spaces between the members.
  return (await response.text()).replaceAll(/"\s*:\s*/g, '":').replaceAll(/,\s+(?=["{])/g, ',');
}

describe.each(databases)('a Long beyond 2^53 on %s', (database) => {
  let server: TestServer;
  beforeAll(async () => {
    server = await startServer(SDL, {
      database,
      resolvers: {
        Account: {
          label: (row: any) => `${typeof row.balance} ${row.balance}`,
          next: (row: any) => BigInt(row.balance) - 1n,
          other: (row: any) => row.balance,
          broken: () => Promise.reject(new Error('broken')),
        },
        Query: {
          mine: (_: unknown, __: unknown, ctx: any) => ctx.data.account.findMany({}),
          own: (_: unknown, __: unknown, ctx: any) =>
            ctx.data.account.findUnique({ where: { id: '2' } }),
          told: async (_: unknown, __: unknown, ctx: any) =>
            JSON.stringify([
              (await ctx.graphql('{ account(id: 1) { balance } }')).account.balance,
              (await ctx.data.account.findUnique({ where: { id: '1' } })).balance,
            ]),
        },
      },
    });
    const made = await textOf(
      server,
      `mutation {
        o: createOwner(name: "Ada", total: ${HIGH}) { id }
        a: createAccount(name: "a", balance: ${WIDE}, photo: "AAEC", document: { n: 7, deep: [12] }, ownerId: 1) { id }
        b: createAccount(name: "b", balance: -${WIDE}, ownerId: 1) { id }
        c: createAccount(name: "c", balance: ${HIGH}, ownerId: 1) { id }
        d: createAccount(name: "d", balance: 5, ownerId: 1) { id }
      }`,
    );
    expect(made).not.toContain('errors');
  });
  afterAll(() => server.close());

  it.each([
    ['a plan alone', '{ account(id: 1) { balance } }', `{"balance":${WIDE}}`],
    [
      'a field of bytes beside it',
      '{ account(id: 1) { photo balance } }',
      `{"photo":"AAEC","balance":${WIDE}}`,
    ],
    [
      'a function beside it, whose row has text',
      '{ account(id: 1) { balance label } }',
      `{"balance":${WIDE},"label":"string ${WIDE}"}`,
    ],
    [
      'functions that return it as text and as a bigint',
      '{ account(id: 1) { other next } }',
      `{"other":${WIDE},"next":9007199254740992}`,
    ],
    [
      'rows of the data API',
      '{ mine { balance } }',
      `[{"balance":${WIDE}},{"balance":-${WIDE}},{"balance":${HIGH}},{"balance":5}]`,
    ],
    [
      'a relation of such a row',
      '{ own { owner { total accounts { totalCount edges { node { balance } } } } } }',
      `{"owner":{"total":${HIGH},"accounts":{"totalCount":4,"edges":[{"node":{"balance":${WIDE}}},{"node":{"balance":-${WIDE}}},{"node":{"balance":${HIGH}}},{"node":{"balance":5}}]}}}`,
    ],
    ['an aggregate', '{ accountsAggregate { max { balance } } }', `{"max":{"balance":${HIGH}}}`],
    [
      'what a mutation returns, with a function',
      `mutation { createOwner(name: "x", total: ${WIDE}) { total } }`,
      `{"total":${WIDE}}`,
    ],
  ])('is answered with all digits: %s', async (_, query, expected) => {
    const text = await textOf(server, query);
    expect(text.slice(text.indexOf(':', 9) + 1, -2)).toBe(expected);
  });

  it('is answered with all digits beside a field that failed', async () => {
    const text = await textOf(server, '{ account(id: 1) { balance } accounts { broken } told }');
    expect(text).toContain('"errors":[');
    expect(text).toContain(`"balance":${WIDE}`);
    expect(text).toContain(`"told":"[\\"${WIDE}\\",\\"${WIDE}\\"]"`);
  });

  it('is a number for own code up to 2^53, and a document has numbers', async () => {
    expect(await textOf(server, '{ account(id: 4) { label balance } }')).toContain(
      '{"label":"number 5","balance":5}',
    );
    expect(await textOf(server, '{ account(id: 1) { label document } }')).toContain(
      '"document":{"n":7,"deep":[12]}',
    );
  });

  it('stands in cursors with all digits', async () => {
    const page = async (after: string | null) => {
      const text = await textOf(
        server,
        `{ owners { id accounts(first: 1, orderBy: [{ balance: DESC }], after: ${JSON.stringify(after)}) { edges { cursor node { name photo } } } } }`,
      );
      return JSON.parse(text).data.owners[0].accounts.edges[0];
    };
    const names: string[] = [];
    for (let edge = await page(null); edge; edge = await page(edge.cursor)) {
      names.push(edge.node.name);
      if (names.length > 4) break;
    }
    expect(names).toEqual(['c', 'a', 'd', 'b']);
  });
});
