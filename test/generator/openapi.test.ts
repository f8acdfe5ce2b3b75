import { join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import type { App } from '../../runtime/core/index.ts';
import { createServer } from '../../runtime/core/index.ts';
import { generator, linkPackages, makeProject, repo, type TestProject } from './project.ts';

const made: TestProject[] = [];
afterEach(() => made.splice(0).forEach((each) => each.remove()));

async function shop(api: string): Promise<TestProject> {
  const project = makeProject({
    'schema.graphql': `"""
Somebody who buys.
"""
type User { id: ID! name: String! @deprecated(reason: "old") }

type Cart { id: ID! owner: User! }

type Query { user(id: ID!): User users(limit: Int, offset: Int): [User!]! carts: [Cart!]! }
`,
    'manifest.yaml': `name: shop\n${api}`,
  });
  made.push(project);
  linkPackages(project);
  expect(await generator(['generate', '--quiet'], project.root)).toMatchObject({ code: 0 });
  return project;
}

async function served(root: string): Promise<string> {
  const { app } = (await import(join(root, 'src/generated/app.ts'))) as { app: App };
  const env = {
    DATABASE_URL: ':memory:',
    MIGRATE: 'on',
    LOG_LEVEL: 'silent',
    JWT_SECRET: 'j'.repeat(43),
    API_KEY: 'k'.repeat(43),
    HOST_PASSWORD: 'correct horse battery',
  };
  const server = await createServer(app).start('127.0.0.1:0', { env });
  try {
    return await (await fetch(`${server.url}/api/openapi.json`)).text();
  } finally {
    await server.close();
  }
}

test.each(['blog', 'company', 'hosting'])('prints the bytes that %s serves', async (name) => {
  const root = join(repo, 'examples', name);
  const text = await served(root);
  expect(await generator(['openapi'], root)).toEqual({ code: 0, stdout: text, stderr: '' });
});

test('knows the functions of the project, and opens no database', async () => {
  const project = await shop('api: { rest: true }\n');
  project.write(
    'src/resolvers/Query.ts',
    "import type { QueryResolvers } from '../generated/types.ts';\n\nexport const resolvers: QueryResolvers = {\n  users: () => [],\n};\n",
  );
  expect(await generator(['generate', '--quiet'], project.root)).toMatchObject({ code: 0 });
  const before = project.files();
  const env = { DATABASE_URL: 'postgres://127.0.0.1:1/nowhere' };
  const { code, stdout } = await generator(['openapi'], project.root, env);
  expect([code, project.files()]).toEqual([0, before]);
  expect(stdout).toBe(await served(project.root));
  const { paths, components } = JSON.parse(stdout);
  const total = (path: string) =>
    paths[path].get.responses[200].content['application/json'].schema.properties.pagination;
  expect(total('/api/users').properties.total.type).toEqual(['integer', 'null']);
  expect(total('/api/carts')).toEqual({ $ref: '#/components/schemas/Pagination' });
  expect(components.schemas.User).toMatchObject({
    description: 'Somebody who buys.',
    properties: { name: { deprecated: true } },
  });
});

test('holds the routes of the project', async () => {
  const project = await shop('api: { rest: true }\n');
  project.write(
    'src/routes.ts',
    `import type * as types from './generated/types.ts';

export const routes: types.Routes = (router) => {
  router.get('/hello/:name', { response: 'User', summary: 'One greeting', tags: ['greetings'] }, () => null);
};
`,
  );
  expect(await generator(['generate', '--quiet'], project.root)).toMatchObject({ code: 0 });
  const { stdout } = await generator(['openapi'], project.root);
  expect(stdout).toBe(await served(project.root));
  const { get } = JSON.parse(stdout).paths['/hello/{name}'];
  expect(get).toMatchObject({
    summary: 'One greeting',
    tags: ['greetings'],
    parameters: [{ name: 'name', in: 'path', required: true }],
  });
});

test('writes a file of the user with --out, which no run touches', async () => {
  const project = await shop('api: { rest: true }\n');
  const { stdout } = await generator(['openapi'], project.root);
  const out = await generator(['openapi', '--out', 'docs/api.json'], project.root);
  expect(out).toEqual({ code: 0, stdout: '', stderr: 'written  docs/api.json\n' });
  expect(project.read('docs/api.json')).toBe(stdout);
  project.write('docs/api.json', 'mine');
  expect(await generator(['generate'], project.root)).toMatchObject({ code: 0 });
  expect(project.read('docs/api.json')).toBe('mine');
  const json = await generator(['openapi', '--json'], project.root);
  expect(JSON.parse(json.stdout)).toEqual({ ok: true, document: JSON.parse(stdout) });
});

test('holds the endpoints that are left without REST, and says what a project without files lacks', async () => {
  const { stdout } = await generator(['openapi'], (await shop('')).root);
  expect(Object.keys(JSON.parse(stdout).paths)).toEqual(['/api/health']);
  const empty = makeProject();
  made.push(empty);
  expect(await generator(['openapi'], empty.root)).toMatchObject({
    code: 2,
    stderr: expect.stringMatching(/there is no src\/generated\/app\.ts[^]*npm run generate/),
  });
});
