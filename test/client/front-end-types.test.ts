import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { afterEach, expect, it } from 'vitest';
import {
  generator,
  linkPackages,
  makeProject,
  repo,
  SEED,
  type TestProject,
} from '../generator/project.ts';

const DOCUMENT = "import { graphql } from './api/index.ts';\n";
const CONFIG = {
  compilerOptions: {
    ...{ strict: true, noEmit: true, allowImportingTsExtensions: true, target: 'esnext' },
    ...{ lib: ['esnext', 'dom', 'dom.iterable'], module: 'esnext', moduleResolution: 'bundler' },
  },
  include: ['src'],
};

let project: TestProject;
afterEach(() => project.remove());

const typecheck = () => (JSON.parse(project.read('package.json')).scripts as any).typecheck;

/** What the script says of the front end, and its exit code. */
function checked(): [number, string] {
  const part = typecheck().slice('tsc && '.length);
  try {
    const env = {
      ...process.env,
      PATH: `${join(repo, 'node_modules/.bin')}:${process.env['PATH']}`,
    };
    return [0, execFileSync('sh', ['-c', part], { cwd: project.root, env, encoding: 'utf8' })];
  } catch (error) {
    const { status, stdout } = error as { status: number; stdout: string };
    return [status, stdout];
  }
}

it.each([
  { of: 'one configuration', files: { 'tsconfig.json': CONFIG }, script: 'tsc && tsc -p web' },
  {
    of: 'one of references, as Vite has it',
    files: {
      'tsconfig.json': { files: [], references: [{ path: './tsconfig.app.json' }] },
      'tsconfig.app.json': CONFIG,
    },
    script: 'tsc && tsc -b --noEmit web',
  },
])('npm run check looks at the types of a front end with $of', async ({ files, script }) => {
  project = makeProject({
    'schema.graphql': SEED,
    'manifest.yaml': 'name: shop\nclient: { documents: ["web/src/*.ts"], out: web/src/api/ }\n',
    'web/src/users.ts': `${DOCUMENT}export const users = graphql(\`query Users { users { name } }\`);\n`,
  });
  for (const [name, config] of Object.entries(files))
    project.write(`web/${name}`, JSON.stringify(config));
  linkPackages(project);
  expect(await generator(['generate'], project.root)).toMatchObject({ code: 0 });
  expect(typecheck()).toBe(script);
  project.write('web/src/wrong.ts', 'export const total: number = "1";\n');
  const [code, said] = checked();
  expect(code).not.toBe(0);
  expect(said.trim().split('\n')).toEqual([
    expect.stringContaining('web/src/wrong.ts(1,14): error TS2322'),
  ]);
});

it('npm run check leaves a front end without a configuration, or outside of the project, alone', async () => {
  project = makeProject({
    'api/schema.graphql': SEED,
    'api/manifest.yaml':
      'name: shop\nclient: { documents: ["../web/*.graphql"], out: ../web/api/ }\n',
    'web/users.graphql': 'query Users { users { name } }',
    'web/tsconfig.json': JSON.stringify(CONFIG),
    '.git/HEAD': 'ref: refs/heads/main\n',
  });
  const api = { ...project, root: project.path('api') };
  linkPackages(api);
  expect(await generator(['generate'], api.root)).toMatchObject({ code: 0 });
  expect(JSON.parse(project.read('api/package.json')).scripts.typecheck).toBe('tsc');
});
