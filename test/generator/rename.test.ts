import { afterEach, describe, expect, test } from 'vitest';
import { renameInSchema } from '../../generator/edit/rename-in-schema.ts';
import { readProject } from '../../schema/index.ts';
import { starters } from '../../templates/starter/index.ts';
import {
  generator,
  linkShippedPackages,
  makeProject,
  type TestProject,
  typecheck,
} from './project.ts';

const made: TestProject[] = [];
afterEach(() => made.splice(0).forEach((each) => each.remove()));

async function blog(): Promise<TestProject> {
  const shop = makeProject({
    'schema.graphql': starters.blog.schema,
    'manifest.yaml': 'name: blog\n',
    ...starters.blog.files,
  });
  made.push(shop);
  await linkShippedPackages(shop);
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
    const { stdout, code } = await generator(['rename', 'Post.status', 'phase'], shop.root);
    expect(code).toBe(0);
    expect(stdout).toContain('+  phase: PostStatus! @default');
    expect(shop.files()).toEqual(before);
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
    expect(migrations(shop)).toContain("renameColumn('status', 'phase')");
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
    expect(migrations(shop)).toContain("alterTable('posts').renameTo('articles')");
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

  test('names the lines of your code that still have the old name', async () => {
    const shop = await blog();
    const { stderr } = await generator(['rename', 'Post.body', 'text', '--yes'], shop.root);
    expect(stderr).toMatch(/body still stands in src\/resolvers\/Post\.ts:\d+/);
  });

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
});

/** Name and kind of every operation of a schema. */
function readOperations(text: string): [string, string][] {
  const { project } = readProject({ schema: [{ file: 'schema.graphql', text }], manifest: null });
  return project!.operations.map(({ name, action }) => [name, action.kind]);
}
