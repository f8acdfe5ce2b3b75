import { afterEach, describe, expect, test } from 'vitest';
import { renameInSchema } from '../../generator/edit/rename-in-schema.ts';
import { readProject } from '../../schema/index.ts';
import { starters } from '../../templates/starter/index.ts';
import { generator, linkPackages, makeProject, type TestProject, typecheck } from './project.ts';

const made: TestProject[] = [];
afterEach(() => made.splice(0).forEach((each) => each.remove()));

async function blog(): Promise<TestProject> {
  const shop = makeProject({
    'schema.graphql': starters.blog.schema,
    'manifest.yaml': 'name: blog\n',
    ...starters.blog.files,
  });
  made.push(shop);
  linkPackages(shop);
  await generator(['generate'], shop.root);
  return shop;
}

const migrations = (shop: TestProject) =>
  Object.entries(shop.files())
    .filter(([path]) => /^migrations\/000[2-9]/.test(path))
    .map(([, text]) => text)
    .join('\n');

describe('rename', () => {
  test('shows a diff, and changes nothing without --yes where nobody can be asked', async () => {
    const shop = await blog();
    const before = shop.files();
    const { stdout, stderr, code } = await generator(['rename', 'Post.status', 'phase'], shop.root);
    expect([code, stderr]).toEqual([5, expect.stringContaining('--yes renames')]);
    expect(stdout).toContain('+  phase: PostStatus! @default');
    const asked = await generator(['rename', 'Post.status', 'phase', '--json'], shop.root);
    expect([asked.code, JSON.parse(asked.stdout)]).toMatchObject([5, { ok: false }]);
    expect(shop.files()).toEqual(before);
  });

  test('changes nothing where a name decides that two fields are one relation, and says how to go on', async () => {
    const shop = makeProject({
      'schema.graphql': `type Animal { id: ID! name: String! cat: Cat }
type Cat @table(key: ["animal"]) { id: ID! animal: Animal! @relation(column: "id") lives: Int }
type Query { animals: [Animal!]! cats: [Cat!]! }
`,
      'manifest.yaml': 'name: shop\n',
    });
    made.push(shop);
    linkPackages(shop);
    await generator(['generate'], shop.root);
    const migration = shop.read('migrations/0001_init.ts');
    expect(migration).toMatch(
      /name: 'cats',[^]*name: 'id',\s+type: 'id',[^]*references: { table: 'animals', column: 'id'[^]*primaryKey: \['id'\]/,
    );
    const before = shop.files();
    const rename = () => generator(['rename', 'Cat.animal', 'Cat.creature', '--yes'], shop.root);
    const refused = await rename();
    expect([refused.code, refused.stderr]).toEqual([3, expect.stringContaining('RENAME_BREAKS')]);
    expect(shop.files()).toEqual(before);
    const [, written, at] = /add (@relation\(.+?\)) to Animal\.(\w+),/.exec(refused.stderr)!;
    shop.write(
      'schema.graphql',
      shop.read('schema.graphql').replace(`${at}: Cat`, `${at}: Cat ${written}`),
    );
    await generator(['generate'], shop.root);
    expect(await rename()).toMatchObject({ code: 0, stderr: expect.stringMatching(/^renamed$/m) });
    expect(shop.read('schema.graphql')).toContain('key: ["creature"]');
    expect(migrations(shop)).toBe('');
    expect(await generator(['check'], shop.root)).toMatchObject({ code: 0 });
  });

  test('of a field renames it in inputs, arguments, code and database, and all still fits', async () => {
    const shop = await blog();
    expect(
      await generator(['rename', 'Post.status', 'Post.phase', '--yes'], shop.root),
    ).toMatchObject({ code: 0 });
    expect(
      await generator(['rename', 'Post.minutes', 'readingTime', '--yes'], shop.root),
    ).toMatchObject({ code: 0 });
    expect(shop.read('schema.graphql')).not.toMatch(/\bstatus:/);
    expect(shop.read('src/resolvers/Post.ts')).toMatch(/^ {2}readingTime: \(post\)/m);
    expect(migrations(shop)).toMatch(/kind: 'renameColumn',.* from: 'status', to: 'phase'/);
    expect(shop.read('schema.graphql')).not.toContain('@renamed');
    expect(await generator(['check'], shop.root)).toMatchObject({ code: 0 });
    expect(await typecheck(shop.root)).toEqual([]);
    const { project } = readProject({
      schema: [{ file: 'schema.graphql', text: shop.read('schema.graphql') }],
      manifest: null,
    });
    expect(project!.operations.find(({ name }) => name === 'posts')!.action).toMatchObject({
      kind: 'list',
      list: { filters: [{ arg: 'phase', column: 'phase' }] },
    });
    expect(project!.operations.filter(({ action }) => action.kind === 'custom')).toEqual([]);
  });

  test('of a field renames it in directives, and leaves what other types call the same', () => {
    const schema = `
      type User { id: ID! email: String! name: String! owned: [Team!]! @relation(inverse: "owner") @list(orderBy: ["name DESC"], where: { not: { name: null } }) }
      type Team @index(fields: ["name"]) @search(fields: ["name"])
        @auth(allow: [USER], where: { members: { some: { name: { ne: "" } } }, owner: { name: "x" }, ownerId: 1 })
      { id: ID! name: String! note: String @auth(allow: [OWNER], owner: "owner") owner: User! members: [User!]! @list(orderBy: ["name"])
        hit: String @search(as: HIGHLIGHT, of: "name") tasks: [Task!]! open: Int! @count(relation: "tasks", where: { team: { name: "a" } }) }
      type Task @auth(allow: [OWNER], owner: "team.owner") { id: ID! name: String! team: Team! }
      type Query { teamsConnection: TeamConnection! @list(orderBy: ["name"]) tasks: [Task!]! @list(filter: ["name"]) }
      type TeamConnection { nodes: [Team!]! }`;
    const manifest = { file: 'manifest.yaml', text: 'name: x\nauth: {}\n' };
    const { project } = readProject({ schema: [{ file: 'a', text: schema }], manifest });
    const renamed = (from: string, to: string) =>
      renameInSchema(
        [{ file: 'a', text: schema }],
        { kind: 'field', type: 'Team', from, to },
        { project: project!, marked: false },
      )[0]!.text;
    const changed = (after: string) => {
      const words = (text: string) => text.split(/(?<=[\s:{[(])/);
      return words(schema).flatMap((word, at) => {
        const now = words(after)[at]!;
        return word === now ? [] : [now.trim()];
      });
    };
    expect(changed(renamed('name', 'title'))).toEqual([
      '"title',
      'title:',
      '"title"])',
      '"title"])',
      'title:',
      '"title")',
      'title:',
      '"title"])',
    ]);
    expect(changed(renamed('owner', 'lead'))).toEqual([
      '"lead")',
      'lead:',
      'leadId:',
      '"lead")',
      'lead:',
      '"team.lead")',
    ]);
  });

  test('of a type renames its table, its file and every reference', async () => {
    const shop = await blog();
    expect(await generator(['rename', 'Post', 'Article', '--yes'], shop.root)).toMatchObject({
      code: 0,
    });
    expect(shop.has('src/resolvers/Post.ts')).toBe(false);
    expect(shop.read('src/resolvers/Article.ts')).toContain('satisfies types.ArticleOverrides');
    expect(migrations(shop)).toContain("kind: 'renameTable', from: 'posts', to: 'articles'");
    expect(shop.read('schema.graphql')).not.toContain('@renamed');
    expect(await generator(['check'], shop.root)).toMatchObject({ code: 0 });
    expect(await typecheck(shop.root)).toEqual([]);
  });

  test('of a type keeps every operation that was inferred from its name', async () => {
    const shop = makeProject({
      'schema.graphql': starters.starter.schema,
      'manifest.yaml': 'name: shop\n',
      'seed.yaml': '# people\nUser:\n  ada: { "name": Ada, email: a@b.test } # the first\n',
    });
    made.push(shop);
    await generator(['generate'], shop.root);
    const operations = () => readOperations(shop.read('schema.graphql'));
    const before = operations();
    const renamed = await generator(['rename', 'User', 'Person', '--yes'], shop.root);
    expect(renamed).toMatchObject({ code: 0 });
    expect(operations().map(([name]) => name)).toEqual(before.map(([name]) => name));
    expect(operations().map(([, kind]) => kind)).toEqual(before.map(([, kind]) => kind));
    expect(before.map(([, kind]) => kind)).not.toContain('custom');
    expect(shop.read('schema.graphql')).toContain(
      'deleteUser(id: ID!): Boolean! @resolve(as: DELETE, of: "Person")',
    );
    expect(shop.read('seed.yaml')).toBe(
      '# people\nPerson:\n  ada: { "name": Ada, email: a@b.test } # the first\n',
    );
    await generator(['rename', 'Person.name', 'fullName', '--yes'], shop.root);
    expect(shop.read('seed.yaml')).toContain('{ "fullName": Ada, email: a@b.test } # the first');
    expect(await generator(['check'], shop.root)).toMatchObject({ code: 0 });
  });

  test('is refused where an operation would be left without an answer', async () => {
    const shop = makeProject({
      'schema.graphql': `${starters.starter.schema}type Subscription { userCreated: User! }\n`,
      'manifest.yaml': 'name: shop\n',
    });
    made.push(shop);
    await generator(['generate'], shop.root);
    const before = shop.files();
    const { code, stderr } = await generator(['rename', 'User', 'Person', '--yes'], shop.root);
    expect([code, stderr]).toEqual([3, expect.stringContaining('subscription userCreated')]);
    expect(shop.files()).toEqual(before);
  });

  const CLIENT = 'name: blog\nclient: { documents: ["web/**"], out: web/generated }\n';
  const withClient = async (files: Record<string, string>) => {
    const shop = makeProject({
      'schema.graphql': starters.blog.schema,
      'manifest.yaml': CLIENT,
      ...starters.blog.files,
      ...files,
    });
    made.push(shop);
    expect(await generator(['generate'], shop.root)).toMatchObject({ code: 0 });
    return shop;
  };
  const PAGE = `import { graphql } from './generated/index.ts';
const other = graphql(\`query Other { status: posts(status: DRAFT) { title } }\`);
export const status = graphql(\`
  query Drafts($where: PostStatus!) { posts(status: $where) { ...Line } }
\`);
const shown = (post: { status: string }) => post.status;
`;
  const LINE = '# a line\r\nfragment Line on Post {\r\n  id status: title phase: status\r\n}\r\n';

  test('of a field and of a type renames them in the documents of front ends', async () => {
    const shop = await withClient({ 'web/page.ts': PAGE, 'web/line.graphql': LINE });
    const renamed = await generator(['rename', 'Post.status', 'state', '--yes'], shop.root);
    expect(renamed).toMatchObject({ code: 0 });
    expect(shop.read('web/page.ts')).toBe(PAGE.replaceAll('posts(status:', 'posts(state:'));
    expect(shop.read('web/line.graphql')).toBe(LINE.replace('phase: status', 'phase: state'));
    expect(migrations(shop)).toMatch(/kind: 'renameColumn',.* from: 'status', to: 'state'/);
    expect(await generator(['check'], shop.root)).toMatchObject({ code: 0 });
    const left = /left as it is[^:]*: (.*)/.exec(renamed.stderr)![1]!;
    expect(left.split(', ')).toEqual([
      'test/smoke.test.ts:27:25',
      'web/page.ts:3:14',
      'web/page.ts:6:24',
      'web/page.ts:6:50',
    ]);
    expect(await generator(['rename', 'Post', 'Article', '--yes'], shop.root)).toMatchObject({
      code: 0,
    });
    expect(shop.read('web/line.graphql')).toContain('fragment Line on Article {\r\n');
    expect(await generator(['check'], shop.root)).toMatchObject({ code: 0 });
  });

  test('of a field changes no other field of a type that api.crud extends', async () => {
    const orders = 'query Orders { orders { id code lines { id } } }\n';
    const shop = await withClient({
      'schema.graphql': `type Order { id: ID! code: String! lines: [Line!]! }
type Line { id: ID! order: Order! }
`,
      'manifest.yaml': `${CLIENT}api: { crud: true }\n`,
      'web/orders.graphql': orders,
    });
    const renamed = await generator(['rename', 'Order.code', 'number', '--yes'], shop.root);
    expect(renamed).toMatchObject({
      code: 0,
      stderr: expect.not.stringContaining('left as it is'),
    });
    expect(shop.read('web/orders.graphql')).toBe(orders.replace('code', 'number'));
  });

  test('leaves every byte where a document would not be right afterwards', async () => {
    // The name stands behind an escape, which moves it: it is not found, and the check refuses.
    const text = 'graphql(`query A { posts(status: DRAFT) { title } } # \\` `);\n';
    const page = text.replace('query A {', '# \\` \\`\n query A { posts2: posts(first: 1) { id }');
    const shop = await withClient({
      'web/line.graphql': LINE,
      'web/use.graphql': 'query B { posts { ...Line } }',
    });
    shop.write('web/page.ts', page);
    const before = shop.files();
    const { code, stderr } = await generator(
      ['rename', 'Post.status', 'state', '--yes'],
      shop.root,
    );
    expect([code, stderr]).toEqual([3, expect.stringContaining('nothing was renamed')]);
    expect(shop.files()).toEqual(before);
  });

  test('of a type moves its hooks, and renames its generated types in all code', async () => {
    const shop = await blog();
    shop.write('src/hooks/Post.ts', HOOKS);
    shop.write(
      'src/lib/titles.ts',
      `import type { PostRow } from '../generated/types.ts';\nexport const title = (post: PostRow) => post.title;\n`,
    );
    await generator(['generate'], shop.root);
    const renamed = await generator(['rename', 'Post', 'Article', '--yes'], shop.root);
    expect(renamed).toMatchObject({ code: 0 });
    expect(shop.has('src/hooks/Post.ts')).toBe(false);
    expect(await typecheck(shop.root)).toEqual([]);
    expect(await generator(['check'], shop.root)).toMatchObject({ code: 0 });
  });

  test('names each word of your code that it left, and nothing else', async () => {
    const shop = await blog();
    const { stdout } = await generator(
      ['rename', 'Post.body', 'text', '--yes', '--json'],
      shop.root,
    );
    const { left, ...rest } = JSON.parse(stdout);
    expect(rest).toMatchObject({ ok: true, renamed: true });
    expect(left).toEqual([
      { file: 'src/resolvers/Post.ts', line: 6, column: 50 },
      { file: 'test/smoke.test.ts', line: 34, column: 5 },
    ]);
  });
});

const HOOKS = `import type * as types from '../generated/types.ts';

export const hooks = {
  resolveInput: {
    create: async ({ ctx }) => {
      const first: types.PostRow | null = await ctx.data.post.findFirst({});
      return first ? { title: first.title } : {};
    },
  },
} satisfies types.PostHooks;
`;

test.each([
  [['Post.titel', 'name'], 'did you mean Post.title?'],
  [['Post.title', 'body'], 'Post has a field body already'],
  [['Post.title', '2'], 'rename needs two names'],
  [['Post', 'Tag'], 'would not be right'],
])('%j is refused: %s', async (args, text) => {
  const shop = await blog();
  const before = shop.files();
  const { code, stderr } = await generator(['rename', ...args, '--yes'], shop.root);
  expect(code).not.toBe(0);
  expect(stderr).toContain(text);
  expect(shop.files()).toEqual(before);
});

/** Name and kind of every operation of a schema. */
function readOperations(text: string): [string, string][] {
  const { project } = readProject({ schema: [{ file: 'schema.graphql', text }], manifest: null });
  return project!.operations.map(({ name, action }) => [name, action.kind]);
}
