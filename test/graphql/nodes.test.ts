import { createHash } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Principal } from '../../runtime/core/context/request-context.ts';
import { inferred } from '../../runtime/core/inferred.ts';
import { operationOf, read } from '../schema/reading.ts';
import { databases, startServer, user, type TestServer } from './harness.ts';

const SDL = `
  interface Node { id: ID! }
  interface Titled { title: String! }
  type User implements Node @auth(allow: [USER], on: [READ]) { id: ID! name: String! email: String @auth(allow: [OWNER], on: [READ]) notes: [Note!]! @relation(inverse: "owner") newest: [Note!]! @list(relation: "notes", orderBy: ["id DESC"], default: 1) }
  type Note implements Node & Titled @auth(allow: [OWNER], owner: "owner") { id: ID! title: String! owner: User! pieces: [Piece!]! }
  type Piece implements Node & Titled @auth(allow: [PUBLIC]) { id: ID! title: String! note: Note! shout: String! @computed }
  type Region implements Node @table(name: "region", key: ["country", "code"]) @auth(allow: [PUBLIC]) { id: ID! country: String! code: String! name: String! }
  type Secret implements Node @auth(allow: [ROLE], roles: ["admin"]) { id: ID! text: String! }
  type Plain @auth(allow: [PUBLIC]) { id: ID! text: String! }
  type Query {
    node(id: ID!): Node @auth(allow: [PUBLIC])
    nodes(ids: [ID!]!): [Node]! @auth(allow: [PUBLIC])
    plains: [Plain!]!
    hello: String! @auth(allow: [PUBLIC])
  }
`;

const MANIFEST =
  'name: nodes\nauth: { roles: { list: [user, admin] } }\napi: { limits: { list: 100 } }\n';
const SELECTION = `__typename id
  ... on Titled { title }
  ... on User { name notes { title pieces { title } } }
  ... on Note { owner { name } }
  ...PieceParts
  ... on Region { name country }
  ... on Secret { text }`;
const FRAGMENT = 'fragment PieceParts on Piece { named: title note { id } }';
const NODES = `query ($ids: [ID!]!) { nodes(ids: $ids) { ${SELECTION} } } ${FRAGMENT}`;
const NODE = `query ($id: ID!) { node(id: $id) { ${SELECTION} } } ${FRAGMENT}`;

const ADMIN: Principal = user(2, 'admin');
const CALLERS = [
  ['nobody', undefined],
  ['a user with rows', user(1)],
  ['a user without rows', user(3)],
  ['an admin', ADMIN],
] as const;

/** A hundred ids: of every type, of rows that are there, gone, hidden and given twice, and no ids. */
const IDS = Array.from({ length: 100 }, (_, index) => {
  const row = 1 + (index % 6);
  const code = ['DE:BY', 'DE:BE', 'DE:XX', 'DE', 'FR:a%3Ab', 'FR:a:b'][index % 6];
  return [
    `Piece:${row}`,
    `Note:${row}`,
    `Region:${code}`,
    `User:${row}`,
    `Secret:${row}`,
    `Plain:${row}`,
    ['7', 'Note', 'Note:', 'Note:x', ':1', 'Nothing:1', 'constructor:1', 'Note:1:2', ''][
      index % 9
    ]!,
  ][index % 7]!;
});

async function insert({ store, project }: TestServer): Promise<void> {
  const rows: Record<string, object[]> = {
    User: ['Ada', 'Bob', 'Cyd'].map((name) => ({ name, email: `${name}@example.test` })),
    Note: [1, 1, 2, 2].map((owner_id, index) => ({ title: `n${index}`, owner_id })),
    Piece: [1, 2, 3, 4, 1].map((note_id, index) => ({ title: `p${index}`, note_id })),
    Region: ['DE BY', 'DE BE', 'FR a:b'].map((text) => {
      const [country, code] = text.split(' ');
      return { country, code, name: `in ${country}` };
    }),
    Secret: [{ text: 's' }, { text: 't' }],
    Plain: [{ text: 'plain' }],
  };
  for (const [entity, values] of Object.entries(rows)) {
    const { table } = project.entities.find(({ name }) => name === entity)!;
    await store.db.insertInto(table).values(values).execute();
  }
}

const RESOLVERS = {
  Query: { hello: () => 'hello' },
  Piece: { shout: ({ title }: { title: string }) => `${title}!` },
};

describe.each(databases)('nodes(ids:) on %s', (database) => {
  let server: TestServer;
  beforeAll(async () => {
    server = await startServer(SDL, { database, manifest: MANIFEST, resolvers: RESOLVERS });
    await insert(server);
  });
  afterAll(() => server?.close());

  const ask = async (query: string, variables = {}, as?: Principal) => {
    server.statements();
    const answer = await server.query(query, variables, as);
    return { ...answer, statements: server.statements() };
  };
  const data = async (query: string, variables = {}, as?: Principal) => {
    const answer = await ask(query, variables, as);
    expect(answer.errors).toBeUndefined();
    return answer.data;
  };
  /** What `node(id:)` answers for each id, as if it were one list. */
  const oneByOne = async (ids: readonly string[], as?: Principal) => {
    const known = new Map<string, { data?: any; errors?: any[] }>();
    for (const id of new Set(ids)) known.set(id, await server.query(NODE, { id }, as));
    const answers = ids.map((id) => known.get(id)!);
    return {
      nodes: answers.map((answer) => answer.data.node),
      errors: answers.flatMap(({ errors = [] }, index) =>
        errors.map(({ message, path: [, ...rest] }) => ({
          message,
          path: ['nodes', index, ...rest],
        })),
      ),
    };
  };

  it('is a row for each id in the order of the ids, and null where there is none', async () => {
    const ids = ['Piece:2', 'User:1', 'Piece:99', 'Piece:1', 'Plain:1', 'nonsense', 'Piece:2'];
    const { statements, ...answer } = await ask(
      'query ($ids: [ID!]!) { nodes(ids: $ids) { __typename id ... on Piece { title } ... on User { name } } }',
      { ids },
      user(1),
    );
    expect(answer).toEqual({
      data: {
        nodes: [
          { __typename: 'Piece', id: 'Piece:2', title: 'p1' },
          { __typename: 'User', id: 'User:1', name: 'Ada' },
          null,
          { __typename: 'Piece', id: 'Piece:1', title: 'p0' },
          null,
          null,
          { __typename: 'Piece', id: 'Piece:2', title: 'p1' },
        ],
      },
    });
    expect(statements).toHaveLength(1);
  });

  it.each(CALLERS)('answers %s as node(id:) does, in one statement', async (_, as) => {
    const wanted = await oneByOne(IDS, as);
    const { errors = [], statements, ...found } = await ask(NODES, { ids: IDS }, as);
    expect(found.data.nodes).toEqual(wanted.nodes);
    expect(errors.map(({ message, path }) => ({ message, path }))).toEqual(wanted.errors);
    expect(statements).toHaveLength(1);
    expect(new Set(wanted.nodes.map((node) => node?.__typename)).size).toBeGreaterThan(1);
  });

  it('hides from a stranger what the rules hide, alone and among others', async () => {
    const query = '{ nodes(ids: ["Note:1", "Piece:1", "Secret:1"]) { id } }';
    const piece = { id: 'Piece:1' };
    expect(await data(query)).toEqual({ nodes: [null, piece, null] });
    expect(await data(query, {}, user(3))).toEqual({ nodes: [null, piece, null] });
    expect(await data(query, {}, user(1))).toEqual({ nodes: [{ id: 'Note:1' }, piece, null] });
    expect(await data(query, {}, ADMIN)).toEqual({
      nodes: [null, piece, { id: 'Secret:1' }],
    });
  });

  it('shows a field that a rule hides in some rows in the others, with its error there', async () => {
    const { errors, ...answer } = await ask(
      '{ nodes(ids: ["User:2", "User:1"]) { ... on User { name email } } }',
      {},
      user(1),
    );
    expect(answer.data).toEqual({
      nodes: [
        { name: 'Bob', email: null },
        { name: 'Ada', email: 'Ada@example.test' },
      ],
    });
    expect(errors).toMatchObject([
      { path: ['nodes', 0, 'email'], extensions: { code: 'FORBIDDEN' } },
    ]);
  });

  it('makes the row null whose required object is hidden, and keeps the others', async () => {
    const query = '{ nodes(ids: ["Piece:1", "Region:DE:BY"]) { id ... on Piece { note { id } } } }';
    const { errors, ...answer } = await ask(query, {}, user(3));
    expect(answer.data).toEqual({ nodes: [null, { id: 'Region:DE:BY' }] });
    expect(errors).toMatchObject([{ path: ['nodes', 0, 'note'] }]);
  });

  it('takes no ids, a single id, and aliases', async () => {
    expect(
      await data(
        '{ none: nodes(ids: []) { id } one: nodes(ids: "Piece:1") { id } other: nodes(ids: ["Region:FR:a%3Ab"]) { ... on Region { code } } unknown: nodes(ids: ["a", "b"]) { id } }',
      ),
    ).toEqual({
      none: [],
      one: [{ id: 'Piece:1' }],
      other: [{ code: 'a:b' }],
      unknown: [null, null],
    });
  });

  it('is read beside functions, and gives rows to them', async () => {
    const { statements, ...answer } = await ask(
      '{ hello nodes(ids: ["Piece:3", "Piece:77", "Region:DE:BE"]) { id ... on Piece { shout } ... on Region { code } } }',
    );
    expect(answer).toEqual({
      data: {
        hello: 'hello',
        nodes: [{ id: 'Piece:3', shout: 'p2!' }, null, { id: 'Region:DE:BE', code: 'BE' }],
      },
    });
    expect(statements).toHaveLength(1);
  });

  it('gives null for an id with characters that no key has, and rows for those beside it', async () => {
    const ids = ['Region:a%00:b', 'Region:\u0000:b', 'Region:\ud800:b', 'Note:\udc00', 'Piece:1'];
    expect(await data('query ($ids: [ID!]!) { nodes(ids: $ids) { id } }', { ids })).toEqual({
      nodes: [null, null, null, null, { id: 'Piece:1' }],
    });
  });

  it('tells of lists in its rows that end before their rows do', async () => {
    const answer = await ask(
      '{ nodes(ids: ["Piece:1", "User:3", "User:1"]) { ... on User { newest { title } } } }',
      {},
      user(1),
    );
    expect(answer).toMatchObject({
      data: { nodes: [{}, { newest: [] }, { newest: [{ title: 'n1' }] }] },
      extensions: { cut: [{ path: ['nodes', 'newest'], size: 1 }] },
    });
  });

  it('is answered as a persisted document', async () => {
    const query = 'query ($ids: [ID!]!) { nodes(ids: $ids) { id } }';
    const sha256Hash = createHash('sha256').update(query).digest('hex');
    const extensions = { persistedQuery: { version: 1, sha256Hash } };
    const post = async (body: object) => (await server.call('POST', '/graphql', { body })).body;
    await post({ query, variables: { ids: [] }, extensions });
    for (const ids of [['Piece:1'], ['Piece:2', 'Region:DE:BY', 'Piece:99']])
      expect(await post({ variables: { ids }, extensions })).toEqual({
        data: { nodes: ids.map((id) => (id === 'Piece:99' ? null : { id })) },
      });
  });

  it('refuses more ids than a list has rows, before a statement', async () => {
    const ids = Array.from({ length: 101 }, () => 'Piece:1');
    const refused = {
      message: 'ids must have at most 100 items',
      path: ['nodes'],
      extensions: { code: 'BAD_USER_INPUT', field: 'ids', value: 101, limit: 100 },
    };
    const literal = `{ nodes(ids: ${JSON.stringify(ids)}) { id } }`;
    for (const [query, variables] of [
      ['query ($ids: [ID!]!) { nodes(ids: $ids) { id } }', { ids }],
      [literal, {}],
      [literal.replace('{ id }', '{ id ... on Piece { shout } }'), {}],
    ] as const) {
      const { errors, data: answered, statements } = await ask(query, variables);
      expect(errors).toMatchObject([refused]);
      expect([answered, statements]).toEqual([null, []]);
    }
    const { data: full } = await ask('query ($ids: [ID!]!) { nodes(ids: $ids) { id } }', {
      ids: ids.slice(1),
    });
    expect(full.nodes).toEqual(ids.slice(1).map((id) => ({ id })));
  });

  it('has one statement for any number of ids of the same types', async () => {
    const query = 'query ($ids: [ID!]!) { nodes(ids: $ids) { id } }';
    const texts = new Set<string>();
    for (const ids of [
      ['Piece:1', 'User:1'],
      ['User:9', 'Piece:2', 'User:3', 'x', 'Nothing:1'],
    ])
      for (const text of (await ask(query, { ids }, user(1))).statements) texts.add(text);
    expect(texts.size).toBe(1);
    const [alone = ''] = (await ask(query, { ids: ['Piece:1'] }, user(1))).statements;
    expect(alone).not.toContain('users');
  });
});

describe.each(databases)('nodes(ids:) with a function of the project, on %s', (database) => {
  it('is given to it with the ids, and the function may ask for others', async () => {
    const server = await startServer(SDL, {
      database,
      manifest: MANIFEST,
      resolvers: {
        ...RESOLVERS,
        Query: {
          ...RESOLVERS.Query,
          nodes: async (parent, { ids }, ctx, info) =>
            inferred(parent, { ids: ids.toReversed() }, ctx, info),
        },
      },
    });
    try {
      await insert(server);
      const query = '{ nodes(ids: ["Piece:1", "Secret:1", "Region:DE:BY"]) { __typename id } }';
      expect(await server.query(query)).toEqual({
        data: {
          nodes: [
            { __typename: 'Region', id: 'Region:DE:BY' },
            null,
            { __typename: 'Piece', id: 'Piece:1' },
          ],
        },
      });
    } finally {
      await server.close();
    }
  });

  it('finds keys that are UUIDs and texts', async () => {
    const server = await startServer(
      `interface Node { id: ID! }
       type Item implements Node { id: ID! name: String! }
       type Code implements Node @table(name: "codes", key: ["code"]) { id: ID! code: String! @column(type: "varchar(3)") name: String! }
       type Query { nodes(ids: [ID!]!): [Node]! node(id: ID!): Node items: [Item!]! codes: [Code!]! }
       type Mutation { createItem(name: String!): Item! createCode(code: String!, name: String!): Code! }`,
      { database, manifest: 'name: uuids\ndatabase: { ids: uuid }\n' },
    );
    try {
      const made = await server.query(
        'mutation { createItem(name: "one") { id } createCode(code: "abc", name: "two") { id } }',
      );
      expect(made.errors).toBeUndefined();
      const { id } = made.data.createItem;
      const ids = [made.data.createCode.id, 'Code:abcd', id, id.toUpperCase(), 'Item:1'];
      const answer = await server.query(
        'query ($ids: [ID!]!) { nodes(ids: $ids) { ... on Item { name } ... on Code { name } } }',
        { ids },
      );
      const wanted = await Promise.all(
        ids.map((each) =>
          server.query(
            'query ($id: ID!) { node(id: $id) { ... on Item { name } ... on Code { name } } }',
            { id: each },
          ),
        ),
      );
      expect(answer).toEqual({ data: { nodes: wanted.map(({ data }) => data.node) } });
      expect(answer.data.nodes.slice(0, 3)).toEqual([{ name: 'two' }, null, { name: 'one' }]);
    } finally {
      await server.close();
    }
  });
});

describe('the cost of nodes(ids:)', () => {
  let server: TestServer;
  beforeAll(async () => {
    server = await startServer(SDL, {
      manifest: MANIFEST,
      resolvers: RESOLVERS,
      change: (project) => ({
        ...project,
        api: { ...project.api, limits: { ...project.api.limits, cost: 0 } },
      }),
    });
  });
  afterAll(() => server?.close());

  const ids = ['Piece:1', 'Piece:2', 'Note:1'];
  it.each([
    ['ids in the document', `{ nodes(ids: ${JSON.stringify(ids)}) { id } }`, {}, 3],
    ['a single id', '{ nodes(ids: "Piece:1") { id } }', {}, 1],
    ['a variable', 'query ($ids: [ID!]!) { nodes(ids: $ids) { id } }', { ids }, 3],
    ['a default', 'query ($ids: [ID!]! = ["a", "b"]) { nodes(ids: $ids) { id } }', {}, 2],
    ['a variable in a list', 'query ($id: ID!) { nodes(ids: [$id, "a"]) { id } }', { id: 'b' }, 2],
    [
      'what each row has',
      'query ($ids: [ID!]!) { nodes(ids: $ids) { ... on Piece { note { owner { name } } } } }',
      { ids },
      9,
    ],
    [
      'the cap, when more are given',
      'query ($ids: [ID!]!) { nodes(ids: $ids) { id } }',
      { ids: IDS.concat(IDS) },
      100,
    ],
  ])('counts %s', async (_, query, variables, value) => {
    const { errors } = await server.query(query, variables);
    expect(errors).toMatchObject([{ extensions: { code: 'TOO_COSTLY', value } }]);
  });
});

describe('a field nodes', () => {
  const more =
    'interface Node { id: ID! } type User implements Node { id: ID! name: String! } type Text { text: String! }';
  const queried = (field: string) => {
    const { project, diagnostics } = read(`type Query { ${field} users: [User!]! } ${more}`);
    const { action, decidedBy } = operationOf(project!, 'nodes');
    const found = diagnostics.find(({ code }) => code === 'NOT_INFERRED');
    return { kind: action.kind, decidedBy, why: found?.why, fix: found?.fix };
  };

  it('is inferred by the shape that Relay gives it', () => {
    expect(queried('nodes(ids: [ID!]!): [Node]!')).toMatchObject({
      kind: 'nodes',
      decidedBy: 'nodes',
    });
  });

  it.each([
    'nodes(ids: [ID!]!): [Node!]!',
    'nodes(ids: [ID!]!): [Node]',
    'nodes(ids: [ID!]): [Node]!',
    'nodes(ids: [String!]!): [Node]!',
    'nodes(ids: [ID!]!, limit: Int): [Node]!',
  ])('is left to the project as %s, with the shape that is served', (field) => {
    const { kind, why, fix } = queried(field);
    expect(kind).toBe('custom');
    expect(why).toBe(
      'what is served has an item for each id, which is null where there is no row to see',
    );
    expect(fix).toContain('nodes(ids: [ID!]!): [Node]!');
  });

  it('is a list as ever without ids, and of other types', () => {
    expect(queried('nodes: [Node!]!').kind).toBe('listAbstract');
    expect(queried('nodes(limit: Int): [Node]!').kind).toBe('listAbstract');
    expect(queried('nodes(ids: [ID!]!): [Text]!').kind).toBe('custom');
  });
});
