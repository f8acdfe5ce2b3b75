import { afterEach, describe, expect, it } from 'vitest';
import {
  buildProject,
  buildTables,
  parseManifest,
  parseSchema,
  readProject,
} from '@twofold/schema';
import { auth } from '@twofold/auth';
import { createServer, type Running } from '../../runtime/core/index.ts';
import { createTables } from '../../runtime/database/tables/create-tables.ts';
import { openStore } from '../../runtime/core/store/open-store.ts';
import { createDatabase, postgresUrl } from '../engines/available.ts';
import { caller, GOOD, type TestServer } from './server.ts';

const databases = ['SQLite', ...(postgresUrl ? ['PostgreSQL'] : [])] as const;
const SDL = `
  type User { id: ID! name: String! email: String! username: String phone: String isLocked: Boolean posts: [Post!]! }
  type Post @auth(allow: [OWNER], owner: "author") { id: ID! title: String! author: User! }
  input Words { eq: String startsWith: String } input UserFilter { name: Words email: Words phone: Words }
  enum UserOrder { NAME_ASC EMAIL_ASC }
  type Query { user(id: ID!): User userByEmail(email: String!): User users(where: UserFilter, orderBy: UserOrder, email: String): [User!]! posts: [Post!]! }
  type Mutation { updateUser(id: ID!, name: String): User deleteUser(id: ID!): Boolean! createPost(title: String!): Post! }
  type Subscription { userUpdated: User! }
`;
const MANIFEST = `name: shop
api: { rest: true, access: public }
auth: {}
`;
const ENV = {
  JWT_SECRET: 's'.repeat(43),
  API_KEY: 'k'.repeat(43),
  LOG_LEVEL: 'silent',
  RATE_LIMIT_ENABLED: 'false',
};
const quiet = { write: () => {} };

describe.each(databases)('accounts on %s', (database) => {
  const ends: (() => Promise<unknown>)[] = [];
  afterEach(async () => {
    for (const end of ends.splice(0).toReversed()) await end();
  });

  const newUrl = async () => {
    if (database === 'SQLite') return ':memory:';
    const made = await createDatabase();
    ends.push(() => made.drop());
    return made.url;
  };
  interface Shop {
    readonly running: Running;
    readonly call: TestServer['call'];
    ask(query: string, token?: string | Record<string, string>): Promise<any>;
    /** Registers, and gives the access token. */
    person(name: string, more?: Record<string, unknown>): Promise<string>;
  }
  const serve = async (sdl = SDL, manifest = MANIFEST): Promise<Shop> => {
    const server = createServer().with(auth()).schema(sdl, manifest);
    const running = await server.start('127.0.0.1:0', {
      env: { ...ENV, DATABASE_URL: await newUrl() },
      logTo: quiet,
    });
    ends.push(() => running.close());
    const call = caller(running.url);
    return {
      running,
      call,
      ask: async (query, as) => {
        const headers = typeof as === 'string' ? { Authorization: `Bearer ${as}` } : (as ?? {});
        return (await call('POST', '/graphql', { query }, headers)).body;
      },
      person: async (name, more = {}) => {
        const person = { name, email: `${name}@x.test`, password: GOOD, ...more };
        const { status, body } = await call('POST', '/api/auth/register', person);
        expect([name, status]).toEqual([name, 201]);
        return body.accessToken as string;
      },
    };
  };

  it('are read by name and not by address by others, and changed by their owner, through GraphQL', async () => {
    const shop = await serve();
    const [ann, bob] = [
      await shop.person('ann', { phone: '+1 555 0100' }),
      await shop.person('bob'),
    ];
    expect(await shop.ask('{ user(id: 1) { name username } }', bob)).toEqual({
      data: { user: { name: 'ann', username: 'ann' } },
    });
    expect(
      (await shop.ask('{ user(id: 1) { email phone isLocked } }', ann)).data.user,
    ).toMatchObject({
      email: 'ann@x.test',
    });
    for (const field of ['email', 'phone', 'isLocked'])
      expect((await shop.ask(`{ user(id: 1) { ${field} } }`, bob)).errors).toMatchObject([
        { extensions: { code: 'FORBIDDEN' } },
      ]);
    // In the rows of others it has no value, so nothing is found by it.
    for (const query of [
      '{ users(where: { email: { startsWith: "a" } }) { id } }',
      '{ users(where: { phone: { eq: "+1 555 0100" } }) { id } }',
      '{ users(email: "ann@x.test") { id } }',
    ])
      expect([query, await shop.ask(query, bob)]).toEqual([query, { data: { users: [] } }]);
    // As an argument it is like an address that nobody has.
    expect([
      await shop.ask('{ userByEmail(email: "ann@x.test") { id } }', bob),
      await shop.ask('{ userByEmail(email: "nobody@x.test") { id } }', bob),
    ]).toEqual([{ data: { userByEmail: null } }, { data: { userByEmail: null } }]);
    expect((await shop.ask('{ userByEmail(email: "ann@x.test") { id } }', ann)).data).toEqual({
      userByEmail: { id: '1' },
    });
    expect(await shop.ask('mutation { updateUser(id: 1, name: "x") { id } }', bob)).toMatchObject({
      errors: [{ extensions: { code: 'FORBIDDEN' } }],
    });
    for (const who of [ann, bob, undefined])
      expect(await shop.ask('mutation { deleteUser(id: 1) }', who)).toHaveProperty('errors');
    expect(await shop.ask('mutation { updateUser(id: 1, name: "Ann") { name } }', ann)).toEqual({
      data: { updateUser: { name: 'Ann' } },
    });
    // `api.access: public` opens nothing of it.
    expect(await shop.ask('{ users { name } }')).toMatchObject({
      errors: [{ extensions: { code: 'UNAUTHENTICATED' } }],
    });
  });

  it('are not made by the address that an upsert looks for', async () => {
    const shop = await serve(
      `type User @auth(allow: [USER]) { id: ID! name: String! email: String! @unique }
       input Address { email: String! } input Person { name: String }
       type Query { users: [User!]! }
       type Mutation { upsertUser(where: Address!, create: Person!, update: Person!): User }`,
    );
    const ann = await shop.person('ann');
    const upsert = (email: string) =>
      shop.ask(
        `mutation { upsertUser(where: { email: "${email}" }, create: { name: "x" }, update: { name: "y" }) { name } }`,
        ann,
      );
    expect((await upsert('bob@x.test')).errors).toMatchObject([
      { message: 'email is changed by the flows of signing in alone' },
    ]);
    expect(await upsert('ann@x.test')).toEqual({ data: { upsertUser: { name: 'y' } } });
    expect(await shop.ask('{ users { name } }', ann)).toEqual({ data: { users: [{ name: 'y' }] } });
    await shop.person('bob');
  });

  it('are kept in REST as in GraphQL, and open to a key by its scopes', async () => {
    const shop = await serve();
    const [ann, bob] = [await shop.person('ann'), await shop.person('bob')];
    const as = (token: string) => ({ Authorization: `Bearer ${token}` });
    const root = { 'X-API-Key': ENV.API_KEY };
    expect((await shop.call('GET', '/api/users/1', undefined, as(bob))).body).toEqual({
      id: '1',
      name: 'ann',
      username: 'ann',
    });
    expect((await shop.call('GET', '/api/users/1', undefined, as(ann))).body).toMatchObject({
      email: 'ann@x.test',
    });
    const found = async (query: string) =>
      (await shop.call('GET', `/api/users?${query}`, undefined, as(bob))).body.data.map(
        ({ name }: { name: string }) => name,
      );
    expect([await found('email=ann@x.test'), await found('email=bob@x.test')]).toEqual([
      [],
      ['bob'],
    ]);
    expect((await shop.call('GET', '/api/users')).status).toBe(401);
    expect((await shop.call('PATCH', '/api/users/1', { name: 'x' }, as(bob))).status).toBe(403);
    expect((await shop.call('DELETE', '/api/users/1', undefined, as(bob))).status).toBe(403);
    expect((await shop.call('DELETE', '/api/users/1', undefined, as(ann))).status).toBe(403);
    for (const body of [{ email: 'eve@x.test' }, { name: 'A', email: 'eve@x.test' }])
      expect((await shop.call('PATCH', '/api/users/1', body, as(ann))).status).toBe(400);
    expect((await shop.call('GET', '/api/users/1', undefined, root)).body.email).toBe('ann@x.test');
    expect((await shop.call('PATCH', '/api/users/1', { name: 'Ann' }, root)).body.name).toBe('Ann');
    expect((await shop.call('DELETE', '/api/users/2', undefined, root)).status).toBe(204);
  });

  it('cannot be given a schema whose mutations write their address: the server says what the generator says', async () => {
    const sdl = SDL.replace('updateUser(id: ID!, name', 'updateUser(id: ID!, email: String, name');
    expect(() => createServer().schema(sdl, MANIFEST)).toThrow(/AUTH_COLUMN_WRITTEN/);
    const { parsed } = parseSchema([{ file: 's', text: sdl }]);
    const { manifest } = parseManifest({ file: 'm', text: MANIFEST });
    const project = buildProject({ schema: parsed!, manifest });
    await expect(
      createServer({ project, capabilities: [auth()] }).start('127.0.0.1:0', {
        env: { ...ENV, DATABASE_URL: ':memory:' },
        logTo: quiet,
      }),
    ).rejects.toThrow(/AUTH_COLUMN_WRITTEN: Mutation\.updateUser\.email/);
  });

  it('are one for an address in all cases of letters, though 50 register at once', async () => {
    const shop = await serve();
    const spellings = Array.from({ length: 50 }, (_, at) =>
      [...'ann.miller@x.test']
        .map((letter, place) => ((at >> (place % 6)) & 1 ? letter.toUpperCase() : letter))
        .join(''),
    );
    const answers = await Promise.all(
      spellings.map((email) =>
        shop.call('POST', '/api/auth/register', { name: 'Ann', email, password: GOOD }),
      ),
    );
    expect(answers.map(({ status }) => status).sort()).toEqual([201, ...Array(49).fill(409)]);
  });

  it('are unique by username and phone too, as they are compared', async () => {
    const shop = await serve();
    await shop.person('ann', { username: 'Ann', phone: '+1 (555) 01-00' });
    for (const more of [{ username: 'ANN' }, { phone: '+1 555 0100' }, { phone: '+15550100' }])
      expect(
        (
          await shop.call('POST', '/api/auth/register', {
            name: 'Bob',
            email: 'bob@x.test',
            password: GOOD,
            ...more,
          })
        ).status,
      ).toBe(409);
    await shop.person('cyd');
    await shop.person('dan');
  });

  it('are unique by phone where the entity has no phone', async () => {
    const shop = await serve('type User { id: ID! email: String! } type Query { users: [User!]! }');
    await shop.person('ann', { phone: '+1 (555) 01-00' });
    const again = { email: 'b@x.test', password: GOOD, phone: '+15550100' };
    expect((await shop.call('POST', '/api/auth/register', again)).status).toBe(409);
  });

  it('of a database with two of one address stay as they are: the start names both rows', async () => {
    const project = readProject({
      schema: [
        { file: 's', text: 'type User { id: ID! email: String! } type Query { users: [User!]! }' },
      ],
      manifest: { file: 'm', text: 'name: x' },
    }).project!;
    const folder = database === 'SQLite' ? `file:${await tempFile(ends)}` : await newUrl();
    const store = openStore(folder, process.cwd());
    await createTables(store, buildTables(project), 'integer');
    const rows = ['ann@x.test', 'bob@x.test', 'ANN@x.test'].map((email) => ({ email }));
    await store.db.insertInto('users').values(rows).execute();
    const server = createServer().with(auth()).schema(project.sdl, 'name: x\nauth: {}\n');
    await expect(
      server.start('127.0.0.1:0', { env: { ...ENV, DATABASE_URL: folder }, logTo: quiet }),
    ).rejects.toThrow(/1 \(ann@x\.test\), 3 \(ANN@x\.test\)/);
    expect(await store.db.selectFrom('users').selectAll().orderBy('id').execute()).toEqual(
      rows.map((row, at) => ({ id: at + 1, ...row })),
    );
    await store.close();
  });
});

async function tempFile(ends: (() => Promise<unknown>)[]): Promise<string> {
  const { mkdtemp, rm } = await import('node:fs/promises');
  const { tmpdir } = await import('node:os');
  const folder = await mkdtemp(`${tmpdir()}/twofold-identity-`);
  ends.push(() => rm(folder, { recursive: true, force: true }));
  return `${folder}/app.db`;
}
