import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { buildSchema, type GraphQLSchema, isScalarType } from '../client/own-graphql.ts';
import { readOperations } from '../../generator/documents/operations.ts';
import { createRandomDocuments } from '../client/random-documents.ts';
import { createRandom } from '../generator/random.ts';
import { writeRepository } from './client/breaking.ts';

/**
 * What typed documents cost, beside graphql-codegen's own CLI with the client preset: seconds of CPU
 * of whole processes over GitHub's schema and 200 documents, which take turns.
 *
 * npm ci --prefix test/bench, then npm run bench:client -- [--rounds 5]
 */
const at = process.argv.indexOf('--rounds');
const ROUNDS = at < 0 ? 5 : Number(process.argv[at + 1]);
const DOCUMENTS = 200;
const SEED = 1;

const repo = fileURLToPath(new URL('../../', import.meta.url));
const peers = process.env['BENCH_PEERS'] ?? join(repo, 'test/bench/node_modules');
const home = mkdtempSync(join(tmpdir(), 'bench-client-'));
const sdl = readFileSync(join(peers, '@octokit/graphql-schema/schema.graphql'), 'utf8');

/** Seconds of CPU of a command and the processes that it starts. */
function cpuOf(command: string): number {
  const script = `cd ${home} && ${command} >/dev/null 2>${home}/error; code=$?; times; exit $code`;
  const printed = execFileSync('bash', ['-c', script], { encoding: 'utf8' });
  const children = printed.trim().split('\n').at(-1)!;
  return [...children.matchAll(/(\d+)m([\d.]+)s/g)].reduce(
    (sum, [, minutes, seconds]) => sum + 60 * Number(minutes) + Number(seconds),
    0,
  );
}

function writeInputs(): void {
  const schema = buildSchema(sdl, { assumeValid: true, assumeValidSDL: true });
  mkdirSync(join(home, 'documents'));
  const next = createRandomDocuments(schema, createRandom(SEED));
  for (let count = 0; count < DOCUMENTS;) {
    const text = next();
    const source = { file: 'a', text, line: 1, column: 1, inCode: false, isStatic: true };
    if (readOperations(schema, [source], { typenames: false }).findings.length > 0) continue;
    writeFileSync(join(home, 'documents', `${count++}.graphql`), text);
  }
  writeFileSync(join(home, 'schema.graphql'), sdl);
  symlinkSync(peers, join(home, 'node_modules'));
  writeFileSync(join(home, 'codegen.json'), JSON.stringify(configOf(schema)));
  mkdirSync(join(home, 'empty'));
  writeFileSync(join(home, 'empty/index.ts'), 'export {};');
  for (const name of ['ours', 'theirs', 'empty'])
    writeFileSync(join(home, `${name}.json`), compilerOf(name));
}

const configOf = (schema: GraphQLSchema) => ({
  schema: 'schema.graphql',
  documents: 'documents/*.graphql',
  generates: {
    'theirs/': {
      preset: 'client',
      presetConfig: { persistedDocuments: true, fragmentMasking: false },
      config: {
        enumsAsTypes: true,
        documentMode: 'string',
        useTypeImports: true,
        scalars: Object.fromEntries(
          Object.values(schema.getTypeMap())
            .filter(
              (type) => isScalarType(type) && !/^(ID|String|Int|Float|Boolean)$/.test(type.name),
            )
            .map(({ name }) => [name, 'string']),
        ),
      },
    },
  },
});

const compilerOf = (name: string) =>
  JSON.stringify({
    compilerOptions: {
      strict: true,
      noEmit: true,
      skipLibCheck: true,
      target: 'es2022',
      module: 'esnext',
      moduleResolution: 'bundler',
      allowImportingTsExtensions: true,
      lib: ['es2023', 'dom', 'dom.iterable'],
      types: [],
    },
    include: [name],
  });

writeInputs();
writeRepository(join(home, 'repository'));
const node = process.execPath;
const commands = {
  ours: `${node} ${repo}test/bench/client/ours.ts ${home}`,
  preset: `${node} ${peers}/@graphql-codegen/cli/esm/bin.js --config codegen.json`,
  oursTsc: `${repo}node_modules/.bin/tsc -p ours.json`,
  presetTsc: `${repo}node_modules/.bin/tsc -p theirs.json`,
  emptyTsc: `${repo}node_modules/.bin/tsc -p empty.json`,
  // They end with 1: something is breaking, and files are to be written.
  breaking: `(${node} ${repo}generator/bin.js breaking --no-code --cwd repository || test $? = 1)`,
  generate: `(${node} ${repo}generator/bin.js generate --dry-run --cwd repository || test $? = 1)`,
};
const seconds = new Map<string, number>();
for (let round = 0; round < ROUNDS; round++)
  for (const [name, command] of Object.entries(commands))
    seconds.set(name, Math.min(seconds.get(name) ?? Infinity, cpuOf(command)));

const { cold, warm, changed } = JSON.parse(
  execFileSync(node, [join(repo, 'test/bench/client/ours.ts'), home, '8'], { encoding: 'utf8' }),
) as Record<'cold' | 'warm' | 'changed', number>;
const ratio = (a: string, b: string) => (seconds.get(a)! / seconds.get(b)!).toFixed(2);
console.log(
  `GitHub's schema, ${DOCUMENTS} documents, seed ${SEED}; CPU, least of ${ROUNDS} rounds`,
);
console.log(
  `whole process: ours ${seconds.get('ours')!.toFixed(2)} s, graphql-codegen with the client preset ${seconds.get('preset')!.toFixed(2)} s: ${ratio('ours', 'preset')} (at most 0.33)`,
);
console.log(
  `in one process: ${cold} ms cold, ${warm} ms warm (at most 1000); one of the documents changed ${changed} ms (at most 100)`,
);
console.log(
  `tsc of the result: ours ${seconds.get('oursTsc')!.toFixed(2)} s, the preset's ${seconds.get('presetTsc')!.toFixed(2)} s: ${ratio('oursTsc', 'presetTsc')} (at most 1.50; an empty folder takes ${seconds.get('emptyTsc')!.toFixed(2)} s)`,
);
console.log(
  `breaking without code, 1,000 types: ${seconds.get('breaking')!.toFixed(2)} s (at most 1.50), ${ratio('breaking', 'generate')} of a generate that writes nothing`,
);
rmSync(home, { recursive: true });
