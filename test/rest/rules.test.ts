import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Principal } from '../../runtime/core/context/request-context.ts';
import { databases, key, startRest, user, type RestServer } from './harness.ts';

const sdl = `
type User @auth(allow: [OWNER, ROLE], roles: ["admin"], owner: "id", on: [READ]) {
  id: ID!
  name: String!
  email: String!
  notes: [Note!]!
  leads: [Lead!]!
}
type Note @auth(allow: [OWNER], owner: "owner") {
  id: ID!
  text: String!
  secret: String @auth(allow: [ROLE], roles: ["admin"])
  pin: String @auth(allow: [OWNER], owner: "owner")
  owner: User!
  page: Page
}
type Page @auth(allow: [PUBLIC], on: [READ]) @auth(allow: [USER], on: [CREATE, UPDATE, DELETE]) {
  id: ID!
  title: String!
  draft: String @auth(allow: [OWNER], owner: "author")
  author: User @relation(onDelete: SET_NULL)
  notes: [Note!]!
}
type Lead @auth(allow: [PUBLIC], on: [CREATE]) @auth(allow: [ROLE], roles: ["admin"], on: [READ]) { id: ID! email: String! by: User }
type Plain { id: ID! text: String! }
type Log @auth(allow: [API_KEY]) { id: ID! line: String! }
type Query {
  users: [User!]! user(id: ID!): User
  notes: [Note!]! note(id: ID!): Note
  pages: [Page!]! page(id: ID!): Page
  leads: [Lead!]! lead(id: ID!): Lead
  plains: [Plain!]! plain(id: ID!): Plain
  logs: [Log!]!
}
type Mutation {
  createNote(text: String!, secret: String, pin: String, ownerId: ID, pageId: ID): Note!
  updateNote(id: ID!, text: String, ownerId: ID): Note
  deleteNote(id: ID!): Boolean!
  createPage(title: String!, draft: String, authorId: ID): Page!
  updatePage(id: ID!, title: String): Page
  createLead(email: String!): Lead!
  updateLead(id: ID!, email: String): Lead
  createPlain(text: String!): Plain!
  createLog(line: String!): Log!
}`;

const manifest =
  'name: test\napi:\n  rest: true\n  access: user\nauth:\n  roles: { list: [admin, member], default: member }\n';

describe.each(databases)('the rules of the schema in REST on %s', (database) => {
  let server: RestServer;
  const ann = user(1);
  const bob = user(2);
  const admin = user(3, 'admin');
  beforeAll(async () => {
    server = await startRest(sdl, { database, manifest });
    const { store } = server;
    await store.db
      .insertInto('users')
      .values(['Ann', 'Bob', 'Adm'].map((name) => ({ name, email: `${name}@x.test` })))
      .execute();
    const make = async (path: string, body: object, as: Principal) =>
      expect([(await server.call('POST', path, { body, as })).status, path]).toEqual([201, path]);
    await make('/api/pages', { title: 'Of Ann', draft: 'ann only', authorId: 1 }, ann);
    await make('/api/pages', { title: 'Of Bob', draft: 'bob only', authorId: 2 }, bob);
    await make('/api/notes', { text: 'a1', pin: '1111', pageId: 1 }, ann);
    await make('/api/notes', { text: 'b1', pin: '2222', pageId: 1 }, bob);
    await make('/api/plains', { text: 'p' }, ann);
    await make('/api/logs', { line: 'l' }, key('*'));
  });
  afterAll(() => server.close());

  const status = async (method: string, path: string, as?: Principal, body?: unknown) =>
    (await server.call(method, path, { ...(as && { as }), ...(body !== undefined && { body }) }))
      .status;

  it('ask for somebody who is signed in', async () => {
    const { status: code, body } = await server.get('/api/plains');
    expect([code, body]).toEqual([401, { error: 'Unauthorized' }]);
    expect(await status('GET', '/api/plains/1')).toBe(401);
    expect(await status('POST', '/api/plains', undefined, '{"')).toBe(401);
    expect(await status('GET', '/api/plains', ann)).toBe(200);
    expect(await status('GET', '/api/plains?nope=1')).toBe(401);
  });

  it('let everybody read what is public', async () => {
    const { body } = await server.get('/api/pages');
    expect(body).toEqual({
      data: [
        { id: '1', title: 'Of Ann' },
        { id: '2', title: 'Of Bob' },
      ],
      pagination: { total: 2, page: 1, page_size: 20, total_pages: 1 },
    });
    expect(await status('POST', '/api/pages', undefined, { title: 'x' })).toBe(401);
  });

  it('show rows to their owners alone, and count no others', async () => {
    for (const [who, text] of [
      [ann, 'a1'],
      [bob, 'b1'],
    ] as const) {
      const { body } = await server.get('/api/notes', who);
      expect(body.data.map((note: { text: string }) => note.text)).toEqual([text]);
      expect(body.pagination.total).toBe(1);
    }
    expect((await server.get('/api/notes/2', ann)).body).toEqual({ error: 'Note not found' });
    expect((await server.get('/api/notes?text=b1', ann)).body.pagination.total).toBe(0);
    expect((await server.get('/api/notes?limit=1&page=2', ann)).body.data).toEqual([]);
  });

  it("let nobody change or remove what is another's", async () => {
    expect(await status('PATCH', '/api/notes/2', ann, { text: 'mine' })).toBe(404);
    expect(await status('DELETE', '/api/notes/2', ann)).toBe(404);
    // Whether there is a user 2 is not Ann's to know.
    const given = await server.call('PATCH', '/api/notes/1', { as: ann, body: { ownerId: 2 } });
    const never = await server.call('PATCH', '/api/notes/1', { as: ann, body: { ownerId: 99 } });
    expect([given.status, given.body]).toEqual([422, { error: 'ownerId: there is no such User' }]);
    expect(never.body).toEqual(given.body);
    expect(await status('POST', '/api/notes', admin, { text: 'for bob', ownerId: 2 })).toBe(403);
    expect((await server.get('/api/notes/2', bob)).body.text).toBe('b1');
    expect((await server.get('/api/notes/1', ann)).body.text).toBe('a1');
  });

  it("leave out fields that are not the caller's, and refuse them when they are named", async () => {
    const { body } = await server.get('/api/notes/1', ann);
    expect(body).not.toHaveProperty('secret');
    expect(body.pin).toBe('1111');
    const named = await server.get('/api/notes/1?fields=secret', ann);
    expect([named.status, named.body]).toEqual([403, { error: 'Forbidden' }]);
    expect(await status('GET', '/api/pages?fields=draft')).toBe(401);
    expect(await status('POST', '/api/notes', ann, { text: 'x', secret: 'mine' })).toBe(403);
  });

  it("leave out a field of a row that is another's", async () => {
    const { body } = await server.get('/api/pages', ann);
    expect(body.data[0]).toMatchObject({ title: 'Of Ann', draft: 'ann only' });
    expect(body.data[1]).toMatchObject({ title: 'Of Bob' });
    expect(body.data[1]).not.toHaveProperty('draft');
  });

  it('let nobody filter or sort by what they may not read', async () => {
    for (const query of ['secret=x', 'secret_contains=a', 'secret_isNull=true', 'sort=secret'])
      expect([query, await status('GET', `/api/notes?${query}`, ann)]).toEqual([query, 403]);
    // Where they may read it in some rows, it has no value in the others.
    const found = async (path: string) =>
      (await server.get(path, ann)).body.data.map(({ id }: { id: unknown }) => id);
    const pages = await found('/api/pages');
    expect([
      await found('/api/notes?pin=2222'),
      await found('/api/pages?draft_startsWith=bob'),
      await found('/api/pages?draft_startsWith=ann'),
      await found('/api/pages?draft_isNull=true'),
    ]).toEqual([[], [], [pages[0]], pages.slice(1)]);
    expect(await status('GET', '/api/pages?draft=x')).toBe(401);
  });

  it('hold in what is embedded', async () => {
    const { body } = await server.get('/api/pages/1?include=notes,author', ann);
    expect(body.notes.map((note: { text: string }) => note.text)).toEqual(['a1']);
    expect(body.author.name).toBe('Ann');
    const other = await server.get('/api/pages/2?include=author,notes.owner', ann);
    expect(other.body.author).toBeNull();
    expect(await status('GET', '/api/pages/1?include=notes')).toBe(401);
    expect(await status('GET', '/api/users?include=leads', ann)).toBe(403);
    expect(await status('GET', '/api/users?fields=leads.email', ann)).toBe(403);
  });

  it('keep the keys of rows that may be hidden, and compare them through the rows', async () => {
    const { body } = await server.get('/api/pages', ann);
    expect(body.data[1]).not.toHaveProperty('authorId');
    expect(await status('GET', '/api/pages?fields=authorId', ann)).toBe(403);
    expect((await server.get('/api/pages?authorId=1', ann)).body.pagination.total).toBe(1);
    expect((await server.get('/api/pages?authorId=2', ann)).body.pagination.total).toBe(0);
    expect((await server.get('/api/pages?authorId_ne=1', ann)).body.pagination.total).toBe(0);
    expect(await status('GET', '/api/pages?authorId_isNull=false', ann)).toBe(403);
    expect(await status('GET', '/api/pages?authorId=1')).toBe(401);
    expect((await server.get('/api/pages?authorId=2', admin)).body.data[0]).toMatchObject({
      title: 'Of Bob',
      authorId: '2',
    });
  });

  it('let somebody write who may not read, and answer with the key', async () => {
    const {
      status: code,
      body,
      headers,
    } = await server.call('POST', '/api/leads', { body: { email: 'x@y.test' } });
    expect([code, Object.keys(body)]).toEqual([201, ['id']]);
    expect(headers.get('etag')).not.toBeNull();
    expect((await server.get(`/api/leads/${body.id}`, admin)).body.email).toBe('x@y.test');
    expect(await status('GET', `/api/leads/${body.id}`, ann)).toBe(403);
  });

  it('give no hint through If-Match', async () => {
    const tag = (await server.get('/api/leads/1', admin)).headers.get('etag') as string;
    const blind = await server.call('PATCH', '/api/leads/1', {
      as: ann,
      body: { email: 'z@z.test' },
      headers: { 'if-match': tag },
    });
    expect(blind.status).toBe(412);
    expect(
      (
        await server.call('PATCH', '/api/notes/2', {
          as: ann,
          body: { text: 'x' },
          headers: { 'if-match': '"x"' },
        })
      ).status,
    ).toBe(404);
  });

  it('give a key what it is allowed and its scopes name', async () => {
    expect((await server.get('/api/logs', key('logs:read'))).body.data).toEqual([
      { id: '1', line: 'l' },
    ]);
    expect(await status('GET', '/api/logs', key('notes:read'))).toBe(403);
    expect(await status('GET', '/api/logs', key('logs:write'))).toBe(403);
    expect(await status('POST', '/api/logs', key('logs:read'), { line: 'x' })).toBe(403);
    expect(await status('POST', '/api/logs', key('logs:write'), { line: 'x' })).toBe(201);
    expect(await status('GET', '/api/logs', key('*'))).toBe(200);
    expect(await status('GET', '/api/logs', ann)).toBe(403);
    expect(await status('GET', '/api/notes', key('*'))).toBe(403);
    expect(await status('GET', '/api/pages', key('pages:read'))).toBe(200);
    expect(await status('GET', '/api/pages?include=notes', key('pages:read'))).toBe(403);
  });

  it('give a key that acts for somebody what that one has', async () => {
    const forAnn: Principal = { kind: 'api_key', id: 'k', scopes: ['notes:read'], userId: 1 };
    expect((await server.get('/api/notes', forAnn)).body.pagination.total).toBe(1);
    expect(await status('POST', '/api/notes', forAnn, { text: 'x' })).toBe(403);
  });

  it('of a root field narrow its module', async () => {
    const own = await startRest(
      `type User { id: ID! name: String! email: String! drafts: [Draft!]! @auth(allow: [OWNER], owner: "id") }
       type Draft { id: ID! text: String! user: User! @auth(allow: [OWNER], owner: "user") }
       type Query { drafts: [Draft!]! @auth(allow: [OWNER], owner: "user") draft(id: ID!): Draft @auth(allow: [OWNER, ROLE], roles: ["admin"], owner: "user") users: [User!]! user(id: ID!): User @auth(allow: [PUBLIC]) }
       type Mutation { createDraft(text: String!, userId: ID): Draft! @auth(allow: [USER]) updateDraft(id: ID!, text: String): Draft @auth(allow: [OWNER], owner: "user") deleteDraft(id: ID!): Boolean! @auth(allow: [ROLE], roles: ["admin"]) }`,
      { database, manifest },
    );
    await own.store.db
      .insertInto('users')
      .values(['Ann', 'Bob'].map((name) => ({ name, email: `${name}@x.test` })))
      .execute();
    for (const [who, id] of [
      [ann, 1],
      [bob, 2],
    ] as const)
      expect(
        (await own.call('POST', '/api/drafts', { as: who, body: { text: `of ${id}`, userId: id } }))
          .status,
      ).toBe(201);
    const texts = async (path: string, as?: Principal) =>
      (await own.get(path, as)).body.data?.map(({ text }: { text: string }) => text);
    expect(await texts('/api/drafts', ann)).toEqual(['of 1']);
    expect((await own.get('/api/drafts', bob)).body.pagination.total).toBe(1);
    expect((await own.get('/api/drafts/1', ann)).body.text).toBe('of 1');
    expect((await own.get('/api/drafts/2', ann)).status).toBe(404);
    expect((await own.get('/api/drafts/2', admin)).body.text).toBe('of 2');
    expect((await own.get('/api/drafts/1')).status).toBe(401);
    expect((await own.get('/api/users/1')).body.name).toBe('Ann');
    expect(
      (await own.call('PATCH', '/api/drafts/2', { as: ann, body: { text: 'x' } })).status,
    ).toBe(403);
    expect((await own.call('DELETE', '/api/drafts/1', { as: ann })).status).toBe(403);
    // A relation that only its owner may read is left out elsewhere, with its key.
    const { body } = await own.get('/api/users?include=drafts', ann);
    expect(body.data.map((one: { drafts?: unknown[] }) => one.drafts?.length)).toEqual([
      1,
      undefined,
    ]);
    expect((await own.get('/api/drafts/2?include=user', admin)).body).toEqual({
      id: '2',
      text: 'of 2',
    });
    expect((await own.call('DELETE', '/api/drafts/1', { as: admin })).status).toBe(204);
    await own.close();
  });

  it('take nothing else with what they refuse, with a function of the user in the object too', async () => {
    const own = await startRest(
      `interface Named { name: String! mail: String! } type User implements Named { id: ID! name: String! email: String! mail: String! @default(value: "none") @auth(allow: [OWNER], owner: "id") shout: String! @computed tasks: [Task!]! }
       type Task { id: ID! title: String! user: User! } type Query { users: [User!]! user(id: ID!): User tasks: [Task!]! }`,
      { database, manifest, resolvers: { User: { shout: (row) => row.name.toUpperCase() } } },
    );
    await own.store.db
      .insertInto('users')
      .values(['Ann', 'Bob'].map((name) => ({ name, email: `${name}@x.test`, mail: `${name}'s` })))
      .execute();
    await own.store.db.insertInto('tasks').values({ title: 't', user_id: 2 }).execute();
    own.statements();
    expect((await own.get('/api/users?fields=name,mail,shout', ann)).body.data).toEqual([
      { id: '1', name: 'Ann', mail: "Ann's", shout: 'ANN' },
      { id: '2', name: 'Bob', shout: 'BOB' },
    ]);
    expect(own.statements().length).toBe(1);
    expect((await own.get('/api/users?fields=name,mail', ann)).body.data).toEqual([
      { id: '1', name: 'Ann', mail: "Ann's" },
      { id: '2', name: 'Bob' },
    ]);
    expect((await own.get('/api/tasks?include=user', ann)).body.data[0].user).toEqual({
      id: '2',
      name: 'Bob',
      shout: 'BOB',
    });
    await own.close();
  });

  it('say the same as GraphQL does to the same caller', async () => {
    for (const as of [undefined, ann, bob, admin, key('*'), key('pages:read')]) {
      for (const [plural, fields] of [
        ['users', 'id name'],
        ['notes', 'id text'],
        ['pages', 'id title'],
        ['leads', 'id email'],
        ['plains', 'id text'],
        ['logs', 'id line'],
      ] as const) {
        const graphql = await server.query(`{ ${plural} { ${fields} } }`, {}, as);
        const rest = await server.get(
          `/api/${plural}?fields=${fields.replace(' ', ',')}&limit=100`,
          as,
        );
        if (graphql.data) expect(rest.body.data).toEqual(graphql.data[plural]);
        else
          expect([plural, rest.status]).toEqual([
            plural,
            graphql.errors?.[0]?.extensions.code === 'FORBIDDEN' ? 403 : 401,
          ]);
      }
    }
  });
});
