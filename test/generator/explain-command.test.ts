import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { Explanation } from '../../generator/explain/facts.ts';
import { generator, linkPackages, makeProject, repo } from './project.ts';

/** A plugin that counts the processes that load it. */
const CLOCK = `import { appendFileSync, mkdirSync } from 'node:fs';
mkdirSync('data', { recursive: true });
appendFileSync('data/starts.txt', 'started\\n');
export default { name: 'clock', resolvers: { Query: { now: () => '12:00' } } };
`;

describe('explain', () => {
  test('of a name that is not there says which is near', async () => {
    expect(await generator(['explain', 'Pots'], join(repo, 'examples/blog'))).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('did you mean Post?'),
    });
  });

  test('prints the operation, the statement of the database that .env names, and where it stands', async () => {
    const shop = makeProject({
      'schema.graphql': 'type User { id: ID! name: String! }\ntype Query { users: [User!]! }\n',
      'manifest.yaml': 'name: shop\n',
    });
    try {
      expect(await generator(['explain', 'User.name'], shop.root)).toMatchObject({
        code: 0,
        stderr: expect.stringContaining('npm run generate'),
      });
      linkPackages(shop);
      await generator(['generate'], shop.root);
      shop.write('.env', 'DATABASE_URL=postgres://nobody@127.0.0.1:1/none\n');
      const { stdout } = await generator(['explain', 'User.name'], shop.root);
      expect(stdout.split('\n').map((line) => line.replace(/:\d+$/, ':N'))).toEqual([
        'User.name  column',
        '  rule       column',
        '  stored     users.name',
        '  file       src/generated/model.ts:N',
        '  asked by   { users(limit: 10) { name } }',
        '  plan       users: list User (limit)',
        '               name: column name',
        expect.stringMatching(
          /^ {2}statement {2}select .+json_agg\(.+"users".+\)::text as j offset 0\) q$/,
        ),
        '',
      ]);
    } finally {
      shop.remove();
    }
  });

  test('says who answers what a function or a plugin of the user answers, and asks for nothing in their place', async () => {
    const shop = makeProject({
      'schema.graphql':
        'type User { id: ID! name: String! shout: String! @computed }\ntype Query { users: [User!]! user(id: ID!): User now: String! }\n',
      'manifest.yaml': 'name: shop\n',
      'src/resolvers/User.ts':
        'export const resolvers = {\n  // shout: no\n  shout: (user: { name: string }) => user.name,\n};\n',
      'src/plugins/clock.ts':
        "export default {\n  name: 'clock',\n  resolvers: { Query: { user: () => { throw new Error('called') } } },\n};\n",
    });
    try {
      linkPackages(shop);
      await generator(['generate'], shop.root);
      const { stdout } = await generator(['explain', '--json'], shop.root);
      const of = (name: string) =>
        JSON.parse(stdout).explanations.find(
          ({ coordinate }: Explanation) => coordinate === name,
        ) as Explanation & { readonly operation?: string };
      expect(of('User.shout')).toMatchObject({
        decidedBy: '@computed',
        file: 'src/resolvers/User.ts:3',
        operation: '{ users(limit: 10) { shout } }',
        statements: { sqlite: [expect.stringContaining("'$row'")] },
      });
      expect(of('Query.user')).toEqual({
        coordinate: 'Query.user',
        what: 'yours: a function of yours answers it',
        decidedBy: 'your function',
        file: 'src/plugins/clock.ts:3',
      });
      expect(of('Query.now')).toMatchObject({
        decidedBy: 'stub',
        what: expect.stringContaining('NOT_IMPLEMENTED'),
      });
      expect(of('User.name').operation).toBe('{ users(limit: 10) { name } }');
    } finally {
      shop.remove();
    }
  });

  test('starts the project once, also where a plugin answers another field', async () => {
    const shop = makeProject({
      'schema.graphql':
        'type User { id: ID! name: String! }\ntype Query { users: [User!]! user(id: ID!): User now: String! }\n',
      'manifest.yaml': 'name: shop\n',
      'src/plugins/clock.ts': CLOCK,
    });
    try {
      linkPackages(shop);
      await generator(['generate'], shop.root);
      const { stdout } = await generator(['explain', 'User.name'], shop.root);
      expect(stdout).toContain('{ users(limit: 10) { name } }');
      expect(shop.read('data/starts.txt')).toBe('started\n');
    } finally {
      shop.remove();
    }
  });

  test('of a deprecated field says when it goes, and which documents ask for it', async () => {
    const project = makeProject({
      'schema.graphql':
        'type User { id: ID! fullName: String! name: String @deprecated(reason: "Use fullName. Removal on 2027-03-01.") old: Int @deprecated }\ntype Query { users: [User!]! }\n',
      'manifest.yaml': "name: shop\nclient: { documents: ['web/*.graphql'], out: web/api }\n",
      'web/a.graphql': 'query Names { users { name } }\n\nquery Full { users { fullName } }\n',
    });
    await generator(['generate'], project.root);
    const { stdout } = await generator(['explain', 'User', '--json'], project.root);
    const { explanations } = JSON.parse(stdout) as { explanations: Record<string, unknown>[] };
    const of = (name: string) => explanations.find(({ coordinate }) => coordinate === name);
    expect(of('User.name')).toMatchObject({
      deprecated: 'Use fullName. Removal on 2027-03-01.',
      sunset: '2027-03-01',
      usedBy: [{ operation: 'Names', at: 'web/a.graphql:1', retired: false }],
    });
    expect(of('User.old')).toMatchObject({ sunset: null, usedBy: [] });
    expect(of('User.fullName')).not.toHaveProperty('deprecated');
    const text = (await generator(['explain', 'User.name'], project.root)).stdout;
    expect(text).toMatch(
      /\n {2}outdated {3}Use fullName.*\n {2}used by {4}Names {2}web\/a.graphql:1\n/,
    );
    project.remove();
  });
});
