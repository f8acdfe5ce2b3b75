import { afterEach, describe, expect, test } from 'vitest';
import { writtenMembers } from '../../generator/written-members.ts';
import { generator, makeProject, type TestProject } from './project.ts';

const made: TestProject[] = [];
const project = (files: Record<string, string>) => {
  const each = makeProject({ 'manifest.yaml': 'name: shop\n', ...files });
  made.push(each);
  return each;
};
afterEach(() => made.splice(0).forEach((each) => each.remove()));

const SCHEMA = `type User { id: ID! name: String! score(at: Int): Int! }
type Query { users: [User!]! topUsers: [User!]! search(text: String!): [User!]! }
`;

describe('what is left to write', () => {
  test('is counted on every run, also on one with nothing to do', async () => {
    const shop = project({ 'schema.graphql': SCHEMA });
    const line = '3 fields answered, 3 yours to write: Query.topUsers, Query.search, User.score';
    for (let run = 0; run < 3; run++)
      expect((await generator(['generate'], shop.root)).stderr).toContain(line);
    expect((await generator(['check'], shop.root)).stderr).toContain(line);
    const { fields } = JSON.parse((await generator(['generate', '--json'], shop.root)).stdout);
    expect(fields).toEqual({
      answered: 3,
      yours: ['Query.topUsers', 'Query.search', 'User.score'],
    });
  });

  test('is no more what is written', async () => {
    const shop = project({
      'schema.graphql': SCHEMA,
      'src/resolvers/Query.ts': `import type { Resolvers } from '../generated/types.ts';

export const resolvers: Resolvers['Query'] = {
  async topUsers(_root, _args, ctx) {
    return [];
  },
};
`,
    });
    const { stderr } = await generator(['generate'], shop.root);
    expect(stderr).not.toContain('Query.topUsers');
    expect(stderr).toContain('4 fields answered, 2 yours to write: Query.search, User.score');
    shop.write('src/resolvers/User.ts', 'export const resolvers = { score: () => 1 };\n');
    expect((await generator(['generate'], shop.root)).stderr).toContain(
      '1 yours to write: Query.search',
    );
  });

  test('is no subscription that some code publishes', async () => {
    const shop = project({
      'schema.graphql': `${SCHEMA}type Subscription { rang: Int! shut: Int! }\n`,
      'src/jobs/bell.ts':
        "export default { run: ({ ctx }) => ctx.publish('rang', 1) } satisfies types.Job;\n",
    });
    const { stderr } = await generator(['generate'], shop.root);
    expect(stderr).toContain('Subscription.shut');
    expect(stderr).not.toContain('Subscription.rang');
  });

  test('is found in files however they are laid out', () => {
    const written = (text: string) => [
      ...writtenMembers({ resolvers: [{ file: 'src/resolvers/A.ts', text }], otherUserTexts: [] }),
    ];
    expect(written('export const resolvers = { a, b: () => 1 };')).toEqual(['A.a', 'A.b']);
    expect(
      written(`const inner = { x: 1 };
export const resolvers: Resolvers = {
\ta: async () => ({
\t\tdeep: 1,
\t}),
\tasync 'b'() {},
\tc,
};`),
    ).toEqual(['A.a', 'A.b', 'A.c']);
    expect(written('const resolvers = 1;')).toEqual([]);
  });
});

describe('hints', () => {
  const many = `type Query { ${Array.from({ length: 30 }, (_, at) => `best${at}Users: [User!]!`).join(' ')} }
type User { id: ID! }
`;

  test('are shown once, and not more than a person reads', async () => {
    const shop = project({ 'schema.graphql': many });
    const first = await generator(['generate'], shop.root);
    expect(first.stderr.match(/ hint /g)).toHaveLength(10);
    expect(first.stderr).toContain('20 more hints: 20 NOT_INFERRED; --hints shows them');
    const second = await generator(['generate'], shop.root);
    expect(second.stderr).not.toMatch(/ {2}hint {2}/);
    expect(second.stderr).toContain('30 more hints: 30 NOT_INFERRED; --hints shows them');
    shop.write('schema.graphql', many.replace('best0Users', 'worstUsers'));
    const third = await generator(['generate'], shop.root);
    expect(third.stderr.match(/Query\.\w+ is yours/g)).toEqual(['Query.worstUsers is yours']);
    const all = await generator(['generate', '--hints'], shop.root);
    expect(all.stderr.match(/ {2}hint {2}/g)).toHaveLength(30);
    expect(
      JSON.parse((await generator(['check', '--json'], shop.root)).stdout).findings,
    ).toHaveLength(30);
  });
});

describe('files below schema/', () => {
  test('are read from folders of any depth', async () => {
    const shop = project({
      'schema.graphql': 'type Query { users: [User!]! posts: [Post!]! }\n',
      'schema/user.graphql': 'type User { id: ID! }\n',
      'schema/blog/posts/post.graphql': 'type Post { id: ID! title: Nope }\n',
    });
    const { stderr, code } = await generator(['check'], shop.root);
    expect(code).toBe(3);
    expect(stderr).toContain('schema/blog/posts/post.graphql:1:28  error  TYPE_UNKNOWN');
    shop.write('schema/blog/posts/post.graphql', 'type Post { id: ID! title: String }\n');
    expect((await generator(['generate'], shop.root)).code).toBe(0);
    expect(JSON.stringify(shop.files())).toContain('posts: list(');
  });
});
