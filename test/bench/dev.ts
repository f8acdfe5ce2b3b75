import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import { freePort } from '../engines/free-port.ts';
import { syntheticSchema } from '../generator/synthetic.ts';
import { installPacks } from './installed.ts';

/** What `generator dev` needs after a save, in milliseconds: medians. */
export interface DevTimes {
  /** From when `dev` sees the save, before its pause for editors, to the last file that is written; as `dev` itself says. */
  readonly generated: number;
  /** From the save to the word of `dev` that it is generated: with what the system takes to tell of a save. */
  readonly told: number;
  /** From the save to an answer of the restarted server that knows of the change. */
  readonly answered: number;
  /** How many saves there was time for. */
  readonly saves: number;
}

/** Milliseconds after which no more saves are begun: a busy machine gets fewer of them. */
const LIMIT = 60_000;

/** Milliseconds from an answer to the next save: nobody saves faster, and what `dev` prepares in them is part of what it does. */
const BETWEEN = 2_000;

/** What is saved: one of them again and again, each time with another name in it. */
export type Edit = 'query' | 'field' | 'type' | 'manifest';

/** Saves an input of a project of `types` entities again and again under `generator dev`. */
export async function measureDev(
  types: number,
  saves: number,
  edit: Edit = 'query',
): Promise<DevTimes> {
  const root = mkdtempSync(join(tmpdir(), 'twofold-dev-'));
  const port = await freePort();
  await installPacks(root, ['generator', 'schema', 'runtime']);
  const write = (number: number, edit: Edit) => {
    const { schema, manifest } = inputs(number, { types, edit, port });
    if (edit === 'manifest' || number === 0) writeFileSync(join(root, 'manifest.yaml'), manifest);
    if (edit !== 'manifest') writeFileSync(join(root, 'schema.graphql'), schema);
  };
  write(0, 'query');
  const child = spawn(
    process.execPath,
    [join(root, 'node_modules/@twofold/generator/generator/bin.js'), 'dev'],
    {
      cwd: root,
      stdio: ['ignore', 'ignore', 'pipe'],
      env: { ...process.env, LOG_LEVEL: 'silent' },
    },
  );
  const generated: number[] = [];
  let started = NaN;
  const told: number[] = [];
  let heard = () => {};
  child.stderr.on('data', (chunk: Buffer) => {
    for (const [, took] of chunk.toString().matchAll(/generated in (\d+) ms/g)) {
      generated.push(Number(took));
      told.push(performance.now() - started);
      heard();
    }
  });
  try {
    await answers(port, 'saved0');
    generated.length = 0;
    told.length = 0;
    const answered: number[] = [];
    const until = performance.now() + LIMIT;
    for (let save = 1; save <= saves && performance.now() < until; save++) {
      await wait(BETWEEN);
      const before = told.length;
      started = performance.now();
      write(save, edit);
      // Nobody asks the old server meanwhile: this process and that one would want the other processor.
      await Promise.race([
        new Promise<void>((done) => (heard = done)),
        wait(LIMIT, undefined, { ref: false }),
      ]);
      if (told.length === before) throw new Error(`the save of a ${edit} was not generated`);
      await answers(port, edit === 'query' ? `saved${save}` : 'saved0');
      answered.push(performance.now() - started);
    }
    return {
      generated: median(generated),
      told: median(told),
      answered: median(answered),
      saves: answered.length,
    };
  } finally {
    child.kill('SIGTERM');
    await new Promise((ended) => child.once('close', ended));
    rmSync(root, { recursive: true, force: true });
  }
}

/** One more field of Query, field of an entity, or entity than before, or another setting. All but the first leave the field that is asked for. */
function inputs(
  number: number,
  { types, edit, port }: { types: number; edit: Edit; port: number },
): { schema: string; manifest: string } {
  const field = edit === 'query' ? number : 0;
  const schema = syntheticSchema(types).replace(
    'type Query {',
    `type Query {\n  saved${field}: Int`,
  );
  const manifest = `name: bench\nserver: { port: ${port} }\napi: { limits: { list: ${edit === 'manifest' ? 200 + number : 200} } }\n`;
  const more = (print: (each: number) => string) =>
    Array.from({ length: number }, (_, each) => print(each)).join('');
  if (edit === 'field')
    return {
      schema: schema.replace(
        /(?<=type Thing\d+ \{\n  id: ID!\n)/,
        more((each) => `  saved${each}: Int\n`),
      ),
      manifest,
    };
  return {
    schema:
      edit === 'type'
        ? `${schema}${more((each) => `\ntype Saved${each} {\n  id: ID!\n  name: String!\n}\n`)}`
        : schema,
    manifest,
  };
}

async function answers(port: number, field: string): Promise<void> {
  const body = JSON.stringify({ query: `{ ${field} }` });
  for (const until = Date.now() + 60_000; Date.now() < until; await wait(5)) {
    const text = await fetch(`http://127.0.0.1:${port}/graphql`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body,
    }).then(
      (response) => response.text(),
      () => '',
    );
    if (text.includes('NOT_IMPLEMENTED')) return;
  }
  throw new Error(`no answer that knows ${field}`);
}

function median(values: readonly number[]): number {
  return [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? NaN;
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  const edit = (process.argv[3] ?? 'query') as Edit;
  const { generated, told, answered, saves } = await measureDev(
    100,
    Number(process.argv[2] ?? 11),
    edit,
  );
  // Only a new field of Query tells the new server from the old one, which goes on until it is told to end.
  const asked =
    edit === 'query' ? `, answered by the restarted server in ${answered.toFixed(0)} ms` : '';
  process.stdout.write(
    `dev, 100 types, saves of a ${edit}: regenerated in ${generated.toFixed(0)} ms (${told.toFixed(0)} from the write to the word of it)${asked} (medians of ${saves} saves)\n`,
  );
}
