import { execFile } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { plugin } from '@graphql-codegen/typescript-operations';
import {
  buildClientSchema,
  buildSchema,
  type GraphQLSchema,
  type IntrospectionQuery,
  isScalarType,
  parse,
} from 'graphql';
import { describe, expect, it } from 'vitest';
import { clientSource } from '../../generator/documents/front-end.ts';
import { readOperations } from '../../generator/documents/operations.ts';
import { documentsFile } from '../../templates/client/documents-file.ts';
import type { JsonType } from '../../templates/client/operation.ts';
import { typedDocumentFile } from '../../templates/client/client-file.ts';
import { createRandom } from '../generator/random.ts';
import { createRandomDocuments } from './random-documents.ts';

/** CLIENT_DOCUMENTS=500 for the long run, with the peers of `test/bench` installed; SEED for another one. */
const DOCUMENTS = Number(process.env['CLIENT_DOCUMENTS'] ?? 40);
const SEED = Number(process.env['SEED'] ?? 1);

const repo = fileURLToPath(new URL('../../', import.meta.url));
const OPTIONS = {
  strict: true,
  exactOptionalPropertyTypes: true,
  erasableSyntaxOnly: true,
  verbatimModuleSyntax: true,
  skipLibCheck: false,
  noEmit: true,
  target: 'es2022',
  lib: ['es2023', 'dom', 'dom.iterable'],
  module: 'esnext',
  moduleResolution: 'bundler',
  allowImportingTsExtensions: true,
  types: [],
};

describe.each(schemas())('documents of $name', ({ schema }) => {
  it(
    `seed ${SEED}: have types that are assignable both ways to those of graphql-codegen`,
    {
      timeout: 600_000,
    },
    async () => {
      const folder = mkdtempSync(join(tmpdir(), 'client-types-'));
      const names = await writeModules(folder, schema());
      const config = { compilerOptions: OPTIONS, files: ['same.ts'] };
      writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify(config));
      const tsc = join(repo, 'node_modules/.bin/tsc');
      const { stdout } = await promisify(execFile)(tsc, ['-p', folder], {
        maxBuffer: 1 << 26,
      }).catch((error: { stdout: string }) => error);
      expect(stdout).toBe('');
      expect(names).toBeGreaterThan(DOCUMENTS);
      rmSync(folder, { recursive: true });
    },
  );
});

/** Ours, theirs, and a module that compares each pair of types. */
async function writeModules(folder: string, schema: GraphQLSchema): Promise<number> {
  const texts = validDocuments(schema);
  const sources = texts.map((text, at) => ({
    file: `${at}.graphql`,
    text,
    line: 1,
    column: 1,
    inCode: false,
    isStatic: true,
  }));
  const { operations, fragments } = readOperations(schema, sources, { typenames: false });
  const withoutCode = <T>(all: readonly T[]) => all.map((each) => ({ ...each, inCode: null }));
  const printed = documentsFile({
    schema,
    operations: withoutCode(operations),
    fragments: withoutCode(fragments),
    format: 'string',
    send: 'hash',
    scalars: scalarsOf(schema),
    ending: '.ts',
    server: { graphql: '/graphql', delivery: null },
    source: clientSource,
  });
  const names = [...printed.matchAll(/^export type (\w+)/gm)].map(([, name]) => name!);
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'ours.ts'), printed);
  writeFileSync(
    join(folder, 'typed-document.ts'),
    typedDocumentFile({ format: 'string', source: clientSource }),
  );
  writeFileSync(join(folder, 'theirs.ts'), await theirs(schema, texts));
  writeFileSync(join(folder, 'same.ts'), comparison(names));
  return names.length;
}

/** A document whose fields would clash is none. */
function validDocuments(schema: GraphQLSchema): string[] {
  const next = createRandomDocuments(schema, createRandom(SEED));
  const texts: string[] = [];
  for (let tries = 0; texts.length < DOCUMENTS && tries < 20 * DOCUMENTS; tries++) {
    const text = next();
    const source = { file: 'a', text, line: 1, column: 1, inCode: false, isStatic: true };
    if (readOperations(schema, [source], { typenames: false }).findings.length === 0)
      texts.push(text);
  }
  expect(texts.length).toBe(DOCUMENTS);
  return texts;
}

async function theirs(schema: GraphQLSchema, texts: readonly string[]): Promise<string> {
  const documents = texts.map((text, at) => ({ document: parse(text), location: `${at}.graphql` }));
  const scalars = Object.fromEntries(
    Object.entries(scalarsOf(schema)).filter(([name]) => !BUILTIN.has(name)),
  );
  const output = await plugin(
    schema,
    documents,
    { enumsAsTypes: true, scalars } as never,
    { outputFile: '' } as never,
  );
  const { prepend = [], content } = output as { prepend?: string[]; content: string };
  return [...prepend, content].join('\n');
}

const BUILTIN = new Set(['ID', 'String', 'Int', 'Float', 'Boolean']);

function scalarsOf(schema: GraphQLSchema): Record<string, JsonType> {
  const own = Object.values(schema.getTypeMap()).filter(isScalarType);
  return {
    ...Object.fromEntries(own.map(({ name }) => [name, { input: 'string', output: 'string' }])),
    ID: { input: 'string | number', output: 'string' },
    Int: { input: 'number', output: 'number' },
    Float: { input: 'number', output: 'number' },
    Boolean: { input: 'boolean', output: 'boolean' },
  };
}

const comparison = (names: readonly string[]) =>
  [
    "import type * as Ours from './ours.ts';",
    "import type * as Theirs from './theirs.ts';",
    'type Same<A, B> = [A] extends [B] ? ([B] extends [A] ? true : false) : false;',
    ...names.map((name) => `export const ${name}: Same<Ours.${name}, Theirs.${name}> = true;`),
  ].join('\n');

/** Nautical's schema is installed for tests; GitHub's and Shopify's with the peers of the benchmarks. */
function schemas(): { readonly name: string; readonly schema: () => GraphQLSchema }[] {
  const peers = process.env['CLIENT_SCHEMAS'] ?? join(repo, 'test/bench/node_modules');
  const github = join(peers, '@octokit/graphql-schema/schema.graphql');
  const shopify = join(peers, '@shopify/hydrogen-react/storefront.schema.json');
  const nautical = join(
    repo,
    'node_modules/@nautical-commerce/graphql-schema/nautical/schema.graphql',
  );
  return [
    {
      name: 'Nautical',
      schema: () => buildSchema(readFileSync(nautical, 'utf8'), { assumeValid: true }),
    },
    ...(existsSync(github)
      ? [
          {
            name: 'GitHub',
            schema: () =>
              buildSchema(readFileSync(github, 'utf8'), {
                assumeValid: true,
                assumeValidSDL: true,
              }),
          },
        ]
      : []),
    ...(existsSync(shopify)
      ? [
          {
            name: 'Shopify',
            schema: () => buildClientSchema(introspected(shopify), { assumeValid: true }),
          },
        ]
      : []),
  ];
}

function introspected(file: string): IntrospectionQuery {
  const content = JSON.parse(readFileSync(file, 'utf8'));
  return content.data ?? content;
}
