import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createDatabase, describeWith } from '../engines/available.ts';
import { noteStatements } from '../generator/statements.ts';
import { GOOD, OPERATOR, startConsole, type ConsoleServer } from './server.ts';

const SDL = `
  type User { id: ID! email: String! @unique }
  type Author @auth(allow: [PUBLIC]) { id: ID! name: String! posts: [Post!]! }
  type Post @auth(allow: [OWNER], owner: "editor") @auth(allow: [PUBLIC], where: { shown: true }, on: [READ])
    @auth(allow: [PUBLIC], on: [CREATE, UPDATE, DELETE]) {
    id: ID! title: String! @constraint(maxLength: 2000) shown: Boolean password: String minutes: Int author: Author editor: User }
  type Note @auth(allow: [ROLE], roles: ["Owner"]) { id: ID! text: String! }
  type Query { authors: [Author!]! posts(where: PostFilter, limit: Int): [Post!]! post(id: ID!): Post notes: [Note!]! search(text: String!): [Post!]! missing: Int }
  input PostFilter { title: TextWords password: TextWords }
  input TextWords { eq: String contains: String in: [String!] }
  type Mutation {
    createPost(title: String!, password: String, authorId: ID): Post!
    updatePost(id: ID!, title: String): Post
    deletePost(id: ID!): Boolean!
    publish: Int
  }
  type Subscription { postCreated: Post! }
`;
const MANIFEST = `
name: shop
api: { access: public, limits: { cost: 20000 } }
auth: { roles: { list: [Owner, Member], first: Owner, default: Member } }
console: { roles: { Owner: ["*"] } }
`;

let called = 0;
const call = () => void (called += 1);
const app = {
  resolvers: { Post: { minutes: call }, Query: { search: call }, Mutation: { publish: call } },
  entityHooks: { Post: { resolveInput: call, beforeOperation: { create: call, update: call } } },
};

const onSqlite = (file: string) => async (text: string) => {
  const database = new DatabaseSync(file);
  const rows = database.prepare(text).all();
  database.close();
  return rows;
};

const onPostgres = (url: string) => async (text: string) => {
  const client = new pg.Client(url);
  await client.connect();
  const { rows } = await client.query(text);
  await client.end();
  return rows;
};

describe('POST /api/system/explain on sqlite', () => explained('sqlite'));
describeWith('postgres', 'POST /api/system/explain on postgres', () => explained('postgres'));

function explained(database: 'sqlite' | 'postgres'): void {
  let server: ConsoleServer;
  const folder = mkdtempSync(join(tmpdir(), 'twofold-explain-'));
  let drop = async () => {};
  /** Runs a statement beside the server. */
  let run: (text: string) => Promise<Record<string, unknown>[]>;
  let as: Record<string, string>;
  let owner: { id: string; accessToken: string };
  const explain = (query: string, more: object = {}) =>
    server.call('POST', '/api/system/explain', { query, ...more }, as);
  const statementsOf = async (query: string, more: object = {}) => {
    const { status, body } = await explain(query, more);
    expect([status, body.error]).toEqual([200, undefined]);
    return body.statements as {
      path: string[];
      sql: string;
      parameters: unknown[];
      plan: string[];
    }[];
  };
  const count = async (table: string) =>
    Number((await run(`select count(*) as n from ${table}`))[0]!['n']);

  beforeAll(async () => {
    const file = join(folder, 'app.db');
    const made =
      database === 'postgres'
        ? await createDatabase()
        : { url: `file:${file}`, drop: async () => {} };
    drop = made.drop;
    run = database === 'postgres' ? onPostgres(made.url) : onSqlite(file);
    server = await startConsole({
      sdl: SDL,
      manifest: MANIFEST,
      env: { DATABASE_URL: made.url },
      ...app,
    });
    const email = 'owner@x.test';
    const token = 'setup-of-the-console-0123456789abcdef';
    await server.call('POST', '/api/auth/setup', { token, email, password: GOOD });
    owner = (await server.call('POST', '/api/auth/login', { email, password: GOOD })).body;
    const host = { password: OPERATOR, client: 'console', delivery: 'cookie' };
    const { body } = await server.call('POST', '/api/auth/login', host);
    as = { Authorization: `Bearer ${body.accessToken}` };
  });
  afterAll(async () => {
    await server.close();
    await drop();
    rmSync(folder, { recursive: true });
  });

  it('answers with path, SQL, parameters, plan, functions, depth and cost', async () => {
    const { status, body } = await explain(
      'query P($n: Int) { mine: posts(limit: $n) { title minutes } authors { name posts { id } } }',
      { variables: { n: 3 }, operationName: 'P' },
    );
    expect(status).toBe(200);
    expect(Object.keys(body)).toEqual(['statements', 'functions', 'depth', 'cost']);
    expect([body.functions, body.depth, body.cost]).toEqual([['Post.minutes'], 3, 10_103]);
    expect(body.statements.map(({ path }: { path: string[] }) => path)).toEqual([
      ['mine'],
      ['authors'],
    ]);
    const [mine, authors] = body.statements;
    expect(mine.sql).toMatch(/^select .*"posts"/s);
    expect(mine.parameters).toContain(3);
    const plan = authors.plan.join('\n');
    if (database === 'sqlite') expect(plan).toMatch(/SEARCH \w+ USING INDEX posts_author_id_index/);
    else expect(plan).toMatch(/posts_author_id_index.*cost=/);
  });

  it('applies the rules of the asker, of a user, and of the public', async () => {
    const query = '{ posts { id } }';
    const [own] = await statementsOf(query);
    const [open] = await statementsOf(query, { as: 'public' });
    const [owned] = await statementsOf(query, { as: { user_id: owner.id } });
    expect(own!.sql).toBe(open!.sql);
    expect(open!.sql).not.toContain('editor_id');
    expect(owned!.sql).toContain('"editor_id" = ');
    expect(owned!.parameters.map(String)).toContain(String(owner.id));
    expect(await statementsOf('{ notes { id } }', { as: { user_id: owner.id } })).toHaveLength(1);
    const refused = await explain('{ notes { id } }', { as: 'public' });
    expect([refused.status, refused.body.errors[0].extensions.code]).toEqual([
      400,
      'UNAUTHENTICATED',
    ]);
    const half = await explain('{ notes { id } posts { id } }', { as: 'public' });
    expect([half.status, half.body.statements.length, half.body.errors.length]).toEqual([
      200, 1, 1,
    ]);
    for (const wrong of ['me', 1, {}, { user_id: 999 }, { user_id: null }])
      expect((await explain(query, { as: wrong })).status, JSON.stringify(wrong)).toBe(400);
  });

  it('runs nothing, of mutations neither: the database is only asked for plans', async () => {
    await run(`insert into authors (name) values ('Ada')`);
    const before = [await count('posts'), await count('authors')];
    const operations = [
      'mutation { createPost(title: "a", authorId: 1) { id author { name posts { id } } } }',
      'mutation { updatePost(id: 1, title: "b") { id } deletePost(id: 2) }',
      'mutation { publish }',
      '{ search(text: "x") { id author { name } } }',
      'subscription { postCreated { id title } }',
    ];
    const notes = noteStatements();
    const answers = [];
    for (const query of operations) answers.push(await explain(query));
    const asked = notes.take().filter((text) => !/auth_|pragma|^set |^begin|^commit/i.test(text));
    notes.end();
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200]);
    const statements = answers.flatMap(({ body }) => body.statements);
    expect(statements.map(({ path }) => path[0])).toEqual(
      expect.arrayContaining(['createPost', 'updatePost', 'deletePost', 'postCreated']),
    );
    expect(statements.some(({ sql }) => /^insert into "posts"/.test(sql))).toBe(true);
    expect(statements.some(({ sql }) => /^delete from "posts"/.test(sql))).toBe(true);
    // SQLite has no step for a row that is only inserted.
    for (const { sql, plan } of statements)
      expect([sql, plan.length > 0]).toEqual([sql, database !== 'sqlite' || !/^insert/.test(sql)]);
    expect(asked.length).toBeGreaterThan(5);
    expect(asked.filter((text) => !text.startsWith('EXPLAIN '))).toEqual([]);
    expect([await count('posts'), await count('authors')]).toEqual(before);
    expect(called).toBe(0);
    expect(answers.map(({ body }) => body.functions)).toEqual([
      ['Post.resolveInput', 'Post.beforeOperation'],
      ['Post.resolveInput', 'Post.beforeOperation'],
      ['Mutation.publish'],
      ['Query.search'],
      [],
    ]);
  });

  it('refuses what /graphql refuses, with its errors and limits', async () => {
    const deep = `{ authors { ${'posts { author { '.repeat(6)} id ${'} }'.repeat(6)} } }`;
    const codes = [
      ['{ posts(', 'GRAPHQL_PARSE_FAILED'],
      ['{ posts { nope } }', 'GRAPHQL_VALIDATION_FAILED'],
      ['query A { posts { id } } query B { posts { id } }', 'OPERATION_RESOLUTION_FAILURE'],
      ['query A($id: ID!) { post(id: $id) { id } }', 'BAD_USER_INPUT'],
      [deep, 'TOO_DEEP'],
      [
        '{ authors { posts(limit: 100) { author { posts(limit: 100) { author { id } } } } } }',
        'TOO_COSTLY',
      ],
      [`{ ${'a '.repeat(3000)} }`, 'TOO_MANY_TOKENS'],
      ['{ posts(limit: 101) { id } }', 'BAD_USER_INPUT'],
      [`mutation { createPost(title: "${'x'.repeat(2001)}") { id } }`, 'BAD_USER_INPUT'],
      ['{ missing }', 'NOT_IMPLEMENTED'],
    ] as const;
    for (const [query, code] of codes) {
      const { status, body } = await explain(query);
      expect([query.slice(0, 60), status, body.errors?.[0].extensions.code]).toEqual([
        query.slice(0, 60),
        400,
        code,
      ]);
      expect(body.error).toBe(body.errors[0].message);
    }
    expect((await explain('x'.repeat(1_100_000))).status).toBe(413);
    expect((await explain('{ posts { id } }', { variables: [] })).status).toBe(400);
  });

  it('shows no secret, neither as a parameter nor in the plan', async () => {
    const secret = `hunter2'"2222`;
    const asked = [
      await explain('query ($p: String) { posts(where: { password: { eq: $p } }) { id } }', {
        variables: { p: secret },
      }),
      await explain('query ($w: PostFilter) { posts(where: $w) { id } }', {
        variables: { w: { password: { in: [secret, 'other-secret'] } } },
      }),
      await explain(
        `mutation { createPost(title: "t", password: ${JSON.stringify(secret)}) { id } }`,
      ),
    ];
    for (const { status, body } of asked) {
      const text = JSON.stringify(body);
      expect([status, text.includes('hunter2'), text.includes('other-secret')]).toEqual([
        200,
        false,
        false,
      ]);
      expect(text).toContain('***');
    }
  });

  it('cuts what is long, and answers many at once', async () => {
    const long = 'y'.repeat(500_000);
    const where = {
      title: { in: [...Array.from({ length: 500 }, (_, index) => `t${index}`), long] },
    };
    const query = 'query ($w: PostFilter) { posts(where: $w) { id } }';
    const answers = await Promise.all(
      Array.from({ length: 8 }, (_, index) =>
        index % 2 ? explain(query, { variables: { w: where } }) : explain('{ authors { id } }'),
      ),
    );
    for (const [index, { status, body }] of answers.entries()) {
      expect([status, body.statements.length]).toEqual([200, 1]);
      expect(body.statements[0].sql.includes('"authors"')).toBe(index % 2 === 0);
      expect(JSON.stringify(body).length).toBeLessThan(40_000);
    }
  });

  it('is for callers with system:read', async () => {
    const body = { query: '{ posts { id } }' };
    expect((await server.call('POST', '/api/system/explain', body)).status).toBe(401);
    const email = 'member@x.test';
    await server.call('POST', '/api/auth/register', { email, password: GOOD });
    const { body: member } = await server.call('POST', '/api/auth/login', {
      email,
      password: GOOD,
    });
    const bearer = (token: string) => ({ Authorization: `Bearer ${token}` });
    const answers = [member, owner].map(({ accessToken }) =>
      server.call('POST', '/api/system/explain', body, bearer(accessToken)),
    );
    expect((await Promise.all(answers)).map(({ status }) => status)).toEqual([403, 200]);
  });
}
