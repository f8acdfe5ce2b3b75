import { afterEach, describe, expect, it } from 'vitest';
import { findMissingExports } from '../../generator/missing-exports.ts';
import { generator, linkPackages, makeProject, typecheck, type TestProject } from './project.ts';

const SCHEMA = `type User { id: ID! name: String! articles: [Article!]! }
type Article { id: ID! slug: String! @unique title: String! body: String author: User! }
input NewArticle { title: String! body: String notify: Boolean @computed }
type Query { articles: [Article!]! }
type Mutation { createArticle(input: NewArticle!): Article! deleteArticle(slug: String!): Boolean! }
`;

const HOOKS = `import { failure } from '@twofold/runtime';
import type * as types from '../generated/types.ts';

// A brace in a comment: } and one in a text: '}'
export const hooks = {
  resolveInput: {
    create: ({ input, ctx }) => ({ slug: input.title.toLowerCase(), authorId: ctx.user!.id }),
  },
  validate: { create: ({ input, addError }) => { if (input.title === input.body) addError('body', "must differ, {"); } },
  beforeOperation: ({ operation, item }) => { if (operation === 'delete' && item.slug === 'welcome') throw failure.forbidden(); },
  async afterOperation({ operation, item, ctx }) { if (operation === 'create') await ctx.data.user.count({ where: { name: item.title } }); },
  afterCommit: { create: ({ input, item, originalItem }) => { if (input.notify) console.log(item.id, originalItem); } },
} satisfies types.ArticleHooks;
`;

const made: TestProject[] = [];
afterEach(() => made.splice(0).forEach((project) => project.remove()));

function project(files: Record<string, string>): TestProject {
  const all = { 'schema.graphql': SCHEMA, 'manifest.yaml': 'name: shop\n', ...files };
  const one = makeProject(all);
  made.push(one);
  linkPackages(one);
  return one;
}

describe('files of hooks', () => {
  it('are part of the app, typed from the schema, and let a create leave a field to them', async () => {
    const shop = project({ 'src/hooks/Article.ts': HOOKS });
    const { code, stdout, stderr } = await generator(['generate'], shop.root);
    expect([code, stderr + stdout]).toEqual([0, expect.not.stringContaining('CREATE_FIELD_UNSET')]);
    expect(shop.read('src/generated/app.ts')).toContain(
      'entityHooks: { Article: hooksOfArticle },',
    );
    expect(shop.read('src/generated/resolvers.ts')).toContain("createArticle: create('Article'");
    expect(shop.read('src/generated/types.ts')).toMatch(
      /type ArticleHooks = HooksOf<\{ shape: ArticleShape; context: Context; given: 'title'; demanded: 'slug' \| 'authorId'; extra: Pick<NewArticle, 'notify'> \}>/,
    );
    expect(await typecheck(shop.root)).toEqual([]);
    shop.write('src/hooks/Article.ts', HOOKS.replace('slug: input.title.toLowerCase(), ', ''));
    expect((await typecheck(shop.root)).join('\n')).toMatch(/slug/);
    const explained = await generator(['explain', 'Article'], shop.root);
    expect(explained.stdout).toContain(
      'resolveInput, validate, beforeOperation, afterOperation, afterCommit',
    );
    expect((await generator(['prune'], shop.root)).stderr).not.toContain('src/hooks');
    expect(shop.has('src/hooks/Article.ts')).toBe(true);
  });

  it.each([
    [
      'src/hooks/Artcle.ts',
      'export const hooks = {};\n',
      'HOOKS_ENTITY_UNKNOWN',
      'Did you mean "Article"?',
    ],
    [
      'src/hooks/Article.ts',
      'export const hooks = {\n  validat: {},\n};\n',
      'HOOK_UNKNOWN',
      'Did you mean "validate"?',
    ],
    ['src/hooks/Article.ts', 'export const hook = {};\n', 'FILE_EXPORT_MISSING', 'Did you mean'],
  ])('%s with %j is %s', async (file, text, code, fix) => {
    const shop = project({ [file]: text });
    const done = await generator(['generate'], shop.root);
    expect([done.code, done.stderr]).toEqual([3, expect.stringContaining(code)]);
    expect(done.stderr).toContain(fix);
  });

  it.each([
    ['src/routes.ts', 'routes'],
    ['src/middleware.ts', 'middleware'],
    ['src/credentials.ts', 'credentials'],
    ['src/auth-hooks.ts', 'authHooks'],
    ['src/auth-events.ts', 'listeners'],
  ])('%s has to export %s', (file, exported) => {
    const found = (text: string) =>
      findMissingExports({ userFiles: [file], resolvers: [], otherUserTexts: [{ file, text }] });
    expect(found(`export const ${exported}s = [];\n`)).toMatchObject([
      { code: 'FILE_EXPORT_MISSING', why: expect.stringContaining(`Did you mean "${exported}s"?`) },
    ]);
    expect(found(`export const ${exported} = [];\n`)).toEqual([]);
  });

  it.each([
    [
      'src/hooks/User.ts',
      "export const hooks = { resolveInput: { create: () => ({ nick: 'x' }) } };\n",
    ],
    [
      'src/auth-hooks.ts',
      "export const authHooks = {\n  async beforeRegister() { return { nick: 'x' }; },\n};\n",
    ],
  ])('%s may set a required field of users who register', async (file, text) => {
    const files = {
      'schema.graphql': `type User { id: ID! email: String! @unique nick: String! }\ntype Query { users: [User!]! }\n`,
      'manifest.yaml': 'name: shop\nauth: {}\n',
    };
    const generated = async (more: Record<string, string>) =>
      (await generator(['generate'], project({ ...files, ...more }).root)).stderr;
    expect(await generated({ [file]: text })).not.toContain('AUTH_USER_FIELD_UNSET');
    const other = text.replace('beforeRegister', 'afterRegister').replace('create', 'update');
    expect(await generated({ [file]: other })).toContain('AUTH_USER_FIELD_UNSET');
  });

  it('get an argument beside the input object', async () => {
    const schema = SCHEMA.replace(' notify: Boolean @computed }', ' }').replace(
      'createArticle(input: NewArticle!)',
      'createArticle(input: NewArticle!, notify: Boolean @computed)',
    );
    const shop = project({ 'schema.graphql': schema, 'src/hooks/Article.ts': HOOKS });
    expect((await generator(['generate'], shop.root)).code).toBe(0);
    expect(shop.read('src/generated/resolvers.ts')).toMatch(/beside: \['notify'\]/);
    expect(await typecheck(shop.root)).toEqual([]);
  });

  it('without hooks, a field for them is a warning, and so is a create that leaves a field', async () => {
    const { code, stderr } = await generator(['generate'], project({}).root);
    expect([code, stderr]).toEqual([0, expect.stringContaining('INPUT_UNUSED')]);
    expect(stderr).toContain('CREATE_FIELD_UNSET');
  });
});
