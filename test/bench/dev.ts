import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { syntheticSchema } from '../generator/synthetic.ts';

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

const repo = fileURLToPath(new URL('../../', import.meta.url));

/** Saves the schema of a project of `types` entities again and again under `generator dev`. */
export async function measureDev(types: number, saves: number): Promise<DevTimes> {
  const root = mkdtempSync(join(tmpdir(), 'twofold-dev-'));
  const port = await freePort();
  const schema = (save: number) => syntheticSchema(types).replace('type Query {', `type Query {\n  saved${save}: Int`);
  symlinkSync(join(repo, 'node_modules'), join(root, 'node_modules'));
  writeFileSync(join(root, 'schema.graphql'), schema(0));
  writeFileSync(join(root, 'manifest.yaml'), `name: bench\nserver: { port: ${port} }\n`);
  const child = spawn(process.execPath, [join(repo, 'generator/bin.js'), 'dev'], { cwd: root, stdio: ['ignore', 'ignore', 'pipe'], env: { ...process.env, LOG_LEVEL: 'silent' } });
  const generated: number[] = [];
  let started = NaN;
  const told: number[] = [];
  child.stderr.on('data', (chunk: Buffer) => {
    for (const [, took] of chunk.toString().matchAll(/generated in (\d+) ms/g)) {
      generated.push(Number(took));
      told.push(performance.now() - started);
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
      started = performance.now();
      writeFileSync(join(root, 'schema.graphql'), schema(save));
      await answers(port, `saved${save}`);
      answered.push(performance.now() - started);
    }
    return { generated: median(generated), told: median(told), answered: median(answered), saves: answered.length };
  } finally {
    child.kill('SIGTERM');
    await new Promise((ended) => child.once('close', ended));
    rmSync(root, { recursive: true, force: true });
  }
}

async function answers(port: number, field: string): Promise<void> {
  const body = JSON.stringify({ query: `{ ${field} }` });
  for (const until = Date.now() + 60_000; Date.now() < until; await wait(5)) {
    const text = await fetch(`http://127.0.0.1:${port}/graphql`, { method: 'POST', headers: { 'content-type': 'application/json' }, body }).then((response) => response.text(), () => '');
    if (text.includes('NOT_IMPLEMENTED')) return;
  }
  throw new Error(`no answer that knows ${field}`);
}

function freePort(): Promise<number> {
  return new Promise((resolve) => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const { port } = server.address() as { port: number };
      server.close(() => resolve(port));
    });
  });
}

function median(values: readonly number[]): number {
  return [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? NaN;
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  const { generated, told, answered, saves } = await measureDev(100, Number(process.argv[2] ?? 11));
  process.stdout.write(`dev, 100 types: a save is regenerated in ${generated.toFixed(0)} ms (${told.toFixed(0)} from the write to the word of it) and answered by the restarted server in ${answered.toFixed(0)} ms (medians of ${saves} saves)\n`);
}
