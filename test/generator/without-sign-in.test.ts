import { rmSync } from 'node:fs';
import { afterEach, expect, test } from 'vitest';
import { starters } from '../../templates/starter/index.ts';
import { generator, makeProject, type TestProject } from './project.ts';

const made: TestProject[] = [];
afterEach(() => made.splice(0).forEach(({ root }) => rmSync(root, { recursive: true })));

async function blog(manifest: string): Promise<TestProject> {
  const project = makeProject({
    'schema.graphql': starters.blog.schema,
    'manifest.yaml': manifest,
    ...starters.blog.files,
  });
  made.push(project);
  expect(await generator(['generate'], project.root)).toMatchObject({ code: 0 });
  return project;
}

/** The lines about sign-in and the console, without those of pages to read and of the user's own test. */
const linesOf = (project: TestProject) =>
  Object.entries(project.files())
    .filter(
      ([path]) => !/\.md$|^test\/|^manifest\.yaml$|generator\.lock$|^\.generator\//.test(path),
    )
    .flatMap(([path, text]) =>
      text
        .split('\n')
        .filter((line) => /auth(?!or)|JWT|PASSWORD|console/i.test(line))
        .filter((line) => !/POSTGRES_PASSWORD|postgres:\/\//.test(line))
        .map((line) => `${path}: ${line.trim()}`),
    );

test('a blog without sign-in and console has no line of either', async () => {
  expect(linesOf(await blog('name: shop\napi: { rest: true }\n'))).toEqual([]);
});

test('a blog with a console has what it needs to sign in, and no copy of its manifest', async () => {
  const project = await blog(starters.blog.manifest('shop'));
  const lines = linesOf(project);
  const files = [...new Set(lines.map((line) => line.slice(0, line.indexOf(':'))))];
  expect(files).toEqual([
    '.env.example',
    'package.json',
    'src/generated/app.ts',
    'src/generated/console.ts',
  ]);
  expect(lines.filter((line) => line.startsWith('.env.example'))).toEqual([
    '.env.example: JWT_SECRET=',
    '.env.example: # Signs you in to the console',
    '.env.example: HOST_PASSWORD=',
  ]);
  expect(project.read('src/generated/console.ts')).not.toContain('rest: true');
});

test('a container has the manifest where the console of production lists its settings', async () => {
  const line = 'COPY manifest.yaml ./\n';
  const always = await blog('name: shop\nconsole: { enabled: always }\n');
  expect(always.read('Dockerfile')).toContain(line);
  expect((await blog('name: shop\nconsole: {}\n')).read('Dockerfile')).not.toContain(line);
});
