import { afterEach, describe, expect, test } from 'vitest';
import { insertMember } from '../../generator/edit/insert-member.ts';
import { readProject } from '../../schema/index.ts';
import { explainAll } from '../../generator/explain/facts.ts';
import { starters } from '../../templates/starter/index.ts';
import { generator, linkPackages, makeProject, type TestProject, typecheck } from './project.ts';

const made: TestProject[] = [];
afterEach(() => made.splice(0).forEach((each) => each.remove()));

const FILES: readonly string[] = [
  'export const resolvers = {};\n',
  'export const resolvers = { a: 1 };\n',
  'export const resolvers = { a: 1, };\n',
  'export const resolvers = {\n  a() {},\n};\n',
  'import type * as types from "x";\n\n// one\nexport const resolvers = {\n    // two\n    a: () => "}", // three\n    b,\n    ...c\n    // four\n} satisfies types.QueryOverrides;\nexport const other = {};\n',
  'export const resolvers = {\n\ta: `}{`,\n\tb: /[}]/,\n} as const;',
  '\uFEFFexport const resolvers = ({ a: 1 });',
];

describe('a member that is put into a file of the user', () => {
  for (const lineEnd of ['\n', '\r\n']) {
    test.each(FILES.map((text) => text.replaceAll('\n', lineEnd)))(
      `leaves every old character where it was: %j`,
      async (text) => {
        const result = await insertMember(text, 'hello: () => {\n  return 1;\n}');
        if ('refused' in result) throw new Error(result.refused);
        const at = [...result.text].findIndex((_each, index) => result.text[index] !== text[index]);
        const added = result.text.length - text.length;
        expect(recoverable(result.text, text, added, at)).toBe(true);
        expect(result.text).toContain('hello: () => {');
        if (text.includes('\r\n')) expect(result.text.replaceAll('\r\n', '')).not.toContain('\n');
      },
    );
  }

  test.each([
    'export const resolvers = { a: ;\n',
    'export const resolvers = make();\n',
    'export default {};\n',
    '',
  ])('is refused where the file is not sound or of another shape: %j', async (text) => {
    expect(await insertMember(text, 'hello: () => 1')).toHaveProperty('refused');
  });
});

const IMPORTS: readonly (readonly [before: string, after: string])[] = [
  [
    'export const resolvers = {};\n',
    "import { inferred } from '@twofold/runtime';\n\nexport const resolvers = {",
  ],
  [
    "import type * as types from './x.ts';\nexport const resolvers = {};\n",
    "import { inferred } from '@twofold/runtime';\nimport type * as types from './x.ts';\nexport",
  ],
  [
    "// about\nimport { failure } from '@twofold/runtime';\nexport const resolvers = {};\n",
    "// about\nimport { failure, inferred } from '@twofold/runtime';\nexport",
  ],
  [
    "import { failure, inferred, } from '@twofold/runtime';\nexport const resolvers = {};\n",
    "import { failure, inferred, } from '@twofold/runtime';\nexport",
  ],
  [
    "import type { Plugin } from '@twofold/runtime';\nexport const resolvers = {};\n",
    "import { inferred } from '@twofold/runtime';\nimport type { Plugin } from '@twofold/runtime';\nexport",
  ],
  [
    '\uFEFFexport const resolvers = {};\n',
    "\uFEFFimport { inferred } from '@twofold/runtime';\n\nexport",
  ],
  [
    '#!/usr/bin/env node\nexport const resolvers = {};\n',
    "#!/usr/bin/env node\nimport { inferred } from '@twofold/runtime';\n\nexport",
  ],
];

describe('what an ejected member needs', () => {
  const needed = { from: '@twofold/runtime', names: ['inferred'] };

  for (const lineEnd of ['\n', '\r\n']) {
    test.each(IMPORTS)(
      `is imported once, with the line ends of the file (${JSON.stringify(lineEnd)}): %j`,
      async (before, after) => {
        const result = await insertMember(before.replaceAll('\n', lineEnd), 'a: inferred', needed);
        expect(result).toEqual({ text: expect.stringContaining(after.replaceAll('\n', lineEnd)) });
        expect((result as { text: string }).text.match(/\binferred\b/g)).toHaveLength(2);
      },
    );
  }

  test.each([
    'const inferred = 1;\n',
    'function inferred() {}\n',
    "import { inferred } from './mine.ts';\n",
    "import { other as inferred } from '@twofold/runtime';\n",
    "import inferred from './mine.ts';\n",
  ])('is not put beside another thing of that name: %j', async (line) => {
    expect(
      await insertMember(`${line}export const resolvers = {};\n`, 'a: inferred', needed),
    ).toEqual({ refused: 'it has something of its own called inferred' });
  });
});

/** Whether taking one stretch out of the new text gives the old one. */
function recoverable(edited: string, text: string, added: number, near: number): boolean {
  for (let at = Math.max(0, near - added); at <= near; at++)
    if (edited.slice(0, at) + edited.slice(at + added) === text) return true;
  return false;
}

describe('eject', () => {
  test('writes every field of the blog out so that it type-checks, and twice is refused', async () => {
    const shop = makeProject({
      'schema.graphql': starters.blog.schema,
      'manifest.yaml': 'name: blog\n',
    });
    made.push(shop);
    linkPackages(shop);
    await generator(['generate'], shop.root);
    const { project } = readProject({
      schema: [{ file: 'schema.graphql', text: starters.blog.schema }],
      manifest: { file: 'manifest.yaml', text: 'name: blog\n' },
    });
    const all = explainAll(project!).map(({ coordinate }) => coordinate);
    for (const coordinate of [
      'Query.post',
      'Query.posts',
      'Query.authorByEmail',
      'Mutation.createPost',
      'Mutation.updatePost',
      'Mutation.deletePost',
      'Author.posts',
      'Post.id',
      'Post.author',
      'Post.title',
      'Post.tags',
      'Tag.posts',
    ]) {
      expect(all).toContain(coordinate);
      expect([coordinate, await generator(['eject', coordinate], shop.root)]).toEqual([
        coordinate,
        expect.objectContaining({ code: 0 }),
      ]);
    }
    expect(await typecheck(shop.root)).toEqual([]);
    expect(await generator(['check'], shop.root)).toMatchObject({ code: 0 });
    expect(await generator(['eject', 'Query.posts'], shop.root)).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('answers posts already'),
    });
  });

  test('writes what nobody can infer as what it is: not written yet; and refuses events', async () => {
    const shop = makeProject({
      'schema.graphql':
        'type User { id: ID! name: String! shout: String! @computed }\ntype Query { users: [User!]! now: String! }\ntype Subscription { userCreated: User! }\n',
      'manifest.yaml': 'name: shop\n',
    });
    made.push(shop);
    linkPackages(shop);
    await generator(['generate'], shop.root);
    for (const coordinate of ['User.shout', 'Query.now'])
      expect([coordinate, await generator(['eject', coordinate], shop.root)]).toEqual([
        coordinate,
        expect.objectContaining({ code: 0 }),
      ]);
    expect(shop.read('src/resolvers/User.ts')).toContain(
      "throw new AppError(501, 'NOT_IMPLEMENTED', 'User.shout is not written yet');",
    );
    expect(await typecheck(shop.root)).toEqual([]);
    expect(await generator(['eject', 'Subscription.userCreated'], shop.root)).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('async function*'),
    });
    expect(await generator(['eject', 'User.shot'], shop.root)).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('did you mean User.shout?'),
    });
  });

  test('leaves a file that it cannot read alone, and says what to paste', async () => {
    const shop = makeProject({
      'schema.graphql': starters.starter.schema,
      'manifest.yaml': 'name: shop\n',
      'src/resolvers/Query.ts': 'export const resolvers = { broken: ;\n',
    });
    made.push(shop);
    await generator(['generate'], shop.root);
    const { code, stderr } = await generator(['eject', 'Query.users'], shop.root);
    expect(code).toBe(2);
    expect(stderr).toMatch(
      /was left alone: the file has a syntax error[^]*put this into its resolvers:[^]*users: async/,
    );
    expect(shop.read('src/resolvers/Query.ts')).toBe('export const resolvers = { broken: ;\n');
  });
});
