import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { syntheticSchema } from '../generator/synthetic.ts';

/** `npm run bench:generate [rounds]`: CPU and wall time, memory and files of whole processes, ours and a peer's by turns. */
const ROUNDS = Number(process.argv[2] ?? 3);
const SIZES = [10, 100, 1_000, 3_000];
const bin = fileURLToPath(new URL('../../generator/bin.js', import.meta.url));
const require = createRequire(import.meta.url);

interface Measured {
  readonly cpu: number;
  readonly wall: number;
  /** Highest resident memory, MB. */
  readonly memory: number;
}

interface Row extends Measured {
  readonly schema: string;
  readonly what: string;
  readonly files: number | string;
}

const rows: Row[] = [];
for (const count of SIZES) await measureSchema(`${count} types`, syntheticSchema(count));
for (const [name, text] of publicSchemas()) await measureSchema(name, text);
print(rows);

async function measureSchema(schema: string, text: string): Promise<void> {
  const root = mkdtempSync(join(tmpdir(), 'twofold-bench-'));
  const add = (what: string, measured: Measured, files: number | string) => rows.push({ schema, what, ...measured, files });
  try {
    writeFileSync(join(root, 'schema.graphql'), text);
    writeFileSync(join(root, 'manifest.yaml'), 'name: bench\n');
    const [cold, peer]: [Measured[], Measured[]] = [[], []];
    for (let round = 0; round < ROUNDS; round++) {
      clear(root);
      cold.push(await measure([bin, 'generate', '--quiet'], root));
      const peerCall = peerArguments(root);
      if (peerCall) peer.push(await measure(peerCall, root));
    }
    add('generate', best(cold), countFiles(root));
    const nothing: Measured[] = [];
    for (let round = 0; round < ROUNDS; round++) nothing.push(await measure([bin, 'check', '--quiet'], root));
    add('check, nothing to do', best(nothing), 0);
    if (peer.length > 0) add('@graphql-codegen/cli (types only)', best(peer), 1);
  } finally {
    rmSync(root, { recursive: true, force: true });
  }
}

/** The same types from graphql-codegen's own program, when it is installed in test/bench. */
function peerArguments(root: string): string[] | null {
  try {
    const cli = join(dirname(require.resolve('@graphql-codegen/cli/package.json')), 'cjs/bin.js');
    const config = { schema: 'schema.graphql', generates: { 'peer/types.ts': { plugins: ['typescript', 'typescript-resolvers'] } } };
    writeFileSync(join(root, 'codegen.json'), JSON.stringify(config));
    return [cli, '--config', 'codegen.json', '--silent'];
  } catch {
    return null;
  }
}

function publicSchemas(): [string, string][] {
  const found: [string, string][] = [];
  for (const [name, path] of [['GitHub (invalid as shipped)', '@octokit/graphql-schema/schema.graphql']] as const) {
    try {
      found.push([name, readFileSync(require.resolve(path), 'utf8')]);
    } catch {
      process.stderr.write(`${name}: not installed (npm install in test/bench)\n`);
    }
  }
  return found;
}

/** Runs a program and reads what the system says that it used. A run that finds mistakes in a schema ends with 3. */
function measure(args: readonly string[], cwd: string): Promise<Measured> {
  const started = performance.now();
  const report = join(cwd, '.usage');
  const script = `process.on('exit', () => { const u = process.resourceUsage(); require('node:fs').writeFileSync(${JSON.stringify(report)}, JSON.stringify([(u.userCPUTime + u.systemCPUTime) / 1e6, u.maxRSS / 1024])); });`;
  mkdirSync(cwd, { recursive: true });
  writeFileSync(join(cwd, '.usage.cjs'), script);
  const child = spawn(process.execPath, ['--require', join(cwd, '.usage.cjs'), ...args], { cwd, stdio: 'ignore' });
  return new Promise((resolve) =>
    child.once('close', () => {
      const wall = (performance.now() - started) / 1000;
      const [cpu = NaN, memory = NaN] = existsSync(report) ? (JSON.parse(readFileSync(report, 'utf8')) as number[]) : [];
      rmSync(report, { force: true });
      resolve({ cpu, wall, memory });
    }),
  );
}

/** The quietest round: other work on the machine only ever adds. */
function best(rounds: readonly Measured[]): Measured {
  const least = (of: keyof Measured) => Math.min(...rounds.map((each) => each[of]));
  return { cpu: least('cpu'), wall: least('wall'), memory: least('memory') };
}

function clear(root: string): void {
  for (const name of readdirSync(root)) if (!['schema.graphql', 'manifest.yaml'].includes(name)) rmSync(join(root, name), { recursive: true, force: true });
}

function countFiles(root: string): number {
  return existsSync(join(root, 'generator.lock')) ? readFileSync(join(root, 'generator.lock'), 'utf8').trim().split('\n').length + 1 : 0;
}

function print(all: readonly Row[]): void {
  const line = (cells: readonly (string | number)[]) => cells.map((cell, at) => (at < 2 ? String(cell).padEnd(at === 0 ? 28 : 34) : String(cell).padStart(9))).join(' ');
  const lines = [line(['schema', 'what', 'CPU s', 'wall s', 'MB', 'files'])];
  for (const { schema, what, cpu, wall, memory, files } of all) lines.push(line([schema, what, cpu.toFixed(2), wall.toFixed(2), memory.toFixed(0), files]));
  process.stdout.write(`${lines.join('\n')}\n`);
}
