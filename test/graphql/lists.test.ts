import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { databases, startServer, type TestServer } from './harness.ts';

const SDL = `
  scalar DateTime
  enum Mood { CALM WILD }
  enum NoteOrder { TITLE_ASC TITLE_DESC RANK_ASC RANK_DESC }
  enum NoteField { title rank } enum Direction { ASC DESC }
  input NoteSort { field: NoteField! direction: Direction }
  input NoteFilter { title: TextFilter rank: RankFilter or: [NoteFilter!] not: NoteFilter } input TextFilter { eq: String startsWith: String } input RankFilter { gt: Int isNull: Boolean in: [Int] }
  type Note { id: ID! title: String! rank: Int mood: Mood flag: Boolean at: DateTime book: Book }
  type Book { id: ID! name: String! notes(limit: Int, offset: Int): [Note!]! page(first: Int, after: String): NoteConnection! @relation(inverse: "book") }
  type NoteConnection { edges: [NoteEdge!]! pageInfo: PageInfo! totalCount: Int! }
  type NoteEdge { node: Note! cursor: String! }
  type BareNoteConnection { nodes: [Note!]! pageInfo: PageInfo! totalCount: Int! }
  input NoteChoice @oneOf { title: TextFilter rank: RankFilter or: [NoteChoice!] }
  type PageInfo { hasNextPage: Boolean! hasPreviousPage: Boolean! startCursor: String endCursor: String }
  type Query {
    notes(orderBy: NoteOrder, mood: Mood, flag: Boolean, rank: Int, limit: Int, offset: Int): [Note!]!
    sorted(orderBy: [NoteSort!], where: NoteFilter): [Note!]! @resolve(as: LIST) @list(filter: ["title"])
    top: [Note!]! @resolve(as: LIST) @list(orderBy: ["rank DESC"], max: 2)
    pages(first: Int, after: String, last: Int, before: String, orderBy: [NoteSort!]): NoteConnection! @resolve(as: LIST)
    found(where: NoteFilter): [Note!]! @resolve(as: LIST)
    bare(first: Int, after: String): BareNoteConnection! @resolve(as: LIST)
    chosen(where: NoteChoice): [Note!]! @resolve(as: LIST)
    books: [Book!]! noteByTitle(title: String!): Note
  }
`.replace(' page(first: Int, after: String): NoteConnection! @relation(inverse: "book")', '');

describe.each(databases)('lists on %s', (database) => {
  let server: TestServer;
  beforeEach(async () => {
    server = await startServer(SDL, { database });
    await server.store.db.insertInto('books').values({ name: 'one' }).execute();
    const rows = [
      ['b', 2, 'CALM', true],
      ['a', null, 'WILD', false],
      ['c', 1, null, null],
      ['a', 3, 'CALM', true],
      ['d', null, 'WILD', null],
    ];
    for (const [title, rank, mood, flag] of rows)
      await server.store.db
        .insertInto('notes')
        .values({ title, rank, mood, flag, book_id: 1 })
        .execute();
  });
  afterEach(() => server?.close());

  const ids = async (query: string, variables = {}) => {
    const { data, errors } = await server.query(query, variables);
    return errors
      ? errors.map(({ message }) => message)
      : Object.values<any>(data)[0].map(({ id }: { id: string }) => Number(id));
  };

  it('are ordered as the schema declares it, with nothing last', async () => {
    expect(await ids('{ notes(orderBy: TITLE_ASC) { id } }')).toEqual([2, 4, 1, 3, 5]);
    expect(await ids('{ notes(orderBy: RANK_ASC) { id } }')).toEqual([3, 1, 4, 2, 5]);
    expect(await ids('{ notes(orderBy: RANK_DESC) { id } }')).toEqual([2, 5, 4, 1, 3]);
    expect(
      await ids('{ sorted(orderBy: [{ field: title, direction: DESC }, { field: rank }]) { id } }'),
    ).toEqual([5, 3, 1, 4, 2]);
    expect(await ids('{ top { id } }')).toEqual([2, 5]);
  });

  it('are filtered by arguments named as fields, null among them', async () => {
    expect(await ids('{ notes(mood: CALM, flag: true) { id } }')).toEqual([1, 4]);
    expect(await ids('query ($mood: Mood) { notes(mood: $mood) { id } }', {})).toEqual([
      1, 2, 3, 4, 5,
    ]);
    expect(await ids('query ($mood: Mood) { notes(mood: $mood) { id } }', { mood: null })).toEqual([
      3,
    ]);
    expect(await ids('{ sorted(where: { title: { startsWith: "a" } }) { id } }')).toEqual([2, 4]);
    expect(await ids('{ sorted(where: { or: [{ rank: { gt: 1 } }] }) { id } }')).toEqual([
      'rank cannot be filtered by here',
    ]);
  });

  it('know two answers to a question, so that nothing is not more than 1 and its opposite holds', async () => {
    expect(await ids('{ found(where: { rank: { gt: 1 } }) { id } }')).toEqual([1, 4]);
    expect(await ids('{ found(where: { not: { rank: { gt: 1 } } }) { id } }')).toEqual([2, 3, 5]);
    expect(await ids('{ found(where: { not: { not: { rank: { gt: 1 } } } }) { id } }')).toEqual([
      1, 4,
    ]);
    expect(await ids('{ found(where: { rank: { in: [1, null] } }) { id } }')).toEqual([2, 3, 5]);
    expect(await ids('{ found(where: { rank: { isNull: true } }) { id } }')).toEqual([2, 5]);
    expect(await ids('{ found(where: { rank: { gt: null } }) { id } }')).toEqual([
      'rank.gt must not be null: write eq: null or ne: null',
    ]);
  });

  it('are read anew for each way that variables turn the same document', async () => {
    const text =
      'query ($first: Int, $last: Int, $order: [NoteSort!]) { pages(first: $first, last: $last, orderBy: $order) { edges { node { id } } } }';
    const page = async (variables: object) =>
      (await server.query(text, variables as Record<string, unknown>)).data.pages.edges.map(
        ({ node }: any) => Number(node.id),
      );
    expect(await page({ first: 2 })).toEqual([1, 2]);
    expect(await page({ last: 2 })).toEqual([4, 5]);
    expect(await page({ first: 2, order: [{ field: 'title', direction: 'DESC' }] })).toEqual([
      5, 3,
    ]);
    expect(await page({ first: 3 })).toEqual([1, 2, 3]);
    expect(await page({})).toEqual([1, 2, 3, 4, 5]);
  });

  it('are paged by number, and more rows than there ever are in a page are refused', async () => {
    expect(await ids('{ notes(limit: 2, offset: 1) { id } }')).toEqual([2, 3]);
    expect(await ids('{ notes(limit: 0) { id } }')).toEqual([]);
    expect(await ids('{ notes(limit: 100) { id } }')).toEqual([1, 2, 3, 4, 5]);
    const [error] = (await server.query('{ notes(limit: 101) { id } }')).errors!;
    expect(error).toMatchObject({
      message: 'limit must be at most 100',
      path: ['notes'],
      extensions: { code: 'BAD_USER_INPUT', field: 'limit', limit: 100 },
    });
    expect(await ids('{ notes(limit: -1) { id } }')).toEqual(['limit must not be negative']);
    expect(await ids('{ notes(offset: -1) { id } }')).toEqual(['offset must not be negative']);
    expect(
      (await server.query('{ books { notes(limit: 2, offset: 3) { id } } }')).data.books[0].notes,
    ).toEqual([{ id: '4' }, { id: '5' }]);
  });

  it.each(['first', 'last'])(
    'refuse more rows of a connection than there are in a page: %s',
    async (size) => {
      const asked = (rows: number) =>
        server.query(`{ pages(${size}: ${rows}) { totalCount edges { cursor } } }`);
      expect((await asked(100)).data.pages.edges).toHaveLength(5);
      const { data, errors } = await asked(101);
      expect(data).toBeNull();
      expect(errors).toMatchObject([
        {
          message: `${size} must be at most 100`,
          path: ['pages'],
          extensions: { code: 'BAD_USER_INPUT', field: size, limit: 100 },
        },
      ]);
    },
  );

  it('are walked by cursors in any order, both ways, and every row is met once', async () => {
    for (const order of [
      '[]',
      '[{ field: rank }]',
      '[{ field: rank, direction: DESC }, { field: title }]',
      '[{ field: title, direction: DESC }]',
    ]) {
      const forwards = await walk(order, 'first', 'after');
      const backwards = await walk(order, 'last', 'before');
      expect([order, [...forwards].sort()]).toEqual([order, ['1', '2', '3', '4', '5']]);
      expect([order, backwards]).toEqual([order, forwards]);
    }
  });

  async function walk(
    order: string,
    size: 'first' | 'last',
    side: 'after' | 'before',
  ): Promise<string[]> {
    const met: string[] = [];
    let cursor: string | null = null;
    for (let page = 0; page < 9; page++) {
      const { data } = await server.query(
        `query ($cursor: String) { pages(${size}: 2, ${side}: $cursor, orderBy: ${order}) { edges { node { id } cursor } pageInfo { hasNextPage hasPreviousPage startCursor endCursor } } }`,
        { cursor },
      );
      const { edges, pageInfo } = data.pages;
      const found = edges.map(({ node }: any) => node.id);
      met.splice(size === 'first' ? met.length : 0, 0, ...found);
      expect(pageInfo.startCursor).toBe(edges[0]?.cursor ?? null);
      cursor = size === 'first' ? pageInfo.endCursor : pageInfo.startCursor;
      if (!(size === 'first' ? pageInfo.hasNextPage : pageInfo.hasPreviousPage)) return met;
    }
    return met;
  }

  it('refuse a cursor that is not theirs', async () => {
    for (const cursor of [
      'x',
      '5b5d',
      '5b315d5b',
      Buffer.from('[1,2,3]').toString('hex'),
      Buffer.from('[{"a":1}]').toString('hex'),
      Buffer.from('["x"]').toString('hex'),
    ]) {
      const { errors, data } = await server.query(
        'query ($cursor: String) { pages(first: 1, after: $cursor) { totalCount edges { cursor } } }',
        { cursor },
      );
      expect([cursor, errors?.[0].extensions.code ?? data.pages.edges]).toEqual([
        cursor,
        cursor === Buffer.from('["x"]').toString('hex') ? [] : 'BAD_USER_INPUT',
      ]);
    }
    expect(
      (await server.query('{ pages(first: 1, last: 1) { totalCount } }')).errors?.[0].message,
    ).toBe('give first or last, not both');
  });

  it('may be one row found by a field that is not unique: the first', async () => {
    expect((await server.query('{ noteByTitle(title: "a") { id } }')).data.noteByTitle).toEqual({
      id: '2',
    });
  });

  it('page by nodes alone, where the schema declares no edges or the query asks for none', async () => {
    const seen: string[] = [];
    let after: string | null = null;
    do {
      const { data, errors }: { data?: any; errors?: any[] } = await server.query(
        'query ($after: String) { bare(first: 2, after: $after) { totalCount nodes { id } pageInfo { hasNextPage endCursor } } }',
        { after },
      );
      expect(errors).toBeUndefined();
      expect(data.bare.totalCount).toBe(5);
      seen.push(...data.bare.nodes.map(({ id }: { id: string }) => id));
      after = data.bare.pageInfo.hasNextPage ? data.bare.pageInfo.endCursor : null;
    } while (after !== null);
    expect(seen).toEqual(['1', '2', '3', '4', '5']);
    const whole = await server.query(
      '{ pages(first: 2) { edges { cursor } pageInfo { hasNextPage hasPreviousPage startCursor endCursor } } }',
    );
    const { edges, pageInfo } = whole.data.pages;
    server.statements();
    expect(
      await server.query(
        '{ pages(first: 2) { pageInfo { hasNextPage hasPreviousPage startCursor endCursor } } }',
      ),
    ).toEqual({ data: { pages: { pageInfo } } });
    expect(pageInfo).toEqual({
      hasNextPage: true,
      hasPreviousPage: false,
      startCursor: edges[0].cursor,
      endCursor: edges[1].cursor,
    });
    expect(
      await server.query(
        '{ pages(first: 0) { nothing: pageInfo { hasNextPage endCursor } } none: pages(first: 0) { totalCount __typename } }',
      ),
    ).toEqual({
      data: {
        pages: { nothing: { hasNextPage: true, endCursor: null } },
        none: { totalCount: 5, __typename: 'NoteConnection' },
      },
    });
    expect(server.statements()).toHaveLength(3);
  });

  it('take exactly one member of a @oneOf input, wherever it stands', async () => {
    expect(await ids('{ chosen(where: { title: { eq: "a" } }) { id } }')).toEqual([2, 4]);
    expect(
      await ids('query ($where: NoteChoice) { chosen(where: $where) { id } }', {
        where: { or: [{ title: { eq: 'd' } }, { rank: { in: [1] } }] },
      }),
    ).toEqual([3, 5]);
    expect(
      await ids('query ($rank: RankFilter!) { chosen(where: { rank: $rank }) { id } }', {
        rank: { gt: 2 },
      }),
    ).toEqual([4]);
    const refused = async (query: string, variables = {}) =>
      (await server.query(query, variables)).errors?.map(({ extensions }) => extensions.code);
    const variable = 'query ($where: NoteChoice) { chosen(where: $where) { id } }';
    expect(
      await refused('{ chosen(where: { title: { eq: "a" }, rank: { gt: 1 } }) { id } }'),
    ).toEqual(['GRAPHQL_VALIDATION_FAILED']);
    expect(await refused('{ chosen(where: {}) { id } }')).toEqual(['GRAPHQL_VALIDATION_FAILED']);
    expect(await refused('{ chosen(where: { title: null }) { id } }')).toEqual([
      'GRAPHQL_VALIDATION_FAILED',
    ]);
    expect(
      await refused('query ($rank: RankFilter) { chosen(where: { rank: $rank }) { id } }', {
        rank: null,
      }),
    ).toEqual(['GRAPHQL_VALIDATION_FAILED']);
    for (const where of [
      { title: { eq: 'a' }, rank: { gt: 1 } },
      {},
      { title: null },
      { or: [{ title: { eq: 'a' } }, {}] },
      { or: [{ rank: null }] },
    ]) {
      // The second time the definitions of the variables are known already.
      for (const _ of [1, 2])
        expect([where, await refused(variable, { where })]).toEqual([where, ['BAD_USER_INPUT']]);
    }
    expect(
      (
        await server.query(
          '{ __type(name: "NoteChoice") { isOneOf } other: __type(name: "NoteFilter") { isOneOf } }',
        )
      ).data,
    ).toEqual({ __type: { isOneOf: true }, other: { isOneOf: false } });
  });
});
