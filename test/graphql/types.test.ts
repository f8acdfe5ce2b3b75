import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { databases, startServer, type TestServer } from './harness.ts';

const SDL = `
  interface Node { id: ID! }
  interface Named { id: ID! name: String! }
  union Subject = Person | Company
  scalar Money
  type Person implements Node & Named { id: ID! name: String! age: Int friend: Person }
  type Company implements Node & Named { id: ID! name: String! staff: [Review!]! }
  type Review { id: ID! text: String! about: Subject! by: Person }
  type Product { id: ID! price: Money! size: Size }
  type Size { width: Int! height: Int! unit: String }
  input SizeInput { width: Int! height: Int! unit: String }
  input ProductInput { price: Money! size: SizeInput }
  type Query { node(id: ID!): Node person(id: ID!): Person people: [Person!]! named: [Named!]! subjects(limit: Int, offset: Int): [Subject!]! reviews: [Review!]! products: [Product!]! }
  type Mutation { createPerson(name: String!, friendId: ID): Person! createProduct(input: ProductInput!): Product! }
`;

describe.each(databases)('types on %s', (database) => {
  let server: TestServer;
  beforeEach(async () => {
    server = await startServer(SDL.replace('staff: [Review!]!', 'motto: String'), {
      database,
      scalars: {
        Money: {
          type: 'integer',
          serialize: (cents: number) => `${(cents / 100).toFixed(2)} EUR`,
          parseValue: (text: unknown) => Math.round(Number(String(text).replace(' EUR', '')) * 100),
        },
      },
      change: (project) => ({
        ...project,
        entities: project.entities.map((entity) => ({
          ...entity,
          columns: entity.columns.map((column) =>
            column.scalar === 'Money' ? { ...column, type: 'integer' as const } : column,
          ),
        })),
      }),
    });
    const { db } = server.store;
    await db
      .insertInto('people')
      .values([{ name: 'Ada', age: 36 }, { name: 'Bob' }])
      .execute();
    await db
      .insertInto('companies')
      .values([{ name: 'Acme', motto: 'yes' }])
      .execute();
    server.statements();
  });
  afterEach(() => server?.close());
  const data = async (query: string, variables = {}) => {
    const answer = await server.query(query, variables);
    expect(answer.errors).toBeUndefined();
    return answer.data;
  };

  it('have one list for an interface and a union, in one statement', async () => {
    expect(
      await data('{ named { __typename id name ... on Person { age } ... on Company { motto } } }'),
    ).toEqual({
      named: [
        { __typename: 'Company', id: 'Company:1', name: 'Acme', motto: 'yes' },
        { __typename: 'Person', id: 'Person:1', name: 'Ada', age: 36 },
        { __typename: 'Person', id: 'Person:2', name: 'Bob', age: null },
      ],
    });
    expect(server.statements()).toHaveLength(1);
    expect(
      await data(
        '{ subjects(limit: 1, offset: 1) { ... on Named { name } ... on Person { __typename } } }',
      ),
    ).toEqual({ subjects: [{ name: 'Ada', __typename: 'Person' }] });
  });

  it('have a field that points at one of several', async () => {
    const columns =
      server.project.entities
        .find(({ name }) => name === 'Review')
        ?.columns.map(({ name }) => name) ?? [];
    expect(columns).toEqual(expect.arrayContaining(['about_type', 'about_id']));
    await server.store.db
      .insertInto('reviews')
      .values([
        { text: 'a', about_type: 'Company', about_id: 1 },
        { text: 'b', about_type: 'Person', about_id: 2, by_id: 1 },
      ])
      .execute();
    server.statements();
    expect(
      await data(
        '{ reviews { text about { __typename ... on Company { motto } ... on Person { name } } by { name } } }',
      ),
    ).toEqual({
      reviews: [
        { text: 'a', about: { __typename: 'Company', motto: 'yes' }, by: null },
        { text: 'b', about: { __typename: 'Person', name: 'Bob' }, by: { name: 'Ada' } },
      ],
    });
    expect(server.statements()).toHaveLength(1);
    await server.store.db
      .updateTable('reviews')
      .set({ about_id: 77 })
      .where('text', '=', 'a')
      .execute();
    expect(await server.query('{ reviews { text about { __typename } } }')).toMatchObject({
      data: null,
      errors: [
        {
          path: ['reviews', 0, 'about'],
          message: 'Cannot return null for non-nullable field Review.about.',
        },
      ],
    });
  });

  it('have global ids where they implement Node', async () => {
    expect(
      await data(
        '{ node(id: "Person:2") { __typename id ... on Person { name } } company: node(id: "Company:1") { id } nothing: node(id: "Person:99") { id } wrong: node(id: "7") { id } }',
      ),
    ).toEqual({
      node: { __typename: 'Person', id: 'Person:2', name: 'Bob' },
      company: { id: 'Company:1' },
      nothing: null,
      wrong: null,
    });
    expect(
      await data(
        '{ person(id: "Person:1") { name } same: person(id: "1") { name } other: person(id: "Company:1") { name } }',
      ),
    ).toEqual({ person: { name: 'Ada' }, same: { name: 'Ada' }, other: null });
    expect(
      await data(
        'mutation { createPerson(name: "Cyd", friendId: "Person:1") { id friend { id } } }',
      ),
    ).toEqual({ createPerson: { id: 'Person:3', friend: { id: 'Person:1' } } });
  });

  it('may have scalars of the user and objects in a column', async () => {
    expect(
      await data(
        'mutation ($input: ProductInput!) { createProduct(input: $input) { price size { w: width unit } } }',
        { input: { price: '12.50 EUR', size: { width: 3, height: 4 } } },
      ),
    ).toEqual({ createProduct: { price: '12.50 EUR', size: { w: 3, unit: null } } });
    expect(await data('{ products { id price size { height } } }')).toEqual({
      products: [{ id: '1', price: '12.50 EUR', size: { height: 4 } }],
    });
    expect(
      await server.store.db.selectFrom('products').select(['price', 'size']).execute(),
    ).toMatchObject([{ price: 1250, size: { width: 3, height: 4 } }]);
    expect(server.statements().length).toBe(2);
  });
});

describe.each(databases)(
  'the other end of a key that may be of several types, on %s',
  (database) => {
    const ENDS = `
    union Subject = Person | Company
    type Person { id: ID! name: String! reviews(where: ReviewFilter): [Review!]! }
    type Company { id: ID! name: String! reviews: [Review!]! }
    type Review { id: ID! text: String! about: Subject }
    input ReviewFilter { text: TextFilter } input TextFilter { eq: String }
    input PersonFilter { name: TextFilter reviews: ReviewMany } input ReviewMany { some: ReviewFilter none: ReviewFilter }
    input PersonInput { name: String! reviews: PersonReviews } input PersonReviews { create: [ReviewInput!] connect: [IdInput!] disconnect: [IdInput!] } input ReviewInput { text: String! } input IdInput { id: ID! }
    input PersonPatch { reviews: PersonReviews }
    type PersonPayload { person: Person errors: [String!]! }
    type Query { people(where: PersonFilter): [Person!]! companies: [Company!]! reviews(where: ReviewFilter): [Review!]! }
    type Mutation { createPerson(input: PersonInput!): PersonPayload! updatePerson(id: ID!, input: PersonPatch!): Person }
  `;

    it('holds its own rows and no others', async () => {
      const server = await startServer(ENDS, { database });
      try {
        await server.store.db.insertInto('companies').values({ name: 'Acme' }).execute();
        const created = await server.query(
          'mutation { createPerson(input: { name: "Ada", reviews: { create: [{ text: "good" }] } }) { person { id reviews { text about { __typename } } } errors } }',
        );
        expect(created).toEqual({
          data: {
            createPerson: {
              person: { id: '1', reviews: [{ text: 'good', about: { __typename: 'Person' } }] },
              errors: [],
            },
          },
        });
        await server.store.db
          .insertInto('reviews')
          .values({ text: 'of Acme', about_type: 'Company', about_id: 1 })
          .execute();
        expect(
          (await server.query('{ people { reviews { text } } companies { reviews { text } } }'))
            .data,
        ).toEqual({
          people: [{ reviews: [{ text: 'good' }] }],
          companies: [{ reviews: [{ text: 'of Acme' }] }],
        });
        const found = async (filter: string) =>
          (await server.query(`{ people(where: { reviews: ${filter} }) { id } }`)).data.people
            .length;
        expect([
          await found('{ some: { text: { eq: "of Acme" } } }'),
          await found('{ none: { text: { eq: "of Acme" } } }'),
        ]).toEqual([0, 1]);
        const gone = await server.query(
          'mutation { updatePerson(id: 1, input: { reviews: { disconnect: [{ id: 1 }, { id: 2 }] } }) { reviews { id } } }',
        );
        expect(gone.data).toEqual({ updatePerson: { reviews: [] } });
        expect(
          (await server.query('{ reviews { text about { ... on Company { name } } } }')).data
            .reviews,
        ).toEqual([
          { text: 'good', about: null },
          { text: 'of Acme', about: { name: 'Acme' } },
        ]);
      } finally {
        await server.close();
      }
    });
  },
);

describe.each(databases)(
  'a key of several types, below objects of several types that a function returned, on %s',
  (database) => {
    const PLACED = `
    interface Placed { id: ID! label: String! near: Placed }
    type Ant implements Placed { id: ID! label: String! near: Placed }
    type Bee implements Placed { id: ID! label: String! near: Placed }
    type Cat implements Placed { id: ID! label: String! near: Placed }
    type Query { placed: [Placed!]! }
  `;

    it('is read with one statement for each type that it leads to', async () => {
      const kinds = ['Ant', 'Bee', 'Cat'] as const;
      const rows = kinds.flatMap((kind, at) =>
        [1, 2].map((id) => ({
          __typename: kind,
          id,
          label: `${kind} ${id}`,
          near_type: kinds[(at + id) % 2],
          near_id: id,
        })),
      );
      const server = await startServer(PLACED, {
        database,
        resolvers: { Query: { placed: () => rows } },
      });
      try {
        for (const table of ['ants', 'bees', 'cats'])
          await server.store.db
            .insertInto(table)
            .values([1, 2].map((id) => ({ label: `${table} ${id}` })))
            .execute();
        server.statements();
        const { data, errors } = await server.query(
          '{ placed { label near { __typename id label ... on Ant { near { id } } } } }',
        );
        expect(errors).toBeUndefined();
        expect(data.placed.map(({ near }: any) => `${near.__typename} ${near.label}`)).toEqual([
          'Bee bees 1',
          'Ant ants 2',
          'Ant ants 1',
          'Bee bees 2',
          'Bee bees 1',
          'Ant ants 2',
        ]);
        const statements = server.statements();
        expect(statements, statements.join('\n')).toHaveLength(2);
      } finally {
        await server.close();
      }
    });
  },
);

const SCALARS = `
  scalar DateTime scalar Date scalar Time scalar JSON scalar BigInt scalar Decimal scalar UUID scalar URL scalar EmailAddress scalar Byte scalar PositiveInt scalar Timestamp scalar SafeInt scalar Long
  type Thing { id: ID! at: DateTime day: Date time: Time json: JSON big: BigInt exact: Decimal uuid: UUID url: URL email: EmailAddress bytes: Byte positive: PositiveInt ms: Timestamp safe: SafeInt long: Long float: Float flag: Boolean text: String list: [Int!] }
  input ThingInput { at: DateTime day: Date time: Time json: JSON big: BigInt exact: Decimal uuid: UUID url: URL email: EmailAddress bytes: Byte positive: PositiveInt ms: Timestamp safe: SafeInt long: Long float: Float flag: Boolean text: String list: [Int!] }
  type Query { things: [Thing!]! thing(id: ID!): Thing }
  type Mutation { createThing(input: ThingInput!): Thing! }
`;
const FIELDS = 'at day time json big exact uuid url email positive safe long float flag text list';

describe.each(databases)('scalars on %s', (database) => {
  let server: TestServer;
  beforeEach(async () => void (server = await startServer(SCALARS, { database })));
  afterEach(() => server?.close());

  it('come back as they were given, by text and through functions alike', async () => {
    const input = {
      at: '2026-02-28T23:59:59.123+01:00',
      day: '2024-02-29',
      time: '09:05',
      json: { a: [1, null, { b: 'ü😀"\\' }] },
      big: '9223372036854775807',
      exact: '12345678901234567890.10',
      uuid: '01890A5D-AC96-774B-BCCE-B302099A8057',
      url: 'https://x.test/a?b=c',
      email: 'a.b+c@x.test',
      bytes: Buffer.from([0, 255, 7]).toString('base64'),
      positive: 7,
      ms: 1_700_000_000_123,
      safe: -(2 ** 53 - 1),
      long: 2 ** 40,
      float: 0.1,
      flag: false,
      text: 'quote " \\ \n \t é 😀 \u2028',
      list: [3, -1],
    };
    const wire = {
      ...input,
      at: '2026-02-28T22:59:59.123Z',
      time: '09:05:00',
      uuid: input.uuid.toLowerCase(),
    };
    const created = await server.query(
      `mutation ($input: ThingInput!) { createThing(input: $input) { ${FIELDS} bytes ms } }`,
      { input },
    );
    expect(created).toEqual({ data: { createThing: wire } });
    const { bytes: _bytes, ms: _ms, ...plain } = wire;
    expect((await server.query(`{ things { ${FIELDS} } }`)).data).toEqual({ things: [plain] });
    expect((await server.query(`{ thing(id: 1) { ${FIELDS} bytes ms } }`)).data).toEqual({
      thing: wire,
    });
    const none = await server.query(`mutation { createThing(input: {}) { ${FIELDS} bytes ms } }`);
    expect(new Set(Object.values(none.data.createThing))).toEqual(new Set([null]));
  });

  it('refuse what is not one of theirs', async () => {
    const wrong = {
      at: '2026-02-30T00:00:00Z',
      day: '2026-13-01',
      time: '25:00',
      big: '1.5',
      exact: 'one',
      uuid: 'x',
      url: 'not a url',
      email: 'nobody',
      bytes: '***',
      positive: 0,
      safe: 2 ** 53,
      long: '99999999999999999999',
      float: 'x',
      flag: 'true',
      list: [1.5],
    };
    for (const [name, value] of Object.entries(wrong)) {
      const { errors } = await server.query(
        'mutation ($input: ThingInput!) { createThing(input: $input) { id } }',
        { input: { [name]: value } },
      );
      expect([name, errors?.[0].extensions.code]).toEqual([name, 'BAD_USER_INPUT']);
    }
  });
});

describe.each(databases)('UUID keys on %s', (database) => {
  it('are made by the server, in the order of time', async () => {
    const server = await startServer(
      'type Note { id: ID! text: String! parent: Note replies: [Note!]! } type Query { notes: [Note!]! note(id: ID!): Note } type Mutation { createNote(text: String!, parentId: ID): Note! deleteNote(id: ID!): ID upsertNote(where: NoteKey!, create: NoteIn!, update: NoteIn!): Note! } input NoteKey { id: ID! } input NoteIn { text: String! }',
      { database, manifest: 'name: test\ndatabase: { ids: uuid }\n' },
    );
    try {
      const first = await server.query('mutation { createNote(text: "a") { id } }');
      const { id } = first.data.createNote;
      expect(id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-/);
      const reply = await server.query(
        'mutation ($id: ID) { createNote(text: "b", parentId: $id) { parent { text replies { text } } } }',
        { id },
      );
      expect(reply.data.createNote.parent).toEqual({ text: 'a', replies: [{ text: 'b' }] });
      expect((await server.query('{ notes { text } wrong: note(id: "7") { id } }')).data).toEqual({
        notes: [{ text: 'a' }, { text: 'b' }],
        wrong: null,
      });
      expect(
        (
          await server.query('mutation ($id: ID!) { deleteNote(id: $id) }', {
            id: '01890a5d-ac96-774b-bcce-b302099a8057',
          })
        ).data,
      ).toEqual({ deleteNote: null });
      const upsert = await server.query(
        'mutation { upsertNote(where: { id: "7" }, create: { text: "c" }, update: { text: "c" }) { id } }',
      );
      expect(upsert.errors?.[0].message).toBe('id is no key of Note');
      expect((await server.query('{ notes { text } }')).data.notes).toHaveLength(2);
    } finally {
      await server.close();
    }
  });
});
