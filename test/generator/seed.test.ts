import { afterEach, describe, expect, test } from 'vitest';
import { starters } from '../../templates/starter/index.ts';
import { databases, type TestDatabase } from '../store/databases.ts';
import { generator, linkPackages, makeProject, type TestProject } from './project.ts';

const blog = starters.blog;
const SEED = `Author:
  ada: { name: Ada, email: ada@example.test, posts: [notes] }
  ben: { name: Ben, email: ben@example.test }
Post:
  first: { title: First, body: Hello, author: ben, tags: [math, art] }
  notes: { title: Notes, body: On the engine, status: PUBLISHED, author: ada, createdAt: "2026-01-02T03:04:05Z" }
Tag:
  math: { name: math }
  art: { name: art }
Comment:
  - { text: Nice, post: first }
  - { text: Nice, post: first }
`;

const HOOKED = `
type Query { articles: [Article!]! }
type Mutation { createArticle(input: NewArticle!): Article! }
type Article { id: ID! slug: String! @unique title: String! }
type Audit { id: ID! text: String! }
input NewArticle { title: String! }
`;
const HOOKS = `import { failure } from '@twofold/runtime';
import type * as types from '../generated/types.ts';

export const hooks = {
  resolveInput: {
    create: ({ input, ctx }) => ({ slug: \`\${ctx.principal.kind}-\${input.title.toLowerCase()}\` }),
  },
  afterOperation: {
    create: async ({ item, ctx }) => {
      await ctx.data.audit.create({ data: { text: item.slug } });
      if (item.title === 'Late') throw failure.conflict('too late');
    },
  },
} satisfies types.ArticleHooks;
`;

for (const { name, missing, create } of databases) {
  describe.skipIf(missing !== null)(`seed on ${name}${missing ? ` (${missing})` : ''}`, () => {
    const made: { project: TestProject; database: TestDatabase }[] = [];
    afterEach(async () => {
      for (const { project, database } of made.splice(0)) {
        project.remove();
        await database.drop();
      }
    });

    async function start(
      schema: string = blog.schema,
      files: Readonly<Record<string, string>> = blog.files,
    ) {
      const project = makeProject({
        'schema.graphql': schema,
        'manifest.yaml': 'name: blog\n',
        ...files,
      });
      const database = await create();
      made.push({ project, database });
      linkPackages(project);
      expect((await generator(['generate'], project.root)).code).toBe(0);
      const seed = (...words: string[]) =>
        generator(['seed', ...words], project.root, { DATABASE_URL: database.url });
      const rows = (table: string) =>
        database.store.db.selectFrom(table).selectAll().orderBy('id').execute();
      return { project, seed, rows, db: database.store.db };
    }

    test('writes rows that refer to each other by key, in whatever order they stand, and the same file again changes nothing', async () => {
      const { project, seed, rows, db } = await start();
      project.write('seed.yaml', SEED);
      expect(JSON.parse((await seed('--json')).stdout)).toEqual({
        ok: true,
        file: 'seed.yaml',
        inserted: 8,
        updated: 0,
        unchanged: 0,
        findings: [],
      });
      const [ada, ben] = await rows('authors');
      expect([ada, ben]).toMatchObject([{ name: 'Ada' }, { name: 'Ben' }]);
      const posts = await rows('posts');
      expect(posts).toEqual(
        expect.arrayContaining([
          expect.objectContaining({ title: 'First', status: 'DRAFT', author_id: ben!['id'] }),
          expect.objectContaining({
            title: 'Notes',
            status: 'PUBLISHED',
            author_id: ada!['id'],
            created_at: '2026-01-02T03:04:05.000Z',
          }),
        ]),
      );
      expect(await rows('comments')).toHaveLength(2);
      expect(await db.selectFrom('post_tags').selectAll().execute()).toHaveLength(2);
      expect(JSON.parse((await seed('--json')).stdout)).toMatchObject({
        inserted: 0,
        updated: 0,
        unchanged: 8,
      });
      expect(await rows('posts')).toEqual(posts);
    });

    test('a changed row is changed, an edit of somebody’s stays, a deleted row comes back, and another file knows the keys', async () => {
      const { project, seed, rows, db } = await start();
      project.write('seed.yaml', SEED);
      await seed();
      await db
        .updateTable('authors')
        .set({ name: 'Ada King' })
        .where('email', '=', 'ada@example.test')
        .execute();
      await db.deleteFrom('comments').execute();
      project.write('seed.yaml', SEED.replace('name: Ben', 'name: Benjamin'));
      expect(JSON.parse((await seed('--json')).stdout)).toMatchObject({
        inserted: 2,
        updated: 1,
        unchanged: 5,
      });
      expect((await rows('authors')).map((row) => row['name'])).toEqual(['Ada King', 'Benjamin']);
      project.write('more.json', JSON.stringify({ Comment: [{ text: 'Later', post: 'notes' }] }));
      expect(await seed('more.json')).toMatchObject({
        code: 0,
        stderr: expect.stringContaining('1 inserted'),
      });
    });

    test('§13.2: runs hooks once a row, and leaves to them what they set; a throw leaves no row', async () => {
      const { project, seed, rows } = await start(HOOKED, { 'src/hooks/Article.ts': HOOKS });
      project.write('seed.yaml', 'Article: { one: { title: One Two }, two: { title: Three } }\n');
      expect(await seed()).toMatchObject({
        code: 0,
        stderr: expect.stringContaining('2 inserted'),
      });
      const slugs = ['system-one two', 'system-three'];
      expect((await rows('articles')).map((row) => row['slug']).toSorted()).toEqual(slugs);
      expect((await rows('audits')).map((row) => row['text']).toSorted()).toEqual(slugs);
      expect(JSON.parse((await seed('--json')).stdout)).toMatchObject({ unchanged: 2 });
      expect(await rows('audits')).toHaveLength(2);
      project.write('more.yaml', 'Article: { a: { title: Four }, b: { title: Late } }\n');
      expect(await seed('more.yaml')).toMatchObject({
        code: 3,
        stderr: expect.stringContaining('too late'),
      });
      expect(await rows('articles')).toHaveLength(2);
      expect(await rows('audits')).toHaveLength(2);
    });

    test('finds everything that is wrong, with its line, and writes nothing', async () => {
      const { project, seed, rows } = await start();
      project.write(
        'seed.yaml',
        `Author:
  ada:
    name: 7
    email: ada@example.test
    colour: red
  ben: { name: Ben }
Pots: { x: { title: X } }
Post:
  first:
    title: First
    body: [a, b]
    status: LOST
    author: adda
    minutes: 3
    id: 9
`,
      );
      const { code, stdout } = await seed('--json');
      const { findings } = JSON.parse(stdout) as {
        findings: { line: number; column: number; row: string; message: string }[];
      };
      expect(code).toBe(3);
      expect(
        findings.map(({ line, column, row, message }) => `${line}:${column} ${row} ${message}`),
      ).toEqual([
        '3:5 Author.ada name is not a valid String',
        '5:5 Author.ada Author has no field colour',
        '6:3 Author.ben Author.email is required',
        '7:9 Pots.x Pots is no type that is kept in a table',
        '11:5 Post.first body is not a valid String',
        '12:5 Post.first status must be one of DRAFT, PUBLISHED',
        '13:5 Post.first author: there is no Author "adda"',
        '14:5 Post.first Post.minutes is answered by a function of yours, and not kept',
        '15:5 Post.first the database gives ids: refer to rows by their key',
      ]);
      const text = await seed();
      expect(text.stderr).toContain('   3 │     name: 7');
      expect(text.stderr).toContain('keys of Author: ada, ben');
      expect(text.stderr).toContain('9 errors; nothing was written');
      expect(await rows('authors')).toEqual([]);
    });

    test('what only the database sees takes everything back', async () => {
      const { project, seed, rows } = await start();
      project.write(
        'seed.yaml',
        'Author:\n  a: { name: A, email: x@example.test }\n  b: { name: B, email: x@example.test }\n',
      );
      const { code, stdout } = await seed('--json');
      expect([code, JSON.parse(stdout).findings]).toEqual([
        3,
        [
          expect.objectContaining({
            line: 3,
            column: expect.any(Number),
            row: 'Author.b',
            message: 'email already exists',
          }),
        ],
      ]);
      project.write('seed.yaml', 'Post:\n  p: { title: T, body: B, author: 77 }\n');
      expect(JSON.parse((await seed('--json')).stdout).findings).toEqual([
        expect.objectContaining({
          row: 'Post.p',
          message: expect.stringContaining('related row does not exist'),
        }),
      ]);
      expect(await rows('authors')).toEqual([]);
    });

    test('closes an optional circle, and refuses one that nobody can begin', async () => {
      const schema = (mark: string) =>
        `type A { id: ID! name: String! @constraint(minLength: 2) b: B${mark} @relation(column: "b_id") }\ntype B { id: ID! a: A! @relation(column: "a_id") }\ntype Query { a(id: ID!): A b(id: ID!): B }\n`;
      const open = await start(schema(''), {});
      open.project.write(
        'seed.yaml',
        'A: { one: { name: One, b: two } }\nB: { two: { a: one } }\n',
      );
      expect(await open.seed()).toMatchObject({ code: 0 });
      expect([(await open.rows('as'))[0], (await open.rows('bs'))[0]]).toMatchObject([
        { b_id: 1 },
        { a_id: 1 },
      ]);
      open.project.write('seed.yaml', 'A: { one: { name: O } }\n');
      expect((await open.seed()).stderr).toContain('name must have at least 2 characters');
      const closed = await start(schema('!'), {});
      closed.project.write(
        'seed.yaml',
        'A: { one: { name: One, b: two } }\nB: { two: { a: one } }\n',
      );
      expect((await closed.seed()).stderr).toMatch(/in a circle, and none can be first/);
    });

    test('takes five thousand rows, each pointing at the one after it', async () => {
      const { project, seed, db } = await start(
        'type Node1 { id: ID! n: Int! next: Node1 }\ntype Query { node1s: [Node1!]! }\n',
        {},
      );
      const count = 5_000;
      const rows = Object.fromEntries(
        Array.from({ length: count }, (_, n) => [
          `k${n}`,
          { n, ...(n + 1 < count && { next: `k${n + 1}` }) },
        ]),
      );
      project.write('seed.json', JSON.stringify({ Node1: rows }));
      expect(JSON.parse((await seed('--json')).stdout)).toMatchObject({
        ok: true,
        inserted: count,
      });
      const { linked } = await db
        .selectFrom('node1s as a')
        .innerJoin('node1s as b', 'a.next_id', 'b.id')
        .where((where) => where('b.n', '=', where('a.n', '+', 1)))
        .select((select) => select.fn.countAll().as('linked'))
        .executeTakeFirstOrThrow();
      expect(Number(linked)).toBe(count - 1);
    });
  });
}

describe('a seed file', () => {
  const made: TestProject[] = [];
  afterEach(() => made.splice(0).forEach((each) => each.remove()));

  test.each([
    ['Author:\n  a: { name: A\n', /seed\.yaml:\d+ /],
    ['Author:\n  a: { name: A }\n  a: { name: B }\n', /seed\.yaml:3 .*unique/],
    ['- 1\n', /a seed is a mapping/],
    ['Author: 7\n', /Author is neither a mapping/],
    ['Author: { a: 7 }\n', /Author\.a is not a mapping/],
    ['Author: { a: &x { name: *x } }\n', /seed\.yaml:\d+ /],
  ])('that is none is refused with its place: %j', async (text, message) => {
    const project = makeProject({
      'schema.graphql': blog.schema,
      'manifest.yaml': 'name: blog\n',
      'seed.yaml': text,
    });
    made.push(project);
    const { code, stderr } = await generator(['seed'], project.root);
    expect([code, stderr]).toEqual([3, expect.stringMatching(message)]);
    expect(stderr).not.toContain('bug of ours');
  });

  test('that is not there is a usage error', async () => {
    const project = makeProject();
    made.push(project);
    expect(await generator(['seed'], project.root)).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('there is no seed.yaml'),
    });
    expect(await generator(['seed', 'x.yaml'], project.root)).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('there is no file x.yaml'),
    });
  });
});
