import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { buildSchema, isScalarType } from '../../client/own-graphql.ts';
import type { DocumentText } from '../../../generator/documents/document-text.ts';
import { clientSource } from '../../../generator/documents/front-end.ts';
import { readOperations } from '../../../generator/documents/operations.ts';
import { clientFiles } from '../../../templates/client/index.ts';
import type { FrontEnd } from '../../../templates/client/operation.ts';

/** What a run does for `client:`: one process reads, checks, prints and writes; then again, warm. */
const home = process.argv[2]!;
const rounds = Number(process.argv[3] ?? 1);

const builtin: FrontEnd['scalars'] = {
  ID: { input: 'string | number', output: 'string' },
  String: { input: 'string', output: 'string' },
  Int: { input: 'number', output: 'number' },
  Float: { input: 'number', output: 'number' },
  Boolean: { input: 'boolean', output: 'boolean' },
};

const readTexts = (): DocumentText[] =>
  readdirSync(join(home, 'documents')).map((file) => ({
    file,
    text: readFileSync(join(home, 'documents', file), 'utf8'),
    line: 1,
    column: 1,
    inCode: false,
    isStatic: true,
  }));

const schemaOf = () =>
  buildSchema(readFileSync(join(home, 'schema.graphql'), 'utf8'), {
    assumeValid: true,
    assumeValidSDL: true,
    noLocation: true,
  });

function print(schema: FrontEnd['schema'], texts: readonly DocumentText[]): void {
  const { operations, fragments, findings } = readOperations(schema, texts, { typenames: false });
  if (findings.length > 0) throw new Error(findings[0]!.summary);
  const own = Object.values(schema.getTypeMap()).filter(isScalarType);
  const given: FrontEnd = {
    schema,
    operations: operations.map((each) => ({ ...each, inCode: null })),
    fragments: fragments.map((each) => ({ ...each, inCode: null })),
    format: 'string',
    send: 'hash',
    scalars: {
      ...Object.fromEntries(own.map(({ name }) => [name, { input: 'string', output: 'string' }])),
      ...builtin,
    },
    ending: '.ts',
    server: { graphql: '/graphql', delivery: 'body' },
    source: clientSource,
  };
  mkdirSync(join(home, 'ours'), { recursive: true });
  for (const [name, render] of Object.entries(clientFiles))
    writeFileSync(join(home, 'ours', name), render(given));
}

/** Milliseconds of CPU. */
function spent(work: () => void): number {
  const before = process.cpuUsage();
  work();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000;
}

const cold = spent(() => print(schemaOf(), readTexts()));
const warm: number[] = [];
const changed: number[] = [];
for (let round = 1; round < rounds; round++) {
  warm.push(spent(() => print(schemaOf(), readTexts())));
  const schema = schemaOf();
  const texts = readTexts();
  print(schema, texts);
  const [first, ...others] = texts;
  changed.push(spent(() => print(schema, [{ ...first!, text: `${first!.text}\n` }, ...others])));
}
const best = (all: readonly number[]) => Math.round(Math.min(...all));
if (rounds > 1)
  console.log(JSON.stringify({ cold: Math.round(cold), warm: best(warm), changed: best(changed) }));
