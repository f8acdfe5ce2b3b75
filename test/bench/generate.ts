import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { syntheticSchema } from '../generator/synthetic.ts';
import { publicSchemas, writeProject } from './public-schemas.ts';

/** `npm run bench:generate [rounds] [sizes]`: CPU and wall time, memory and files of whole processes, ours and peers' by turns. */
const ROUNDS = Number(process.argv[2] ?? 3);
const SIZES = (process.argv[3] ?? '10,100,1000,3000').split(',').filter(Boolean).map(Number);
const bin = fileURLToPath(new URL('../../generator/bin.js', import.meta.url));

const TYPES = { schema: 'src/schema/all/schema.graphql', generates: { 'src/types.ts': { plugins: ['typescript', 'typescript-resolvers'] } } };
const PRESET = { schema: 'src/schema/**/schema.graphql', generates: { 'src/schema': { preset: '@eddeee888/gcg-typescript-resolver-files' } } };

interface Measured {
  readonly cpu: number;
  readonly wall: number;
  /** Highest resident memory, MB. */
  readonly memory: number;
}

interface Row extends Measured {
  readonly schema: string;
  readonly what: string;
  readonly files: number;
}

const rows: Row[] = [];
for (const count of SIZES) await measureSchema(`${count} types`, { schema: syntheticSchema(count) });
for (const { name, published, settled, scalars, findings } of publicSchemas()) {
  await measureSchema(`${name}, ${findings} findings settled`, { schema: settled, published, scalars });
}
print(rows);

interface Inputs {
  readonly schema: string;
  readonly scalars?: string;
  /** What peers are given, who know none of our directives. */
  readonly published?: string;
}

/** Every round is one run of each, so that what else the machine does falls on all of them. */
async function measureSchema(schema: string, inputs: Inputs): Promise<void> {
  const root = mkdtempSync(join(tmpdir(), 'twofold-bench-'));
  const results = new Map<string, { rounds: Measured[]; files: number }>();
  const add = async (what: string, run: Run | null) => {
    if (!run) return;
    run.prepare();
    const measured = await measure(run.args, run.cwd);
    results.set(what, { rounds: [...(results.get(what)?.rounds ?? []), measured], files: run.count() });
  };
  try {
    for (let round = 0; round < ROUNDS; round++) {
      await add('generate', ours(root, inputs));
      await add('check, nothing to do', { ...ours(root, inputs), args: [bin, 'check', '--quiet'], prepare: () => {}, count: () => 0 });
      await add('@graphql-codegen/cli, types only', peer(root, inputs, TYPES));
      await add('server preset, first run', peer(root, inputs, PRESET));
      await add('server preset, nothing to do', again(peer(root, inputs, PRESET)));
    }
    for (const [what, { rounds, files }] of results) rows.push({ schema, what, ...best(rounds), files });
  } finally {
    rmSync(root, { recursive: true, force: true });
  }
}

interface Run {
  readonly args: readonly string[];
  readonly cwd: string;
  prepare(): void;
  count(): number;
}

function ours(root: string, { schema, scalars = '' }: Inputs): Run {
  const cwd = join(root, 'ours');
  const prepare = () => {
    rmSync(cwd, { recursive: true, force: true });
    writeProject(cwd, { schema, scalars });
  };
  return { args: [bin, 'generate', '--quiet'], cwd, prepare, count: () => countFiles(cwd) - 2 - (scalars === '' ? 0 : 1) };
}

/** graphql-codegen's own program with this configuration, in a project of its own; null when it is not installed in test/bench. */
function peer(root: string, { schema, published = schema }: Inputs, config: typeof TYPES | typeof PRESET): Run | null {
  const modules = fileURLToPath(new URL('node_modules', import.meta.url));
  const cli = join(modules, '@graphql-codegen/cli/cjs/bin.js');
  if (!existsSync(cli)) return null;
  const cwd = join(root, config === TYPES ? 'types' : 'preset');
  const prepare = () => {
    rmSync(cwd, { recursive: true, force: true });
    mkdirSync(join(cwd, 'src/schema/all'), { recursive: true });
    symlinkSync(modules, join(cwd, 'node_modules'));
    writeFileSync(join(cwd, 'src/schema/all/schema.graphql'), published);
    writeFileSync(join(cwd, 'tsconfig.json'), '{ "compilerOptions": { "strict": true, "module": "nodenext", "target": "es2022" } }');
    writeFileSync(join(cwd, 'codegen.json'), JSON.stringify(config));
  };
  return { args: [cli, '--config', 'codegen.json', '--silent'], cwd, prepare, count: () => countFiles(join(cwd, 'src')) - 1 };
}

function again(run: Run | null): Run | null {
  return run && { ...run, prepare: () => {} };
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

function countFiles(root: string): number {
  const entries = existsSync(root) ? readdirSync(root, { recursive: true, withFileTypes: true }) : [];
  return entries.filter((entry) => entry.isFile() && !entry.name.startsWith('.usage')).length;
}

function print(all: readonly Row[]): void {
  const line = (cells: readonly (string | number)[]) => cells.map((cell, at) => (at < 2 ? String(cell).padEnd(at === 0 ? 46 : 34) : String(cell).padStart(9))).join(' ');
  const lines = [line(['schema', 'what', 'CPU s', 'wall s', 'MB', 'files'])];
  for (const { schema, what, cpu, wall, memory, files } of all) lines.push(line([schema, what, cpu.toFixed(2), wall.toFixed(2), memory.toFixed(0), files]));
  process.stdout.write(`${lines.join('\n')}\n`);
}
