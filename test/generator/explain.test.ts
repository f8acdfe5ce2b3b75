import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createLog } from '../../runtime/core/config/log.ts';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { exampleOperations } from '../../generator/explain/example-operation.ts';
import { explainAll, type Explanation } from '../../generator/explain/facts.ts';
import type { Statements } from '../../generator/explain/statements.ts';
import { readProjectOf } from '../../generator/read-project.ts';
import { createSettings } from '../../runtime/core/config/settings.ts';
import { createDryRun } from '../../runtime/core/graphql/dry-run.ts';
import { createServer, type Running } from '../../runtime/core/index.ts';
import { projectRoutes } from '../../schema/index.ts';
import { createDatabase, postgresUrl } from '../engines/available.ts';
import { startServer, user } from '../graphql/harness.ts';
import { generator, repo } from './project.ts';
import { noteStatements, type StatementNotes } from './statements.ts';

const examples = ['blog', 'company', 'hosting'] as const;
const databases = [
  'sqlite',
  ...(postgresUrl || process.env['CI'] ? ['postgres'] : []),
] as readonly ('sqlite' | 'postgres')[];
const root = (name: string) => join(repo, 'examples', name);

type Explained = Explanation & Partial<Statements> & { readonly file: string | null };

/** One run for each example: what it says depends on no test. */
const said = new Map<string, Promise<readonly Explained[]>>();

function explain(name: string): Promise<readonly Explained[]> {
  const known = said.get(name) ?? ask(name);
  said.set(name, known);
  return known;
}

async function ask(name: string): Promise<readonly Explained[]> {
  const { stdout, stderr, code } = await generator(['explain', '--json'], root(name));
  expect([code, stderr]).toEqual([0, '']);
  return JSON.parse(stdout).explanations;
}

/** What the page of rules has a row for. */
const rules = new Set(
  [...readFileSync(join(repo, 'schema/docs/rules.md'), 'utf8').matchAll(/^\| (`.+`) \|/gm)].flatMap(
    ([, cell]) => [...cell!.matchAll(/`([^`]+)`/g)].map(([, rule]) => rule!),
  ),
);

describe.each(examples)('explain in %s', (name) => {
  test('names every type and field of the schema, by a rule that the docs have', async () => {
    const all = await explain(name);
    const declared = [
      ...readFileSync(join(root(name), 'schema.graphql'), 'utf8').matchAll(
        /^type (\w+)[^{]*\{([^]*?)^\}/gm,
      ),
    ].flatMap(([, type, body]) =>
      [...body!.matchAll(/^ {2}(\w+)[(:]/gm)].map(([, field]) => `${type}.${field}`),
    );
    expect(declared.length).toBeGreaterThan(10);
    expect(
      all
        .map(({ coordinate }) => coordinate)
        .filter((each) => each.includes('.'))
        .sort(),
    ).toEqual(declared.sort());
    for (const { coordinate, what, decidedBy } of all)
      expect([
        coordinate,
        what,
        rules.has(decidedBy.replace(/^(list|connection) of .+/, '$1 of …')) || decidedBy,
      ]).toEqual([coordinate, expect.stringMatching(/\S/), true]);
  });

  test('names the file and line where each stands', async () => {
    const { project } = await readProjectOf(root(name));
    for (const { coordinate, file } of await explain(name)) {
      expect([coordinate, file]).toEqual([coordinate, expect.stringMatching(/^src\/.+:\d+$/)]);
      const [path = '', line = ''] = file!.split(':');
      const lines = readFileSync(join(root(name), path), 'utf8').split('\n');
      const [type, field] = coordinate.split('.');
      const source = project!.entities
        .find((entity) => entity.name === type)
        ?.fields.find((each) => each.name === field)?.source;
      const word =
        field === undefined
          ? type
          : source?.kind === 'column' && path.endsWith('model.ts')
            ? source.column
            : field;
      expect([coordinate, lines[Number(line) - 1]]).toEqual([
        coordinate,
        expect.stringMatching(new RegExp(`^\\s*(async )?${word}[:(]`)),
      ]);
      // The type whose field it is: the nearest line above that is indented less and opens a brace, or the file's own name.
      if (field !== undefined)
        expect([
          coordinate,
          path.endsWith(`resolvers/${type}.ts`) || opened(lines.slice(0, Number(line)), 'columns'),
        ]).toEqual([coordinate, path.endsWith(`resolvers/${type}.ts`) || type]);
    }
  });

  test('names tables, columns and routes that are there', async () => {
    const { project } = await readProjectOf(root(name));
    const routes = new Set(projectRoutes(project!).map(({ method, path }) => `${method} ${path}`));
    const columns = new Set(
      project!.entities.flatMap((entity) =>
        entity.columns.map((column) => `${entity.table}.${column.name}`),
      ),
    );
    for (const { coordinate, stored, routes: named = [], what } of explainAll(project!)) {
      for (const route of named)
        expect([coordinate, routes.has(route)]).toEqual([coordinate, true]);
      if (stored && (what === 'column' || what === 'relation to one'))
        expect([coordinate, columns.has(stored)]).toEqual([coordinate, true]);
    }
  });
});

/** The word before the nearest brace that encloses the last line, `skipped` apart. */
function opened(lines: readonly string[], skipped: string): string | undefined {
  const indentOf = (line: string) => /^ */.exec(line)![0].length;
  let indent = indentOf(lines.at(-1)!);
  for (const line of lines.slice(0, -1).toReversed()) {
    const word = /^\s*(?:export type )?(\w+)(?:: | = )\{$/.exec(line)?.[1];
    if (word === undefined || indentOf(line) >= indent) continue;
    indent = indentOf(line);
    if (word !== skipped) return word;
  }
  return undefined;
}

describe.each(databases)('the statement that explain prints, on %s', (database) => {
  describe.each(examples)('of %s', (name) => {
    const data = mkdtempSync(join(tmpdir(), 'twofold-explain-'));
    let notes: StatementNotes;
    const ended: (() => Promise<void>)[] = [];
    let running: Running;
    let token: string | undefined;

    beforeAll(async () => {
      const made =
        database === 'postgres'
          ? await createDatabase()
          : { url: `file:${join(data, 'app.db')}`, drop: async () => {} };
      const { app } = await import(`../../examples/${name}/src/generated/app.ts`);
      const env = {
        DATABASE_URL: made.url,
        JWT_SECRET: 'j'.repeat(43),
        API_KEY: 'k'.repeat(43),
        HOST_PASSWORD: 'correct horse battery',
        // A limit is counted beside the requests, by a statement that belongs to none of them.
        RATE_LIMIT_ENABLED: 'false',
        LOG_LEVEL: 'silent',
      };
      running = await createServer(app).start('127.0.0.1:0', { env, logTo: { write: () => {} } });
      ended.push(async () => (await running.close(), await made.drop()));
      notes = noteStatements();
      ended.push(async () => notes.end());
      if (name === 'company') token = await signIn();
      if (name === 'hosting')
        token = (await call('/api/auth/login', { password: 'correct horse battery' })).token;
      await fill(name);
    });
    afterAll(async () => {
      for (const end of ended.toReversed()) await end();
      rmSync(data, { recursive: true, force: true });
    });

    const call = async (path: string, body: unknown) => {
      const response = await fetch(`${running.url}${path}`, {
        method: 'POST',
        headers: {
          'content-type': 'application/json',
          ...(token !== undefined && { authorization: `Bearer ${token}` }),
        },
        body: JSON.stringify(body),
      });
      return (await response.json()) as any;
    };
    /** The first user, whose row the examples ask for. */
    const signIn = async () => {
      const person = (name: string) => ({
        name,
        email: `${name}@example.test`,
        password: 'a long pass phrase 17',
      });
      const { accessToken } = await call('/api/auth/register', person('ann'));
      await call('/api/auth/register', person('bob'));
      return accessToken as string;
    };
    /** One row of each, so that what is asked for is there. */
    const fill = async (example: string) => {
      // What is deleted is another post: the first has comments.
      const rows = {
        blog: [
          'createAuthor(name: "A", email: "a@example.test") { id }',
          'createTag(name: "t") { id }',
          'createPost(input: { title: "T", body: "B", authorId: 1, tagIds: [1] }) { id }',
          'createComment(postId: 1, text: "c") { id }',
        ],
        company: [
          'createCompany(name: "C") { id }',
          'joinCompany(companyId: 1) { id }',
          'createProject(input: { title: "P", companyId: 1 }) { id }',
        ],
        hosting: ['createTeam(name: "T") { id }', 'createHostedApp(name: "a", teamId: 1) { id }'],
      }[example]!;
      for (const row of rows)
        expect(await call('/graphql', { query: `mutation { ${row} }` })).not.toHaveProperty(
          'errors',
        );
    };

    test('is what the running server issues for that field', async () => {
      const all = (await explain(name)).filter(({ coordinate }) => coordinate.includes('.'));
      const silent: string[] = [];
      for (const { coordinate, operation, statements } of inOrder(all)) {
        if (!operation || !statements) {
          silent.push(coordinate);
          continue;
        }
        notes.take();
        await call('/graphql', { query: '{ __typename }' });
        const around = notes.take();
        const answer = await call('/graphql', {
          query: coordinate === 'Mutation.deletePost' ? operation.replace('"1"', '"2"') : operation,
        });
        expect([coordinate, answer.errors]).toEqual([coordinate, undefined]);
        expect([coordinate, without(notes.take(), around)]).toEqual([
          coordinate,
          statements[database],
        ]);
      }
      expect(silent).toEqual(name === 'company' ? ['Mutation.joinCompany'] : []);
    });
  });
});

const WIDE = `scalar DateTime
type Query {
  user(id: ID!): User
  userByEmail(email: String!): User
  users(where: UserWhere, orderBy: UserOrder, limit: Int, offset: Int): [User!]!
  postsConnection(first: Int, after: String): PostConnection!
  search: [Hit!]!
  node(id: ID!): Node
  nodes(ids: [ID!]!): [Node]!
}
type Mutation {
  createUser(name: String! @constraint(pattern: "^[A-Z]")): User!
  updateUser(id: ID!, input: UserPatch!): User
  createPost(title: String!, authorId: ID!, tagIds: [ID!]): CreatePostPayload!
  updatePost(id: ID!, title: String): Post
  deletePost(id: ID!): Boolean!
}
interface Node { id: ID! }
union Hit = User | Post
type User implements Node @auth(allow: [USER]) { id: ID! name: String! email: String @unique @auth(allow: [USER], on: [READ]) posts(limit: Int, offset: Int): [Post!]! @relation(inverse: "author") profile: Profile createdAt: DateTime! place: Place }
type Place { city: String! }
type Profile { id: ID! user: User! bio: String }
type Post implements Node @entity(softDelete: true) @auth(allow: [PUBLIC], on: [READ]) @auth(allow: [OWNER], owner: "author") { id: ID! title: String! author: User! tags: [Tag!]! target: Hit updatedAt: DateTime! secret: String @auth(allow: [OWNER], owner: "author") }
type Tag { id: ID! name: String! posts: [Post!]! }
input UserPatch { name: String }
input UserWhere { name: StringFilter }
input StringFilter { eq: String contains: String }
enum UserOrder { NAME_ASC NAME_DESC }
type CreatePostPayload { post: Post clientMutationId: String }
type PostConnection { edges: [PostEdge!]! pageInfo: PageInfo! totalCount: Int! }
type PostEdge { node: Post! cursor: String! }
type PageInfo { hasNextPage: Boolean! endCursor: String }
`;

describe.each(databases)(
  'the statements of a schema with every kind of field, on %s',
  (database) => {
    test('are what a server issues for the caller that is named', async () => {
      const server = await startServer(WIDE, {
        database,
        manifest:
          'name: wide\nauth: {}\napi: { access: user, limits: { cost: 9007199254740991 } }\n',
      });
      try {
        await server.store.db
          .insertInto('users')
          .values({ name: 'Ada', email: 'ada@example.com', created_at: '2026-01-01T00:00:00.000Z' })
          .execute();
        for (const id of [1, 2, 3])
          await server.store.db
            .insertInto('posts')
            .values({ title: `p${id}`, author_id: 1, updated_at: '2026-01-01T00:00:00.000Z' })
            .execute();
        await server.store.db.insertInto('tags').values({ name: 't' }).execute();
        await server.store.db.insertInto('profiles').values({ user_id: 1 }).execute();
        const exampleOf = exampleOperations(server.project, () => false);
        const dryRun = createDryRun({
          kernel: {
            project: server.project,
            settings: createSettings({}),
            log: createLog({ level: 'silent' }, { write: () => {} }),
            root: '/',
          },
          dialect: database,
          resolvers: {},
          scalars: {},
        });
        const asked = inOrder(
          explainAll(server.project)
            .flatMap(({ coordinate }) => ({
              coordinate,
              operation: coordinate.includes('.') ? (exampleOf(coordinate) ?? '') : '',
            }))
            .filter(({ operation }) => operation !== '') as Explained[],
        );
        expect(asked.length).toBeGreaterThan(40);
        for (const { coordinate, operation = '' } of asked) {
          const told = await dryRun(operation);
          expect([coordinate, operation, told]).toEqual([
            coordinate,
            operation,
            expect.objectContaining({ as: expect.any(String) }),
          ]);
          server.statements();
          const answer = await server.query(
            operation
              .replace('createUser(name: "text")', 'createUser(name: "Bob")')
              .replace('deletePost(id: "1")', 'deletePost(id: "3")'),
            {},
            told?.as === 'anyone' ? undefined : user(1),
          );
          expect([coordinate, operation, answer.errors]).toEqual([
            coordinate,
            operation,
            undefined,
          ]);
          expect([coordinate, without(server.statements(), [])]).toEqual([
            coordinate,
            told?.statements,
          ]);
        }
      } finally {
        await server.close();
      }
    });
  },
);

/** Reads first; of the writes those that remove last. */
function inOrder(all: readonly Explained[]): readonly Explained[] {
  const rank = ({ operation = '' }: Explained) =>
    operation.startsWith('mutation { delete') ? 2 : operation.startsWith('mutation') ? 1 : 0;
  return all.toSorted((a, b) => rank(a) - rank(b));
}

/** What the server does for every request, who calls and what of it, is not the field's. */
function without(texts: readonly string[], around: readonly string[]): string[] {
  const left = [...texts];
  for (const text of around) if (left.includes(text)) left.splice(left.indexOf(text), 1);
  return (
    left
      .map((text) => text.replaceAll(/"\$[\w-]{12}"/g, '"$marker"'))
      // Limits are leased for several requests at once: a request charges them now and then. The
      // server also looks after tables of its own, at times that no request decides.
      .filter(
        (text) =>
          !/^(begin|commit|start transaction)|\bauth_charge\(|"(auth_limit|hosting_)\w+"/i.test(
            text,
          ),
      )
  );
}
