import { describe, expect, it } from 'vitest';
import { databases, type TestServer, user } from '../graphql/harness.ts';
import { serversOn } from './servers.ts';

/** One test for each directive, of what it does to a running server; `promises.test.ts` holds them to it. `@renamed` is in test/generator/migrations. */
describe.each(databases)('the directives, on %s', (database) => {
  const start = serversOn(database);
  const ask = async (server: TestServer, query: string, as?: ReturnType<typeof user>) => {
    const { data, errors } = await server.query(query, {}, as);
    return errors
      ? errors.map(({ message, extensions }) => `${extensions.code}: ${message}`)
      : data;
  };
  const tables = async ({ store }: TestServer) =>
    new Map(
      (await store.db.introspection.getTables())
        .filter(({ name }) => !name.startsWith('sqlite_'))
        .map(({ name, columns }) => [name, columns.map((column) => column.name)]),
    );

  it('@entity names the table and the plural, leaves a type without a table, keeps times, and marks what is removed', async () => {
    const server = await start(
      `
      scalar DateTime type Person @entity(table: "staff", plural: "people", softDelete: true, timestamps: true) { id: ID! name: String! }
      type Point @entity(persist: false) { id: ID! x: Int } type Log @entity(timestamps: false) { id: ID! createdAt: DateTime }
      type Query { people: [Person!]! person(id: ID!): Person logs: [Log!]! origin: Point } type Mutation { createPerson(name: String!): Person! deletePerson(id: ID!): Boolean! createLog(createdAt: DateTime): Log! }`,
      { resolvers: { Query: { origin: () => ({ id: 'o', x: 0 }) } } },
    );
    expect([...(await tables(server))]).toEqual(
      expect.arrayContaining([
        ['staff', ['id', 'name', 'created_at', 'updated_at', 'deleted_at']],
        ['logs', ['id', 'created_at']],
      ]),
    );
    expect((await tables(server)).size).toBe(2);
    expect(
      await ask(
        server,
        'mutation { createPerson(name: "Ada") { id } deletePerson(id: 1) again: deletePerson(id: 1) createLog { createdAt } }',
      ),
    ).toEqual({
      createPerson: { id: '1' },
      deletePerson: true,
      again: false,
      createLog: { createdAt: null },
    });
    expect(await ask(server, '{ people { id } person(id: 1) { id } origin { id x } }')).toEqual({
      people: [],
      person: null,
      origin: { id: 'o', x: 0 },
    });
    expect(
      await server.store.db
        .selectFrom('staff')
        .select(['name', 'created_at', 'deleted_at'])
        .execute(),
    ).toEqual([{ name: 'Ada', created_at: expect.anything(), deleted_at: expect.anything() }]);
  });

  it('@computed has no column and is answered by the function, from the whole row', async () => {
    const server = await start(
      'type User { id: ID! first: String! last: String! full: String! @computed } type Query { users: [User!]! } type Mutation { createUser(first: String!, last: String!): User! }',
      { resolvers: { User: { full: ({ first, last }) => `${first} ${last}` } } },
    );
    expect((await tables(server)).get('users')).toEqual(['id', 'first', 'last']);
    expect(await ask(server, 'mutation { createUser(first: "Ada", last: "L") { full } }')).toEqual({
      createUser: { full: 'Ada L' },
    });
    expect(await ask(server, '{ users { full } }')).toEqual({ users: [{ full: 'Ada L' }] });
  });

  it('@relation says the other end, the column, the join table, and what happens to the row when the other goes', async () => {
    const server = await start(`
      type User { id: ID! written: [Post!]! @relation(inverse: "author") checked: [Post!]! @relation(inverse: "checker") }
      type Post { id: ID! author: User @relation(column: "writer_key", onDelete: CASCADE) checker: User @relation(onDelete: SET_NULL) tags: [Tag!]! @relation(table: "labels") }
      type Tag { id: ID! posts: [Post!]! } type Note { id: ID! user: User! @relation(onDelete: RESTRICT) }
      type Query { users: [User!]! posts: [Post!]! } type Mutation { deleteUser(id: ID!): Boolean! }`);
    const { db } = server.store;
    for (let index = 0; index < 3; index++) await db.insertInto('users').defaultValues().execute();
    await db
      .insertInto('posts')
      .values([
        { writer_key: 1, checker_id: 2 },
        { writer_key: 2, checker_id: 1 },
      ])
      .execute();
    await db.insertInto('notes').values({ user_id: 3 }).execute();
    expect((await tables(server)).get('labels')).toEqual(['post_id', 'tag_id']);
    expect(await ask(server, '{ users { written { id } checked { id } } }')).toEqual({
      users: [
        { written: [{ id: '1' }], checked: [{ id: '2' }] },
        { written: [{ id: '2' }], checked: [{ id: '1' }] },
        { written: [], checked: [] },
      ],
    });
    expect(await ask(server, 'mutation { deleteUser(id: 1) }')).toEqual({ deleteUser: true });
    expect(await ask(server, '{ posts { id checker { id } } }')).toEqual({
      posts: [{ id: '2', checker: null }],
    });
    expect(await ask(server, 'mutation { deleteUser(id: 3) }')).toEqual([
      expect.stringContaining('still in use'),
    ]);
  });

  it('@unique refuses a second row with the same value, and says which field', async () => {
    const server = await start(
      'type User { id: ID! email: String! @unique name: String! } type Query { users: [User!]! } type Mutation { createUser(email: String!, name: String!): User! }',
    );
    expect(
      await ask(
        server,
        'mutation { a: createUser(email: "a", name: "x") { id } b: createUser(email: "b", name: "x") { id } }',
      ),
    ).toEqual({ a: { id: '1' }, b: { id: '2' } });
    expect(await ask(server, 'mutation { createUser(email: "a", name: "y") { id } }')).toEqual([
      'CONFLICT: email already exists',
    ]);
  });

  it('@index makes an index over its fields in their order, and one that is unique refuses a pair', async () => {
    const server = await start(
      'type Seat @index(fields: ["row", "number"], unique: true) @index(fields: ["room", "row"]) { id: ID! row: Int! number: Int! room: Room } type Room { id: ID! } type Query { seats: [Seat!]! } type Mutation { createSeat(row: Int!, number: Int!): Seat! }',
    );
    const rows =
      database === 'sqlite'
        ? await server.store.query(
            "select sql as text from sqlite_master where type = 'index' and tbl_name = 'seats' and sql is not null",
            [],
          )
        : await server.store.query(
            "select indexdef as text from pg_indexes where tablename = 'seats'",
            [],
          );
    const indexes = (rows as { text: string }[]).map(({ text }) =>
      text.replaceAll('"', '').toLowerCase(),
    );
    expect(indexes).toEqual(
      expect.arrayContaining([
        expect.stringMatching(/create unique index .*\(row, number\)/),
        expect.stringMatching(/create index .*\(room_id, row\)/),
      ]),
    );
    expect(
      await ask(
        server,
        'mutation { a: createSeat(row: 1, number: 1) { id } b: createSeat(row: 1, number: 2) { id } }',
      ),
    ).toMatchObject({ a: {}, b: {} });
    expect(await ask(server, 'mutation { createSeat(row: 1, number: 2) { id } }')).toEqual([
      expect.stringMatching(/^CONFLICT: /),
    ]);
  });

  it('@default fills what nobody gave: values, the time, a UUID, the next number; and not what is null', async () => {
    const server = await start(
      'scalar DateTime scalar UUID enum Level { LOW HIGH } type Job { id: ID! level: Level! @default(value: LOW) tries: Int @default(value: 3) open: Boolean! @default(value: true) at: DateTime! @default(expr: NOW) code: UUID! @default(expr: UUID) } type Query { jobs: [Job!]! } type Mutation { createJob(level: Level, tries: Int, open: Boolean): Job! }',
      { now: () => Date.UTC(2026, 0, 2) },
    );
    const { createJob } = await ask(server, 'mutation { createJob { level tries open at code } }');
    expect(createJob).toEqual({
      level: 'LOW',
      tries: 3,
      open: true,
      at: expect.stringMatching(/Z$/),
      code: expect.stringMatching(/^[0-9a-f-]{36}$/),
    });
    expect(
      await ask(
        server,
        'mutation { createJob(level: HIGH, tries: null, open: false) { level tries open } }',
      ),
    ).toEqual({ createJob: { level: 'HIGH', tries: null, open: false } });
  });

  it('@version counts the updates of a row, and refuses those of an older version', async () => {
    const server = await start(
      'type Note { id: ID! text: String revision: Int! @version } type Query { notes: [Note!]! } type Mutation { createNote(text: String): Note! updateNote(id: ID!, text: String, revision: Int): Note }',
    );
    expect(await ask(server, 'mutation { createNote { revision } }')).toEqual({
      createNote: { revision: 1 },
    });
    expect(
      await ask(server, 'mutation { updateNote(id: 1, text: "x", revision: 1) { revision } }'),
    ).toEqual({ updateNote: { revision: 2 } });
    expect(
      await ask(server, 'mutation { updateNote(id: 1, text: "y", revision: 1) { revision } }'),
    ).toEqual(['CONFLICT: Note was changed since it was read: its version is 2']);
    expect(await ask(server, '{ notes { text revision } }')).toEqual({
      notes: [{ text: 'x', revision: 2 }],
    });
  });

  it('@updatedAt holds the time of the last change, whatever the field is called', async () => {
    let now = Date.UTC(2026, 0, 1);
    const server = await start(
      'scalar DateTime type Note { id: ID! text: String touched: DateTime! @updatedAt } type Query { notes: [Note!]! } type Mutation { createNote(text: String): Note! updateNote(id: ID!, text: String): Note }',
      { now: () => now },
    );
    expect(await ask(server, 'mutation { createNote { touched } }')).toEqual({
      createNote: { touched: '2026-01-01T00:00:00.000Z' },
    });
    now += 60_000;
    expect(await ask(server, 'mutation { updateNote(id: 1, text: "x") { touched } }')).toEqual({
      updateNote: { touched: '2026-01-01T00:01:00.000Z' },
    });
  });

  it('@constraint is checked before anything is written, and again by the database where it can', async () => {
    const server = await start(`
      type Page { id: ID! slug: String! @constraint(format: "slug", maxLength: 5) code: String @constraint(pattern: "^[A-Z]+$", minLength: 2) age: Int @constraint(min: 0, max: 150) }
      type Query { pages(limit: Int @constraint(max: 2)): [Page!]! } type Mutation { createPage(slug: String!, code: String, age: Int): Page! }`);
    server.statements();
    for (const [given, told] of [
      ['slug: "Not a slug"', 'slug'],
      ['slug: "too-long"', 'slug'],
      ['slug: "ok", code: "abc"', 'code'],
      ['slug: "ok", code: "A"', 'code'],
      ['slug: "ok", age: -1', 'age'],
      ['slug: "ok", age: 151', 'age'],
    ]) {
      expect([given, await ask(server, `mutation { createPage(${given}) { id } }`)]).toEqual([
        given,
        [expect.stringMatching(new RegExp(`^BAD_USER_INPUT: ${told} must`))],
      ]);
    }
    expect(await ask(server, '{ pages(limit: 3) { id } }')).toEqual([
      expect.stringMatching(/^BAD_USER_INPUT: limit must/),
    ]);
    expect(server.statements()).toEqual([]);
    expect(
      await ask(server, 'mutation { createPage(slug: "a-b", code: "AB", age: 150) { slug } }'),
    ).toEqual({ createPage: { slug: 'a-b' } });
    for (const age of [-1, 151])
      await expect(
        server.store.db.insertInto('pages').values({ slug: 'x', age }).execute(),
      ).rejects.toThrow(/check/i);
  });

  it('@auth lets in who is allowed, on every way to the row, for each kind of rule', async () => {
    const server = await start(
      `type User { id: ID! name: String! email: String! notes: [Note!]! } type Note @auth(allow: [OWNER], owner: "author") @auth(allow: [ROLE], roles: ["admin"], on: [READ]) { id: ID! text: String! pin: String @auth(allow: [ROLE], roles: ["admin"]) author: User! }
       type Page @auth(allow: [PUBLIC], on: [READ]) @auth(allow: [USER], on: [CREATE]) { id: ID! title: String! } type Job @auth(allow: [API_KEY]) { id: ID! }
       type Query { users: [User!]! notes: [Note!]! note(id: ID!): Note pages: [Page!]! jobs: [Job!]! } type Mutation { createPage(title: String!): Page! updateNote(id: ID!, text: String): Note deleteNote(id: ID!): Boolean! }`,
      { manifest: 'name: test\nauth: { roles: { list: [admin, member], default: member } }\n' },
    );
    await server.store.db
      .insertInto('users')
      .values(['Ann', 'Bob'].map((name) => ({ name, email: name })))
      .execute();
    await server.store.db
      .insertInto('notes')
      .values([
        { text: 'a', pin: '1', author_id: 1 },
        { text: 'b', pin: '2', author_id: 2 },
      ])
      .execute();
    const [ann, admin] = [user(1), user(9, 'admin')];
    expect(await ask(server, '{ pages { title } }')).toEqual({ pages: [] });
    expect(await ask(server, '{ notes { text } }')).toEqual([
      expect.stringMatching(/^UNAUTHENTICATED/),
    ]);
    expect(await ask(server, 'mutation { createPage(title: "x") { id } }')).toEqual([
      expect.stringMatching(/^UNAUTHENTICATED/),
    ]);
    expect(
      await ask(server, '{ notes { text } note(id: 2) { text } users { notes { text } } }', ann),
    ).toEqual({
      notes: [{ text: 'a' }],
      note: null,
      users: [{ notes: [{ text: 'a' }] }, { notes: [] }],
    });
    expect(
      await ask(
        server,
        'mutation { createPage(title: "x") { id } updateNote(id: 2, text: "x") { id } deleteNote(id: 2) }',
        ann,
      ),
    ).toEqual({ createPage: { id: '1' }, updateNote: null, deleteNote: false });
    expect(await ask(server, '{ notes { text pin } }', admin)).toEqual({
      notes: [
        { text: 'a', pin: '1' },
        { text: 'b', pin: '2' },
      ],
    });
    expect(await ask(server, '{ jobs { id } }', ann)).toEqual([
      expect.stringMatching(/^FORBIDDEN/),
    ]);
    expect(
      (
        await server.call('POST', '/graphql', {
          body: { query: '{ jobs { id } }' },
          as: { kind: 'api_key', id: 'k', scopes: ['*'], userId: null },
        })
      ).body,
    ).toEqual({ data: { jobs: [] } });
  });

  it('@list says the order, the page and the fields to filter by, when its arguments do not', async () => {
    const server = await start(
      'input RowFilter { name: Words rank: Ranks } input Words { eq: String } input Ranks { eq: Int } type Row { id: ID! name: String! rank: Int } type Query { rows(where: RowFilter, limit: Int): [Row!]! @list(orderBy: ["rank DESC", "name"], default: 2, max: 3, filter: ["name"]) }',
    );
    await server.store.db
      .insertInto('rows')
      .values(
        [
          ['a', 1],
          ['b', 2],
          ['c', 2],
          ['d', 1],
        ].map(([name, rank]) => ({ name, rank })),
      )
      .execute();
    const names = async (args = '') =>
      (await ask(server, `{ rows${args} { name } }`)).rows?.map(({ name }: any) => name).join('');
    expect([
      await names(),
      await names('(limit: 1)'),
      await names('(limit: 3)'),
      await names('(where: { name: { eq: "d" } })'),
    ]).toEqual(['bc', 'b', 'bca', 'd']);
    expect(await ask(server, '{ rows(limit: 4) { name } }')).toEqual([
      'BAD_USER_INPUT: limit must be at most 3',
    ]);
    expect(await ask(server, '{ rows(where: { rank: { eq: 1 } }) { name } }')).toEqual([
      'BAD_USER_INPUT: rank cannot be filtered by here',
    ]);
  });

  it('@resolve decides what a root field does whose name leaves it open', async () => {
    const server =
      await start(`type Query { feed: [Post!]! @resolve(as: LIST) called(it: String!): Post @resolve(as: GET, by: ["title"]) posts: [Post!]! @resolve(as: CUSTOM) }
      type Mutation { publish(title: String!): Post! @resolve(as: CREATE) rename(id: ID!, title: String): Post @resolve(as: UPDATE) retract(id: ID!): Post @resolve(as: DELETE) } type Post { id: ID! title: String! @unique }`);
    expect(
      await ask(
        server,
        'mutation { a: publish(title: "A") { id } b: publish(title: "B") { id } rename(id: 1, title: "AA") { title } retract(id: 2) { title } }',
      ),
    ).toEqual({ a: { id: '1' }, b: { id: '2' }, rename: { title: 'AA' }, retract: { title: 'B' } });
    expect(await ask(server, '{ feed { title } called(it: "AA") { id } }')).toEqual({
      feed: [{ title: 'AA' }],
      called: { id: '1' },
    });
    expect(await ask(server, '{ posts { id } }')).toEqual([
      expect.stringMatching(/^NOT_IMPLEMENTED: Query.posts/),
    ]);
  });
});
