import { afterEach, describe, expect, it } from 'vitest';
import { databases, startRest, type RestServer } from './harness.ts';

const manifest = (more = '') => `name: test\napi:\n  rest: true\n${more}`;

describe.each(databases)('shapes of schemas in REST on %s', (database) => {
  let server: RestServer;
  afterEach(() => server.close());

  it('has UUIDs for keys', async () => {
    server = await startRest(
      'type Item { id: ID! name: String! parent: Item } type Query { items: [Item!]! item(id: ID!): Item } type Mutation { createItem(name: String!, parentId: ID): Item! deleteItem(id: ID!): Boolean! }',
      {
        database,
        manifest: manifest('database:\n  ids: uuid\n'),
      },
    );
    const { body, headers } = await server.call('POST', '/api/items', { body: { name: 'a' } });
    expect(headers.get('location')).toBe(`/api/items/${body.id}`);
    expect((await server.get(`/api/items/${body.id}`)).body).toEqual({
      id: body.id,
      name: 'a',
      parentId: null,
    });
    expect((await server.get('/api/items/1')).body).toEqual({ error: 'Invalid id format' });
    expect((await server.get('/api/items/0190a0a0-0000-7000-8000-000000000000')).body).toEqual({
      error: 'Item not found',
    });
    const child = (
      await server.call('POST', '/api/items', { body: { name: 'b', parentId: body.id } })
    ).body;
    expect((await server.get(`/api/items?parentId=${body.id}`)).body.data).toEqual([child]);
    expect((await server.get('/api/items?parentId_isNull=true&include=parent')).body.data).toEqual([
      { ...body, parent: null },
    ]);
    expect((await server.call('DELETE', `/api/items/${child.id}`)).status).toBe(204);
  });

  it('has global ids where the schema has them, and gets by node', async () => {
    server = await startRest(
      'interface Node { id: ID! } type Item implements Node { id: ID! name: String! parent: Item } type Query { items: [Item!]! node(id: ID!): Node } type Mutation { createItem(name: String!, parentId: ID): Item! updateItem(id: ID!, name: String): Item }',
      { database, manifest: manifest() },
    );
    const { body, headers } = await server.call('POST', '/api/items', { body: { name: 'a' } });
    expect([body.id, headers.get('location')]).toEqual(['Item:1', '/api/items/Item%3A1']);
    expect((await server.get('/api/items/Item%3A1')).body).toEqual(body);
    expect((await server.get('/api/items/Item:1')).body).toEqual(body);
    expect((await server.get('/api/items/1')).body).toEqual(body);
    expect((await server.get('/api/items/Other:1')).body).toEqual({ error: 'Invalid id format' });
    expect(
      (await server.call('PATCH', '/api/items/Item:1', { body: { id: 'Item:1', name: 'b' } })).body
        .name,
    ).toBe('b');
    const child = (
      await server.call('POST', '/api/items', { body: { name: 'c', parentId: 'Item:1' } })
    ).body;
    expect(child.parentId).toBe('Item:1');
    expect((await server.get('/api/items?parentId=Item:1')).body.data).toEqual([child]);
  });

  it('embeds a row of one of several types, each as it is', async () => {
    server = await startRest(
      `type Photo { id: ID! url: String! size: Int } type Text { id: ID! body: String! size: Float } union Subject = Photo | Text
       type Star { id: ID! note: String subject: Subject }
       type Query { stars: [Star!]! star(id: ID!): Star photos: [Photo!]! texts: [Text!]! }`,
      { database, manifest: manifest() },
    );
    const { db } = server.store;
    await db.insertInto('photos').values({ url: 'u', size: 3 }).execute();
    await db.insertInto('texts').values({ body: 'b', size: 1.5 }).execute();
    await db
      .insertInto('stars')
      .values([
        { note: 'p', subject_id: 1, subject_type: 'Photo' },
        { note: 't', subject_id: 1, subject_type: 'Text' },
        { note: 'n', subject_id: null, subject_type: null },
      ])
      .execute();
    expect((await server.get('/api/stars?include=subject')).body.data).toEqual([
      { id: '1', note: 'p', subject: { __typename: 'Photo', id: '1', url: 'u', size: 3 } },
      { id: '2', note: 't', subject: { __typename: 'Text', id: '1', body: 'b', size: 1.5 } },
      { id: '3', note: 'n', subject: null },
    ]);
  });

  it('lists what the schema has as a connection, and embeds one as a list', async () => {
    server = await startRest(
      `type User { id: ID! name: String! posts(first: Int, after: String): PostConnection! }
       type Post { id: ID! title: String! user: User! }
       type PostConnection { edges: [PostEdge!]! pageInfo: PageInfo! } type PostEdge { node: Post! cursor: String! }
       type PageInfo { hasNextPage: Boolean! hasPreviousPage: Boolean! startCursor: String endCursor: String }
       type Query { posts(first: Int, after: String): PostConnection! users: [User!]! }
       type Mutation { createUser(name: String!): User! createPost(title: String!, userId: ID!): Post! }`,
      { database, manifest: manifest() },
    );
    await server.call('POST', '/api/users', { body: { name: 'Ada' } });
    for (const title of ['one', 'two', 'three'])
      await server.call('POST', '/api/posts', { body: { title, userId: '1' } });
    expect((await server.get('/api/posts?limit=2&page=2&fields=title')).body).toEqual({
      data: [{ id: '3', title: 'three' }],
      pagination: { total: 3, page: 2, page_size: 2, total_pages: 2 },
    });
    expect((await server.get('/api/users?include=posts&fields=posts.title')).body.data).toEqual([
      {
        id: '1',
        name: 'Ada',
        posts: [
          { id: '1', title: 'one' },
          { id: '2', title: 'two' },
          { id: '3', title: 'three' },
        ],
      },
    ]);
  });

  it("serves scalars of the user's own through their functions", async () => {
    server = await startRest(
      'scalar Money type Bill { id: ID! total: Money! tip: Money } type Query { bills: [Bill!]! bill(id: ID!): Bill } type Mutation { createBill(total: Money!, tip: Money): Bill! }',
      {
        database,
        manifest: manifest(),
        change: (project) => ({
          ...project,
          scalars: project.scalars.map((scalar) =>
            scalar.name === 'Money' ? { ...scalar, column: 'integer' } : scalar,
          ),
          entities: project.entities.map((entity) => ({
            ...entity,
            columns: entity.columns.map((column) =>
              column.scalar === 'Money' ? { ...column, type: 'integer' } : column,
            ),
          })),
        }),
        scalars: {
          Money: {
            type: 'integer',
            serialize: (cents) => `${(Number(cents) / 100).toFixed(2)} €`,
            parseValue: (value) => {
              const cents = Math.round(Number(String(value).replace(' €', '')) * 100);
              if (Number.isNaN(cents)) throw new Error(`secret ${String(value)}`);
              return cents;
            },
          },
        },
      },
    );
    const { status, body } = await server.call('POST', '/api/bills', { body: { total: '12.50' } });
    expect([status, body]).toEqual([201, { id: '1', total: '12.50 €', tip: null }]);
    expect((await server.get('/api/bills')).body.data).toEqual([body]);
    expect((await server.get('/api/bills?total=12.5')).body.pagination.total).toBe(1);
    expect((await server.get('/api/bills?total_gt=1')).status).toBe(400);
    expect((await server.call('POST', '/api/bills', { body: { total: 'x' } })).body).toEqual({
      error: 'total is not a valid Money',
    });
  });

  it('goes by the plural that the schema gives, and through renamed roots', async () => {
    server = await startRest(
      `schema { query: Root mutation: Changes }
       type BlogPost { id: ID! title: String! } type Person @entity(plural: "staffMembers") { id: ID! name: String! }
       type Root { blogPosts: [BlogPost!]! blogPost(id: ID!): BlogPost staffMembers: [Person!]! } type Changes { createBlogPost(title: String!): BlogPost! }`,
      { database, manifest: manifest() },
    );
    expect((await server.call('POST', '/api/blog-posts', { body: { title: 'x' } })).body).toEqual({
      id: '1',
      title: 'x',
    });
    expect((await server.get('/api/blog-posts/1')).body.title).toBe('x');
    expect((await server.get('/api/staff-members')).body.data).toEqual([]);
  });

  it('knows nothing of removed rows that are kept', async () => {
    server = await startRest(
      `scalar DateTime type Doc @entity(softDelete: true) { id: ID! title: String! lines: [Line!]! } type Line { id: ID! text: String! doc: Doc }
       type Query { docs: [Doc!]! doc(id: ID!): Doc lines: [Line!]! } type Mutation { createDoc(title: String!): Doc! updateDoc(id: ID!, title: String): Doc deleteDoc(id: ID!): Boolean! createLine(text: String!, docId: ID): Line! }`,
      { database, manifest: manifest() },
    );
    await server.call('POST', '/api/docs', { body: { title: 'a' } });
    await server.call('POST', '/api/lines', { body: { text: 'l', docId: '1' } });
    expect((await server.call('DELETE', '/api/docs/1')).status).toBe(204);
    expect((await server.get('/api/docs')).body.pagination.total).toBe(0);
    expect((await server.get('/api/docs/1')).status).toBe(404);
    expect((await server.call('PATCH', '/api/docs/1', { body: { title: 'b' } })).status).toBe(404);
    expect((await server.call('DELETE', '/api/docs/1')).status).toBe(404);
    expect((await server.get('/api/lines?include=doc')).body.data).toEqual([
      { id: '1', text: 'l', doc: null },
    ]);
    expect((await server.get('/api/lines?docId=1')).body.data).toEqual([]);
  });

  it('filters fields that are called like its own words', async () => {
    server = await startRest(
      'type Row { id: ID! order: Int! page: Int! price: Int price_in: Int } type Query { rows: [Row!]! } type Mutation { createRow(order: Int!, page: Int!, price: Int, price_in: Int): Row! }',
      { database, manifest: manifest() },
    );
    for (const [order, page] of [
      [1, 5],
      [2, 6],
    ] as const)
      await server.call('POST', '/api/rows', {
        body: { order, page, price: order, price_in: page },
      });
    const ids = async (query: string) =>
      (await server.get(`/api/rows?${query}`)).body.data.map(({ id }: { id: string }) => id);
    expect(await ids('order_eq=2')).toEqual(['2']);
    expect(await ids('page_eq=5')).toEqual(['1']);
    expect(await ids('sort=order&order=desc')).toEqual(['2', '1']);
    expect(await ids('price_in=6')).toEqual(['2']);
  });

  it('holds to what @list says of size, order and filters', async () => {
    server = await startRest(
      'type Row { id: ID! name: String! hidden: String } type Query { rows(limit: Int): [Row!]! @list(default: 2, max: 3, orderBy: ["name DESC"], filter: ["name"]) } type Mutation { createRow(name: String!, hidden: String): Row! }',
      { database, manifest: manifest() },
    );
    for (const name of ['a', 'b', 'c', 'd'])
      await server.call('POST', '/api/rows', { body: { name, hidden: 'x' } });
    const { body } = await server.get('/api/rows');
    expect(body.data.map(({ name }: { name: string }) => name)).toEqual(['d', 'c']);
    expect(body.pagination).toEqual({ total: 4, page: 1, page_size: 2, total_pages: 2 });
    expect((await server.get('/api/rows?limit=3')).body.data.length).toBe(3);
    expect((await server.get('/api/rows?limit=4')).body).toEqual({ error: 'Invalid limit number' });
    expect((await server.get('/api/rows?name=a')).body.pagination.total).toBe(1);
    expect((await server.get('/api/rows?hidden=x')).body).toEqual({
      error: 'Unknown query parameter: hidden',
    });
    expect((await server.get('/api/rows?id=1')).status).toBe(400);
  });

  it('shows counts of related rows, as its document says', async () => {
    server = await startRest(
      'type Team { id: ID! name: String! players: [Player!]! size: Int! @count(relation: "players") staffed: Boolean! @exists(relation: "players") } type Player { id: ID! name: String! team: Team! } type Query { teams: [Team!]! team(id: ID!): Team } type Mutation { createTeam(name: String!): Team! createPlayer(name: String!, teamId: ID!): Player! }',
      { database, manifest: manifest() },
    );
    for (const name of ['a', 'b']) await server.call('POST', '/api/teams', { body: { name } });
    await server.call('POST', '/api/players', { body: { name: 'x', teamId: '1' } });
    expect((await server.get('/api/teams/1')).body).toMatchObject({ size: 1, staffed: true });
    expect((await server.get('/api/teams?fields=size,staffed')).body.data).toEqual([
      { id: '1', size: 1, staffed: true },
      { id: '2', size: 0, staffed: false },
    ]);
    const team = (await server.get('/api/openapi.json')).body.components.schemas.Team.properties;
    expect([team.size, team.staffed]).toEqual([
      expect.objectContaining({ type: 'integer' }),
      expect.objectContaining({ type: 'boolean' }),
    ]);
    expect((await server.get('/api/teams?sort=size')).status).toBe(400);
    expect((await server.get('/api/teams?include=size')).status).toBe(400);
  });

  it('offers no list that would show more than the schema does', async () => {
    server = await startRest(
      'type Row { id: ID! team: String! } type Query { rows(team: String!): [Row!]! rowByTeam(team: String!): Row } type Mutation { createRow(team: String!): Row! }',
      { database, manifest: manifest() },
    );
    expect((await server.get('/api/rows')).status).toBe(405);
    expect((await server.get('/api/rows/1')).status).toBe(404);
  });

  it('bounds an answer', async () => {
    server = await startRest(
      'type Row { id: ID! text: String! } type Query { rows: [Row!]! } type Mutation { createRow(text: String!): Row! }',
      { database, manifest: manifest('  limits: { result: 2KiB }\n') },
    );
    for (let index = 0; index < 3; index++)
      await server.call('POST', '/api/rows', { body: { text: 'x'.repeat(900) } });
    const { status, body } = await server.get('/api/rows');
    expect([status, body]).toEqual([400, { error: 'the result has more than 2048 bytes' }]);
    expect((await server.get('/api/rows?limit=2')).status).toBe(200);
  });

  it('answers with what the schema shows when it shows little', async () => {
    server = await startRest(
      'type Entry { id: ID! line: String! } type Hint { id: ID! line: String! } type Query { ok: Boolean } type Mutation { createEntry(line: String!): ID! createHint(line: String!): Boolean! }',
      { database, manifest: manifest() },
    );
    const event = await server.call('POST', '/api/entries', { body: { line: 'x' } });
    expect([event.status, event.body, event.headers.get('location')]).toEqual([
      201,
      { id: '1' },
      null,
    ]);
    const hint = await server.call('POST', '/api/hints', { body: { line: 'x' } });
    expect([hint.status, hint.text, hint.headers.get('location')]).toEqual([201, '', null]);
  });
});
