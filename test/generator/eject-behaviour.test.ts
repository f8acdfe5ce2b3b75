import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createTerminal } from '../../generator/cli/terminal.ts';
import { run as eject } from '../../generator/commands/eject.ts';
import { explainAll } from '../../generator/explain/facts.ts';
import { readProjectOf } from '../../generator/read-project.ts';
import { createDatabase, postgresUrl } from '../engines/available.ts';
import { type Program, query, run } from '../server/program.ts';
import { generator, linkPackages, makeProject, type TestProject, typecheck } from './project.ts';

const SCHEMA = `scalar DateTime
type Query {
  user(id: ID!): User
  userByEmail(email: String!): User
  users(where: UserWhere, orderBy: UserOrder, limit: Int, offset: Int): [User!]!
  posts(title: String, limit: Int): [Post!]!
  postsConnection(first: Int, after: String, last: Int, before: String): PostConnection!
  search(limit: Int): [Hit!]!
  node(id: ID!): Node
  nodes(ids: [ID!]!): [Node]!
  tags: [Tag!]!
  notes: [Note!]!
}
type Mutation {
  createPost(title: String! @constraint(maxLength: 20), authorId: ID, tagIds: [ID!]): CreatePostPayload!
  updatePost(id: ID!, title: String, tagIds: [ID!]): Post
  deletePost(id: ID!): Boolean!
  createTag(name: String!): Tag!
  createNote(input: NoteInput!): Note!
  updateNote(id: ID!, input: NoteInput!): Note!
  deleteNote(id: ID!): Note
}
interface Node { id: ID! }
union Hit = User | Post
type User implements Node { id: ID! name: String! email: String! @unique posts(title: String, limit: Int, offset: Int): [Post!]! profile: Profile }
type Profile { id: ID! user: User! bio: String place: Place }
type Place { city: String! }
type Post implements Node @entity(softDelete: true) @auth(allow: [PUBLIC], on: [READ]) @auth(allow: [OWNER], owner: "author") {
  id: ID! title: String! author: User! tags: [Tag!]! secret: String @auth(allow: [OWNER], owner: "author") updatedAt: DateTime!
}
type Tag @auth(allow: [PUBLIC]) { id: ID! name: String! @unique posts: [Post!]! }
type Note @auth(allow: [OWNER], owner: "owner") { id: ID! text: String! owner: User! }
input NoteInput { text: String! ownerId: ID }
input UserWhere { name: StringFilter }
input StringFilter { eq: String contains: String }
enum UserOrder { NAME_ASC NAME_DESC }
type CreatePostPayload { post: Post clientMutationId: String }
type PostConnection { edges: [PostEdge!]! pageInfo: PageInfo! totalCount: Int! }
type PostEdge { node: Post! cursor: String! }
type PageInfo { hasNextPage: Boolean! endCursor: String }
`;

type Caller = 'nobody' | 'ann' | 'bob';

/** Asked of both servers in this order, by each of the callers that are named. */
const ASKED: readonly (readonly [
  callers: readonly Caller[],
  text: string,
  variables?: Record<string, unknown>,
])[] = [
  [['nobody'], 'mutation { createTag(name: "news") { id name posts { id } } }'],
  [['nobody', 'ann'], 'mutation { createTag(name: "news") { id } }'],
  [
    ['nobody'],
    'mutation { createTag(name: "more") { __typename name } again: createTag(name: "third") { id } }',
  ],
  [
    ['nobody', 'ann', 'bob'],
    'mutation { createPost(title: "One", tagIds: [1, 2]) { post { id title author { name } tags { name } } clientMutationId } }',
  ],
  [
    ['ann'],
    'mutation($t: String!, $ids: [ID!]) { createPost(title: $t, tagIds: $ids) { post { id tags { id } } } }',
    { t: 'Two', ids: ['3'] },
  ],
  [['ann'], 'mutation { createPost(title: "a title that is much too long") { post { id } } }'],
  [['ann'], 'mutation { createPost(title: "Nine", tagIds: [9]) { post { id } } }'],
  [['ann', 'bob'], 'mutation { createPost(title: "For two", authorId: 2) { post { id } } }'],
  [['nobody', 'ann', 'bob'], '{ posts { id title secret tags { name posts { title } } } }'],
  [['nobody', 'ann', 'bob'], '{ posts(limit: 1) { author { name posts(limit: 1) { id } } } }'],
  [
    ['nobody', 'ann'],
    '{ posts(title: "One", limit: 1) { title } none: posts(title: "none") { id } }',
  ],
  [['ann'], '{ posts(limit: 100) { id } }'],
  [['ann'], '{ posts(limit: 1000) { id } }'],
  [['ann'], '{ posts(limit: -1) { id } }'],
  [
    ['nobody', 'ann'],
    '{ user(id: 1) { name email posts(offset: 1, limit: 1) { title } all: posts(title: "Two") { title } profile { bio } } }',
  ],
  [
    ['ann'],
    '{ user(id: 99) { name } word: user(id: "x") { name } userByEmail(email: "bob@example.test") { id name } }',
  ],
  [
    ['ann'],
    'query($w: UserWhere, $more: Boolean!) { users(where: $w, orderBy: NAME_DESC, limit: 5) { name posts @include(if: $more) { title author { id } } ... on User { mail: email } } }',
    { w: { name: { contains: 'n' } }, more: true },
  ],
  [
    ['ann'],
    'query($more: Boolean!) { users(offset: 1, limit: 1) { name posts @include(if: $more) { title } } }',
    { more: false },
  ],
  [
    ['nobody', 'ann'],
    '{ postsConnection(first: 2) { totalCount edges { cursor node { title author { name } } } pageInfo { hasNextPage endCursor } } }',
  ],
  [['ann'], '{ postsConnection(last: 1) { edges { node { title } } } }'],
  [['ann'], '{ postsConnection(first: 1, last: 1) { totalCount } }'],
  [
    ['nobody', 'ann'],
    '{ search(limit: 3) { __typename ... on User { name } ... on Post { title author { email } } } }',
  ],
  [
    ['nobody', 'ann'],
    '{ post: node(id: "Post:1") { id ... on Post { title } } user: node(id: "User:1") { id ... on User { name } } none: node(id: "Post:99") { id } }',
  ],
  [
    ['nobody', 'ann'],
    '{ nodes(ids: ["Post:1", "User:1", "Post:99", "Post:1"]) { id ... on Post { title } ... on User { name } } }',
  ],
  [
    ['nobody', 'ann', 'bob'],
    'mutation { updatePost(id: 1, title: "Mine", tagIds: [2]) { title tags { name } secret } }',
  ],
  [['ann'], 'mutation { updatePost(id: 99, title: "None") { title } }'],
  [
    ['nobody', 'ann'],
    'mutation { createNote(input: { text: "note" }) { id text owner { name } } }',
  ],
  [['bob'], 'mutation { createNote(input: { text: "for Ann", ownerId: 1 }) { id } }'],
  [['nobody', 'ann', 'bob'], '{ notes { id text owner { email } } }'],
  [['ann', 'bob'], 'mutation { updateNote(id: 1, input: { text: "changed" }) { text } }'],
  [['bob', 'ann', 'ann'], 'mutation { deleteNote(id: 1) { id text } }'],
  [['bob', 'nobody', 'ann', 'ann'], 'mutation { deletePost(id: 1) }'],
  [
    ['nobody', 'ann'],
    '{ posts { id title } tags { name posts { title } } user(id: 1) { posts { title } } }',
  ],
  [
    ['ann'],
    'mutation { a: createTag(name: "last") { id } b: createTag(name: "last") { id } c: createTag(name: "and one") { name } }',
  ],
  [['ann'], '{ tags { id name } unknown }'],
];

interface Served {
  readonly project: TestProject;
  readonly program: Program;
  readonly tokens: Readonly<Record<Caller, string | null>>;
  readonly url: string;
  end(): Promise<void>;
}

async function serve(project: TestProject, database: 'sqlite' | 'postgres'): Promise<Served> {
  const made =
    database === 'postgres'
      ? await createDatabase()
      : { url: `file:${join(project.root, 'data/app.db')}`, drop: async () => {} };
  const env = {
    DATABASE_URL: made.url,
    PORT: '0',
    HOST: '127.0.0.1',
    JWT_SECRET: 'j'.repeat(43),
    API_KEY: 'k'.repeat(43),
    RATE_LIMIT_ENABLED: 'false',
  };
  const program = run("await import('./src/server.ts');\nexport {};\n", env, project.root);
  const url = await program.listening;
  const register = async (name: string) => {
    const response = await fetch(`${url}/api/auth/register`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({
        name,
        email: `${name}@example.test`,
        password: 'a long pass phrase 17',
      }),
    });
    return ((await response.json()) as { accessToken: string }).accessToken;
  };
  const tokens = { nobody: null, ann: await register('ann'), bob: await register('bob') };
  const end = async () => {
    program.process.kill('SIGKILL');
    await program.ended;
    await made.drop();
    project.remove();
  };
  return { project, program, url, tokens, end };
}

async function answers({ url, tokens }: Served): Promise<[string, unknown][]> {
  const told: [string, unknown][] = [];
  for (const [callers, text, variables] of ASKED) {
    for (const caller of callers)
      told.push([
        `${caller}: ${text}`,
        await query(
          url,
          text,
          variables,
          tokens[caller] === null ? {} : { authorization: `Bearer ${tokens[caller]}` },
        ),
      ]);
  }
  return told;
}

const FILES = { 'schema.graphql': SCHEMA, 'manifest.yaml': 'name: shop\nauth: {}\n' };

async function generated(): Promise<TestProject> {
  const project = makeProject(FILES);
  linkPackages(project);
  expect(await generator(['generate'], project.root)).toMatchObject({ code: 0 });
  return project;
}

/** Ejects every field that can be; in this process, because it is done often. */
async function ejectAll(root: string): Promise<string[]> {
  const { project } = await readProjectOf(root);
  const entities = new Set(project!.entities.map(({ name }) => name));
  const fields = explainAll(project!).flatMap(({ coordinate }) =>
    coordinate.includes('.') &&
    ['Query', 'Mutation', ...entities].includes(coordinate.split('.')[0]!)
      ? [coordinate]
      : [],
  );
  const terminal = {
    ...createTerminal({ json: false, quiet: true, color: false }),
    note: () => {},
  };
  for (const coordinate of fields)
    expect([
      coordinate,
      await eject({ options: {}, positionals: [coordinate], commands: [], cwd: root, terminal }),
    ]).toEqual([coordinate, 0]);
  return fields;
}

describe.each(['sqlite', ...(postgresUrl || process.env['CI'] ? ['postgres'] : [])] as (
  | 'sqlite'
  | 'postgres'
)[])('a project of which every field is ejected, on %s', (database) => {
  const ended: (() => Promise<void>)[] = [];
  let plain: Served;
  let ejected: Served;
  let fields: string[];

  beforeAll(async () => {
    const other = await generated();
    fields = await ejectAll(other.root);
    plain = await serve(await generated(), database);
    ended.push(plain.end);
    ejected = await serve(other, database);
    ended.push(ejected.end);
  });
  afterAll(async () => {
    for (const end of ended) await end();
  });

  test('answers what it answered before: queries, lists, connections, mutations and fields, for everybody', async () => {
    expect(fields.length).toBeGreaterThan(35);
    const before = await answers(plain);
    const after = await answers(ejected);
    for (const [index, [asked, answer]] of before.entries())
      expect([asked, inOrder(after[index]![1])]).toEqual([asked, inOrder(answer)]);
    // The questions reach both ends: answers, and each kind of refusal.
    const codes = new Set(
      before.flatMap(([, answer]) =>
        ((answer as any).errors ?? []).map((error: any) => error.extensions?.code),
      ),
    );
    expect([...codes].sort()).toEqual(
      expect.arrayContaining(['BAD_USER_INPUT', 'CONFLICT', 'FORBIDDEN', 'UNAUTHENTICATED']),
    );
  });
});

/** Errors by their places: functions end when they end. */
function inOrder(answer: any): unknown {
  const place = ({ path = [] }: { path?: unknown[] }) => JSON.stringify(path);
  return answer.errors
    ? {
        ...answer,
        errors: answer.errors.toSorted((a: any, b: any) => (place(a) < place(b) ? -1 : 1)),
      }
    : answer;
}

test('an ejected field may do something before and after, and with other arguments', async () => {
  const project = makeProject({
    ...FILES,
    'manifest.yaml': 'name: shop\nauth: {}\n',
    'src/resolvers/Query.ts': `import { inferred } from '@twofold/runtime';
import type { QueryOverrides } from '../generated/types.ts';

export const resolvers = {
  posts: (parent, args, ctx, info) => inferred(parent, { ...args, title: (args.title ?? 'one').toUpperCase() }, ctx, info),
} satisfies QueryOverrides;
`,
    'src/resolvers/Mutation.ts': `import { failure, inferred } from '@twofold/runtime';
import type { MutationOverrides } from '../generated/types.ts';

export const resolvers = {
  createTag: async (parent, args, ctx, info) => {
    if (args.name === 'no') throw failure.invalid('not that one');
    const tag = await inferred(parent, { name: args.name.toUpperCase() }, ctx, info);
    ctx.log.info({ tag: args.name }, 'tagged');
    return tag;
  },
} satisfies MutationOverrides;
`,
    'src/resolvers/User.ts': `import { inferred } from '@twofold/runtime';
import type { UserOverrides } from '../generated/types.ts';

export const resolvers = {
  posts: (parent, args, ctx, info) => inferred(parent, { ...args, limit: 1 }, ctx, info),
} satisfies UserOverrides;
`,
  });
  linkPackages(project);
  await generator(['generate'], project.root);
  const served = await serve(project, 'sqlite');
  try {
    expect(await typecheck(project.root)).toEqual([]);
    const ask = (text: string) =>
      query(served.url, text, undefined, { authorization: `Bearer ${served.tokens.ann}` });
    expect(await ask('mutation { createTag(name: "news") { id name } }')).toEqual({
      data: { createTag: { id: '1', name: 'NEWS' } },
    });
    expect(await ask('mutation { createTag(name: "no") { id } }')).toMatchObject({
      errors: [{ message: 'not that one' }],
    });
    for (const title of ['ONE', 'TWO'])
      await ask(`mutation { createPost(title: "${title}") { post { id } } }`);
    expect(
      await ask(
        '{ posts { title } two: posts(title: "two") { title author { posts { title } } } }',
      ),
    ).toEqual({
      data: {
        posts: [{ title: 'ONE' }],
        two: [{ title: 'TWO', author: { posts: [{ title: 'ONE' }] } }],
      },
    });
  } finally {
    await served.end();
  }
});
