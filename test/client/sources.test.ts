import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type RunOptions, type RunPlan, run } from '../../generator/pipeline.ts';
import { readProjectOf } from '../../generator/read-project.ts';
import { disk } from '../../generator/write/disk.ts';
import { createDocumentSource } from '../../runtime/core/graphql/trusted-documents.ts';

const SDL = `
  "A post."
  type Post { id: ID! title: String! price: DateTime }
  scalar DateTime
  type Query { posts: [Post!]! post(id: ID!): Post }
`;

let top: string;
let root: string;
const read = (path: string) => readFileSync(join(root, path), 'utf8');
const write = (path: string, text: string) => {
  mkdirSync(dirname(join(root, path)), { recursive: true });
  writeFileSync(join(root, path), text);
};
const git = (...words: string[]) =>
  execFileSync('git', ['-c', 'user.name=t', '-c', 'user.email=t@t', ...words], {
    cwd: top,
    encoding: 'utf8',
  });
const manifest = (client: string, more = '') =>
  write('manifest.yaml', `name: shop\nclient: ${client}\n${more}`);
const generate = (options: RunOptions = {}): Promise<RunPlan> => run(root, options, disk);
const errors = ({ findings }: RunPlan) =>
  findings
    .filter(({ severity }) => severity === 'error')
    .map(({ code, summary }) => `${code}: ${summary}`);
const names = (list = 'documents.json') =>
  Object.values(JSON.parse(read(list)) as Record<string, string>)
    .map((text) => /\w+ (\w+)/.exec(text)![1])
    .sort();

beforeEach(() => {
  top = mkdtempSync(join(tmpdir(), 'client-sources-'));
  root = join(top, 'server');
  git('init', '-q', '-b', 'main');
  write('schema.graphql', SDL);
});
afterEach(() => rmSync(top, { recursive: true, force: true }));

describe('the globs of documents', () => {
  it('match every kind of source in both forms, but not what "!" excludes, nor out', async () => {
    manifest(
      '{ documents: ["../web/**/*.{graphql,gql,ts,tsx,mts,js,jsx,mjs}", "!../web/**/*.test.ts"], out: ../web/api/ }',
    );
    const posts = (name: string) => `query ${name} { posts { id } }`;
    write('../web/a.graphql', posts('A'));
    write('../web/deep/er/b.gql', posts('B'));
    write('../web/c.ts', `const c = graphql(\`${posts('C')}\`);`);
    write('../web/d.tsx', `const d = <p>{/* GraphQL */ \`${posts('D')}\`}</p>;`);
    write('../web/e.mts', `const e = /* GraphQL */ \`${posts('E')}\`;`);
    write('../web/f.js', `const f = graphql(\`${posts('F')}\`);`);
    write('../web/g.jsx', `const g = <p>{graphql(\`${posts('G')}\`)}</p>;`);
    write('../web/h.mjs', `const h = /*GraphQL*/ \`${posts('H')}\`;`);
    write('../web/i.test.ts', `graphql(\`${posts('I')}\`);`);
    write('../web/node_modules/j/j.graphql', posts('J'));
    write('../web/none.ts', `const k = other(\`${posts('K')}\`);`);
    for (const _ of ['first', 'second']) expect(errors(await generate())).toEqual([]);
    expect(names()).toEqual(['A', 'B', 'C', 'D', 'E', 'F', 'G', 'H']);
  });
});

describe('imports: auto', () => {
  it.each([
    ['no configuration', null, '.ts'],
    ['a bundler', { module: 'esnext', moduleResolution: 'bundler' }, ''],
    [
      'extensions that are allowed',
      { module: 'nodenext', allowImportingTsExtensions: true },
      '.ts',
    ],
    ['the rules of Node', { module: 'nodenext' }, '.js'],
  ])('reads the tsconfig.json above out: %s', async (_, compilerOptions, ending) => {
    manifest('{ documents: ["../web/*.graphql"], out: ../web/src/api/ }');
    write('../web/a.graphql', 'query A { posts { id } }');
    const text = `// said by hand\n${JSON.stringify({ compilerOptions })}`;
    if (compilerOptions) write('../web/tsconfig.json', text);
    expect(errors(await generate())).toEqual([]);
    expect(read('../web/src/api/documents.ts')).toContain(`from './typed-document${ending}';`);
  });
});

describe('the list that a run keeps', () => {
  const client = '{ documents: ["../web/*.graphql"], out: ../web/api/ }';
  const ask = { operationName: undefined, variables: {}, extensions: {} };

  it.each([
    ['absent', '', false, false],
    ['false', 'api: { trusted_documents: { required: false } }\n', false, false],
    ['production', 'api: { trusted_documents: { required: production } }\n', false, true],
    ['true', 'api: { trusted_documents: { required: true } }\n', true, true],
  ])('is mandatory as api.trusted_documents says: %s', async (_, more, here, inProduction) => {
    manifest(client, more);
    write('../web/a.graphql', 'query A { posts { id } }');
    expect(errors(await generate())).toEqual([]);
    const { project } = await readProjectOf(root);
    const [[hash, text]] = Object.entries(JSON.parse(read('documents.json'))) as [[string, string]];
    for (const [production, required] of [
      [false, here],
      [true, inProduction],
    ] as const) {
      const { textOf } = createDocumentSource(project!.api.trustedDocuments, { root, production });
      expect(textOf({ ...ask, query: undefined, documentId: `sha256:${hash}` })).toBe(text);
      const other = () => textOf({ ...ask, query: '{ posts { id } }', documentId: undefined });
      if (required) expect(other).toThrow('only trusted documents');
      else expect(other()).toBe('{ posts { id } }');
    }
  });
});

describe('several front ends', () => {
  it('have names and folders of their own, one list, and the tools of the first', async () => {
    manifest(
      '[{ documents: ["../web/*.graphql"], out: ../web/api/ }, { documents: ["../app/*.graphql"], out: ../app/api/, format: ast, scalars: { DateTime: number } }]',
      'api: { mcp: { tools: documents } }\n',
    );
    write('../web/a.graphql', '# Of the web.\nquery A { posts { id } }');
    write('../app/a.graphql', '# Of the app.\nquery A { posts { id title price } }');
    expect(errors(await generate())).toEqual([]);
    expect(names()).toEqual(['A', 'A']);
    expect(read('../web/api/documents.ts')).toContain('/** Of the web. */');
    expect(read('../app/api/documents.ts')).toMatch(/price: number \| null/);
    expect(read('src/generated/tools.ts')).toMatch(/Of the web\.[^]*Of the app\./);
  });
});

describe('two branches that add a document each', () => {
  it('merge without a conflict, and the list has both', async () => {
    manifest('{ documents: ["../web/*.graphql"], out: ../web/api/ }');
    const add = async (name: string) => {
      write(`../web/${name}.graphql`, `query ${name} { posts { id } }`);
      expect(errors(await generate())).toEqual([]);
      git('add', '-A');
      git('commit', '-qm', name);
    };
    for (const name of ['Beta', 'Kappa', 'Omega']) await add(name);
    git('checkout', '-qb', 'other');
    await add('Alpha');
    git('checkout', '-q', 'main');
    await add('Nu');
    git('merge', '-q', '--no-edit', 'other');
    const { changes } = await generate();
    // The next run rights the lines of both sides in the lockfile; every other file is right.
    const written = changes.filter(({ kind }) => kind !== 'same').map(({ path }) => path);
    expect(written.filter((path) => path !== 'generator.lock')).toEqual([]);
    expect(names()).toEqual(['Alpha', 'Beta', 'Kappa', 'Nu', 'Omega']);
  });
});

describe('limits', () => {
  it.each([
    ['aliases', '{ a: posts { id } b: posts { id } }', /2 aliases, 1/],
    ['root_fields', '{ posts { id } post(id: 1) { id } }', /2 root fields, 1/],
    ['directives', '{ posts { id @include(if: true) title @skip(if: true) } }', /2 directives, 1/],
  ])('%s: a document over it is refused with both figures', async (limit, selection, figures) => {
    manifest(
      '{ documents: ["../web/*.graphql"], out: ../web/api/ }',
      `api: { limits: { ${limit}: 1 } }\n`,
    );
    write('../web/a.graphql', `query A ${selection}`);
    const [refused] = errors(await generate());
    expect(refused).toMatch(/^DOCUMENT_OVER_LIMIT/);
    expect(refused).toMatch(figures);
    expect(existsSync(join(root, 'documents.json'))).toBe(false);
  });
});

describe('without git', () => {
  beforeEach(() => rmSync(join(top, '.git'), { recursive: true }));

  it('out and documents lie in the folder of the project', async () => {
    manifest('{ documents: ["../web/*.graphql"], out: ../web/api/ }');
    write('../web/a.graphql', 'query A { posts { id } }');
    expect(errors(await generate()).map((each) => each.split(':')[0])).toEqual([
      'CLIENT_OUT_OUTSIDE',
      'CLIENT_OUT_OUTSIDE',
    ]);
  });

  it('what a running dev added goes when its source goes, and what was there stays', async () => {
    manifest('{ documents: ["web/*.graphql"], out: web/api/ }');
    write('web/a.graphql', 'query A { posts { id } }');
    expect(errors(await generate())).toEqual([]);
    const added = new Set<string>();
    for (const name of ['Typed', 'TypedAgain']) {
      write('web/a.graphql', `query ${name} { posts { id } }`);
      expect(errors(await generate({ added }))).toEqual([]);
    }
    expect(names()).toEqual(['A', 'TypedAgain']);
  });
});
