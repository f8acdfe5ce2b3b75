import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { databases, projectOf, startServer, type TestServer, user } from './harness.ts';

const SDL = `
  type User @auth(allow: [OWNER], owner: "id") {
    id: ID! email: String! name: String salary: Int @auth(allow: [ROLE], roles: ["admin"]) notes: [Note!]!
  }
  type Note @auth(allow: [OWNER], owner: "author") { id: ID! text: String! author: User! }
  type Query { me: User viewer: User! currentUser: User @auth(allow: [USER]) notes: [Note!]! }
`;

describe.each(databases)('the caller on %s', (database) => {
  let server: TestServer;
  beforeAll(async () => {
    server = await startServer(SDL, {
      manifest: 'name: test\nauth: { roles: { list: [user, admin] } }\n',
      database,
    });
    for (const name of ['Ada', 'Bob'])
      await server.store.query(
        `insert into users (email, name, salary) values ('${name}@x.io', '${name}', 7)`,
        [],
      );
    await server.store.query(`insert into notes (text, author_id) values ('one', 2)`, []);
  });
  afterAll(() => server.close());

  it('is their own row in one statement, under the rules', async () => {
    server.statements();
    const asked = '{ me { id name notes { text } } }';
    expect(await server.query(asked, {}, user(2))).toEqual({
      data: { me: { id: '2', name: 'Bob', notes: [{ text: 'one' }] } },
    });
    expect(server.statements()).toHaveLength(1);
    expect(await server.query(asked, {}, user(1))).toEqual({
      data: { me: { id: '1', name: 'Ada', notes: [] } },
    });
    const all = await server.query(
      '{ me { salary } viewer { name } currentUser { name } }',
      {},
      user(1),
    );
    expect(all.data).toEqual({
      me: { salary: null },
      viewer: { name: 'Ada' },
      currentUser: { name: 'Ada' },
    });
    expect(all.errors).toMatchObject([
      { path: ['me', 'salary'], extensions: { code: 'FORBIDDEN' } },
    ]);
  });

  it('is null for nobody, and UNAUTHENTICATED where null is not allowed', async () => {
    expect(await server.query('{ me { id } }')).toEqual({ data: { me: null } });
    for (const [field, data] of [
      ['viewer', null],
      ['currentUser', { currentUser: null }],
    ] as const)
      expect(await server.query(`{ ${field} { id } }`)).toMatchObject({
        data,
        errors: [{ path: [field], extensions: { code: 'UNAUTHENTICATED' } }],
      });
    expect((await server.query('{ me { id } }', {}, user(9))).data).toEqual({ me: null });
    const key = { kind: 'api_key', id: 'k', scopes: ['*'], userId: null } as const;
    expect(await server.query('{ me { id } }', {}, key)).toEqual({ data: { me: null } });
    expect((await server.query('{ me { name } }', {}, { ...key, userId: 1 })).data).toEqual({
      me: { name: 'Ada' },
    });
  });
});

describe('the caller in the model', () => {
  const operation = (sdl: string, manifest?: string) =>
    projectOf(sdl, manifest).operations.map(({ name, action }) => [name, action.kind]);

  it('is inferred with auth, without arguments, for the type of the users', () => {
    const manifest = 'name: test\nauth: { roles: { list: [user, admin] } }\n';
    expect(operation(SDL, manifest)).toEqual([
      ['me', 'caller'],
      ['viewer', 'caller'],
      ['currentUser', 'caller'],
      ['notes', 'list'],
    ]);
    const other = `type User { id: ID! email: String! } type Me { id: ID! }
      type Query { me: Me viewer(at: Int): User current_user: User user: User }`;
    expect(operation(other, manifest)).toEqual([
      ['me', 'custom'],
      ['viewer', 'custom'],
      ['current_user', 'caller'],
      ['user', 'custom'],
    ]);
    expect(operation('type User { id: ID! email: String! } type Query { me: User }')).toEqual([
      ['me', 'custom'],
    ]);
  });
});
