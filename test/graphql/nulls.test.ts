import { afterEach, describe, expect, it } from 'vitest';
import { databases, startServer, type TestServer } from './harness.ts';

let server: TestServer;
afterEach(() => server.close());

const SDL = `
  scalar BigInt
  scalar Decimal
  enum Direction { ASC DESC }
  type Author { id: ID! name: String books: [Book!]! }
  type Book { id: ID! title: String views: Int amount: BigInt price: Decimal author: Author }
  input StringFilter { eq: String ne: String in: [String] notIn: [String] lt: String lte: String gt: String gte: String contains: String startsWith: String endsWith: String isNull: Boolean }
  input IntFilter { eq: Int ne: Int in: [Int] notIn: [Int] lt: Int gte: Int }
  input IdFilter { eq: ID ne: ID in: [ID] notIn: [ID] }
  input AuthorFilter { name: StringFilter books: BookListFilter }
  input BookListFilter { some: BookFilter every: BookFilter none: BookFilter }
  input BookFilter { title: StringFilter views: IntFilter authorId: IdFilter author: AuthorFilter and: [BookFilter!] or: [BookFilter!] not: BookFilter }
  input BookOrder { views: Direction title: Direction id: Direction }
  input BookInput { title: String views: Int amount: BigInt price: Decimal authorId: ID }
  type Query {
    books(where: BookFilter, orderBy: BookOrder): [Book!]!
    ordered(orderBy: [BookOrder!]): [Book!]! @resolve(as: LIST)
    echo(amount: BigInt, price: Decimal): String
  }
  type Mutation { createBook(input: BookInput!): Book! createAuthor(name: String): Author! }
`;

async function start(database: 'sqlite' | 'postgres'): Promise<void> {
  server = await startServer(SDL, {
    database,
    resolvers: {
      Query: {
        echo: (_: unknown, { amount, price }: { amount: unknown; price: unknown }) =>
          JSON.stringify([amount, price]),
      },
    },
  });
}

/** Three books: one with everything, one with other values, one with nothing. */
async function fill(): Promise<void> {
  const { errors } = await server.query(`mutation {
    author: createAuthor(name: "Ada") { id }
    nameless: createAuthor { id }
    a: createBook(input: { title: "alpha", views: 1, authorId: 1 }) { id }
    b: createBook(input: { title: "beta", views: 2, authorId: 2 }) { id }
    c: createBook(input: {}) { id }
  }`);
  expect(errors).toBeUndefined();
}

const ids = async (where: string): Promise<string[] | string> => {
  const { data, errors } = await server.query(`{ books(where: ${where}) { id } }`);
  return errors ? errors[0].extensions.code : data.books.map(({ id }: { id: string }) => id);
};

describe.each(databases)('null in a filter, on %s', (database) => {
  it('means that there is no value; left out it means nothing', async () => {
    await start(database);
    await fill();
    const cases: Record<string, string[] | string> = {
      '{ title: null }': ['3'],
      '{ title: { eq: null } }': ['3'],
      '{ title: { ne: null } }': ['1', '2'],
      '{ title: { in: ["alpha", null] } }': ['1', '3'],
      '{ title: { notIn: ["alpha", null] } }': ['2'],
      '{ title: { in: [] } }': [],
      '{ title: { notIn: [] } }': ['1', '2', '3'],
      '{ author: null }': ['3'],
      '{ not: { author: null } }': ['1', '2'],
      '{ author: { name: null } }': ['2'],
      null: ['1', '2', '3'],
      '{}': ['1', '2', '3'],
      '{ title: {} }': ['1', '2', '3'],
      '{ and: [] }': ['1', '2', '3'],
      '{ or: [] }': [],
    };
    for (const [where, expected] of Object.entries(cases))
      expect([where, await ids(where)]).toEqual([where, expected]);
    for (const word of 'lt lte gt gte contains startsWith endsWith in notIn isNull'.split(' '))
      expect([word, await ids(`{ title: { ${word}: null } }`)]).toEqual([word, 'BAD_USER_INPUT']);
    const refused = await server.query('{ books(where: { title: { lt: null } }) { id } }');
    expect(refused.errors![0]).toMatchObject({
      message: 'title.lt must not be null: write eq: null or ne: null',
      extensions: { field: 'title.lt' },
    });
    // The same by variables: a statement that is kept must not serve another meaning of null.
    for (const [value, expected] of [
      ['alpha', ['1']],
      [null, ['3']],
    ] as const) {
      const { data } = await server.query(
        'query ($value: String) { books(where: { title: { eq: $value } }) { id } }',
        { value },
      );
      expect(data.books.map(({ id }: { id: string }) => id)).toEqual(expected);
    }
  });

  it('compares as false, and its opposite as true', async () => {
    await start(database);
    await fill();
    const opposites: [string, string][] = [
      ['{ views: { eq: 1 } }', '{ views: { ne: 1 } }'],
      ['{ views: { in: [1] } }', '{ views: { notIn: [1] } }'],
      ['{ authorId: { eq: 1 } }', '{ authorId: { ne: 1 } }'],
      ['{ authorId: { eq: "no key" } }', '{ authorId: { ne: "no key" } }'],
      ['{ authorId: { in: ["no key"] } }', '{ authorId: { notIn: ["no key"] } }'],
      ['{ views: { lt: 2 } }', '{ not: { views: { lt: 2 } } }'],
      ['{ title: { contains: "a" } }', '{ not: { title: { contains: "a" } } }'],
      ['{ author: { name: { eq: "Ada" } } }', '{ not: { author: { name: { eq: "Ada" } } } }'],
    ];
    for (const [where, opposite] of opposites) {
      const [one, other] = [await ids(where), await ids(opposite)] as [string[], string[]];
      expect([where, [...one, ...other].sort()]).toEqual([where, ['1', '2', '3']]);
      expect(one).not.toContain('3');
      expect(await ids(`{ not: ${opposite} }`)).toEqual(one);
    }
  });
});

describe.each(databases)('orderBy, on %s', (database) => {
  it('is in the order that the caller wrote, in a literal and in variables', async () => {
    await start(database);
    for (const [title, views] of [
      ['a', 2],
      ['b', 1],
      ['a', 1],
      ['b', 2],
    ])
      await server.query(
        `mutation { createBook(input: { title: "${title}", views: ${views} }) { id } }`,
      );
    const asked = async (query: string, variables = {}) => {
      const { data, errors } = await server.query(query, variables);
      expect(errors).toBeUndefined();
      return Object.values<any>(data)[0].map(({ id }: { id: string }) => id);
    };
    const byTitle = ['2', '4', '3', '1'];
    const byViews = ['2', '3', '4', '1'];
    expect(await asked('{ books(orderBy: { title: DESC, views: ASC }) { id } }')).toEqual(byTitle);
    expect(await asked('{ books(orderBy: { views: ASC, title: DESC }) { id } }')).toEqual(byViews);
    expect(await asked('{ ordered(orderBy: { title: DESC, views: ASC }) { id } }')).toEqual(
      byTitle,
    );
    expect(await asked('{ ordered(orderBy: [{ title: DESC, views: ASC }]) { id } }')).toEqual(
      byTitle,
    );
    const query = 'query ($by: BookOrder) { books(orderBy: $by) { id } }';
    expect(await asked(query, { by: { title: 'DESC', views: 'ASC' } })).toEqual(byTitle);
    expect(await asked(query, { by: { views: 'ASC', title: 'DESC' } })).toEqual(byViews);
    const list = 'query ($by: [BookOrder!]) { ordered(orderBy: $by) { id } }';
    expect(await asked(list, { by: { title: 'DESC', views: 'ASC' } })).toEqual(byTitle);
    expect(await asked(list, { by: [{ title: 'DESC', views: 'ASC' }] })).toEqual(byTitle);
    const mixed = 'query ($v: Direction) { books(orderBy: { title: DESC, views: $v }) { id } }';
    expect(await asked(mixed, { v: 'ASC' })).toEqual(byTitle);
  });
});

describe.each(databases)('BigInt and Decimal, on %s', (database) => {
  const LARGE = '9007199254740993';

  it('are text on the wire and in own code, exact or refused', async () => {
    await start(database);
    const echo = async (args: string) => (await server.query(`{ echo(${args}) }`)).data?.echo;
    expect(await echo(`amount: ${LARGE}, price: ${LARGE}1234`)).toBe(`["${LARGE}","${LARGE}1234"]`);
    expect(await echo('amount: 7, price: 7.50')).toBe('["7","7.50"]');
    expect(await echo('amount: "-7", price: "0.12345678901234567890"')).toBe(
      '["-7","0.12345678901234567890"]',
    );
    const byVariables = (variables: string) =>
      server.call('POST', '/graphql', {
        body: `{"query":"query ($amount: BigInt, $price: Decimal) { echo(amount: $amount, price: $price) }","variables":${variables}}`,
      });
    const exact = await byVariables('{"amount":9007199254740991,"price":-9007199254740991}');
    expect(exact.body.data.echo).toBe('["9007199254740991","-9007199254740991"]');
    expect((await byVariables('{"price":1234.5678}')).body.data.echo).toBe('[null,"1234.5678"]');
    for (const variables of [
      `{"amount":${LARGE}}`,
      '{"amount":1.5}',
      '{"amount":9223372036854775808}',
      '{"amount":"9223372036854775808"}',
      `{"price":${LARGE}}`,
      '{"price":123456789012345678.9}',
      '{"price":0.1234567890123456}',
      '{"price":1e300}',
    ]) {
      const { body } = await byVariables(variables);
      expect([variables, body.errors?.[0].extensions.code]).toEqual([variables, 'BAD_USER_INPUT']);
    }
    const made = await server.query(
      `mutation { createBook(input: { amount: ${LARGE}, price: "12345678901234567890.123" }) { amount price } }`,
    );
    expect(made.data.createBook).toEqual({ amount: LARGE, price: '12345678901234567890.123' });
  });
});
