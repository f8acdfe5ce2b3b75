import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  cpSync,
  existsSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
} from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { makeProject, repo, type TestProject } from '../project.ts';

const execute = promisify(execFile);
const here = fileURLToPath(new URL('installed', import.meta.url));

/** graphql-codegen with its plugins, installed once for each lock file. */
export async function installed(): Promise<string> {
  const lock = readFileSync(join(here, 'package-lock.json'));
  const name = createHash('sha256').update(lock).digest('hex').slice(0, 16);
  const folder = join(repo, '.build/codegen', name);
  if (existsSync(folder)) return join(folder, 'node_modules');
  const part = `${folder}.${process.pid}`;
  mkdirSync(part, { recursive: true });
  for (const file of ['package.json', 'package-lock.json'])
    cpSync(join(here, file), join(part, file));
  const words = ['ci', '--ignore-scripts', '--no-audit', '--no-fund', '--prefer-offline'];
  await execute('npm', words, { cwd: part });
  try {
    renameSync(part, folder);
  } catch {
    rmSync(part, { recursive: true, force: true });
  }
  return join(folder, 'node_modules');
}

export const SCHEMA = readFileSync(join(repo, 'examples/blog/schema.graphql'), 'utf8');

export const OWN = `import type { GraphQLSchema } from 'graphql';
export const plugin = (schema: GraphQLSchema, documents: readonly unknown[], config: { word?: string }) =>
  \`export const names = \${JSON.stringify([...Object.keys(schema.getTypeMap()), documents.length, config.word ?? ''])};\\n\`;
`;

export const PAGE = `import { graphql } from './gql';
export const Posts = graphql(/* GraphQL */ \`
  query Posts($limit: Int) {
    posts(limit: $limit) { id title ...Card }
  }
\`);
const Card = graphql(\`fragment Card on Post { body status author { name } }\`);
`;

/** A project in a folder of a work tree, beside a front end. */
export function work(manifest: string, modules: string): TestProject {
  const project = makeProject({
    'api/schema.graphql': SCHEMA,
    'api/manifest.yaml': manifest,
    'api/codegen/mine.ts': OWN,
    'web/src/page.tsx': PAGE,
    'web/src/edit.ts':
      "import { graphql } from './gql';\nexport const Create = graphql(`mutation Create($input: CreatePostInput!) { createPost(input: $input) { id createdAt } }`);\n",
    '.git/HEAD': 'ref: refs/heads/main\n',
  });
  symlinkSync(modules, project.path('node_modules'));
  return project;
}
