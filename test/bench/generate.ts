import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { syntheticSchema } from '../generator/synthetic.ts';
import { measureDev } from './dev.ts';
import { installPacks } from './installed.ts';
import { least, processUsage, type Usage } from './process-usage.ts';
import { publicSchemas, writeProject } from './public-schemas.ts';

/** `npm run bench:generate [rounds] [sizes]`: CPU and wall time, memory and files of whole processes, ours and peers' by turns. */
const ROUNDS = Number(process.argv[2] ?? 3);
const SIZES = (process.argv[3] ?? '10,100,1000,3000').split(',').filter(Boolean).map(Number);

/** Milliseconds: what one process may take, what makes one run of it enough, and when no more peers are begun. */
const LIMIT = 120_000;
const SLOW = 8_000;
const PEERS_UNTIL = performance.now() + 8 * 60_000;

/** The packages as they are shipped: in the repository hundreds of modules are read one by one. */
const packs = mkdtempSync(join(tmpdir(), 'twofold-bench-'));
await installPacks(packs, ['generator', 'schema']);
const bin = join(packs, 'node_modules/@twofold/generator/generator/bin.js');
const TYPES = {
  schema: 'src/schema/all/schema.graphql',
  generates: { 'src/types.ts': { plugins: ['typescript', 'typescript-resolvers'] } },
};
const PRESET = {
  schema: 'src/schema/**/schema.graphql',
  generates: { 'src/schema': { preset: '@eddeee888/gcg-typescript-resolver-files' } },
};
/** The contract's figures: CPU seconds, and megabytes. */
const GOALS: Readonly<Record<string, { readonly cpu: number; readonly memory?: number }>> = {
  '100 types generate': { cpu: 0.5 },
  '1000 types generate': { cpu: 1.5 },
  '3000 types generate': { cpu: 4, memory: 500 },
  '100 types check, nothing to do': { cpu: 0.15 },
  '1000 types check, nothing to do': { cpu: 0.3 },
};

const FIRST = 'server preset, first run';
const AGAIN = 'server preset, nothing to do';

const modules = fileURLToPath(new URL('node_modules', import.meta.url));
const cli = join(modules, '@graphql-codegen/cli/cjs/bin.js');
if (!existsSync(cli))
  process.stderr.write(
    'Ours alone: for the peers and the public schemas run  npm ci --prefix test/bench\n',
  );

line(['schema', 'what', 'CPU s', 'wall s', 'MB', 'files']);
const published = publicSchemas();
const synthetic = SIZES.map((count) => ({
  count,
  measure: () => measureSchema(`${count} types`, { schema: syntheticSchema(count) }),
}));
// The largest last: it is their peers that the time may be up for.
for (const { count, measure } of synthetic) if (count < 1000) await measure();
for (const { name, settled, scalars, findings, ...each } of published)
  await measureSchema(`${name}, ${findings} findings settled`, {
    schema: settled,
    scalars,
    ...each,
  });
for (const { count, measure } of synthetic) if (count >= 1000) await measure();
rmSync(packs, { recursive: true });
const { generated, told, answered, saves } = await measureDev(100, 11);
process.stdout.write(
  `\ndev, 100 types, medians of ${saves} saves: regenerated in ${generated.toFixed(0)} ms (${verdict(generated, 50)}; ${told.toFixed(0)} from the write to the word of it), answered by the restarted server in ${answered.toFixed(0)} ms (${verdict(answered, 1000)})\n`,
);
process.stdout.write(`The whole run took ${(performance.now() / 1000).toFixed(0)} s.\n`);

interface Inputs {
  readonly schema: string;
  readonly scalars?: string;
  /** What peers are given, who know none of our directives. */
  readonly published?: string;
}

/** One program with one task. `prepare` is called before each run. */
interface Contender {
  readonly what: string;
  readonly args: readonly string[];
  readonly cwd: string;
  readonly peer: boolean;
  prepare(): void;
  count(): number;
}

/** Every round is one run of each, so that what else the machine does falls on all of them. A slow one runs once. */
async function measureSchema(schema: string, inputs: Inputs): Promise<void> {
  const root = mkdtempSync(join(tmpdir(), 'twofold-bench-'));
  const runs = new Map<string, { usages: Usage[]; files: number }>();
  try {
    const contenders = [...ours(root, inputs), ...peers(root, inputs)];
    for (let round = 0; round < ROUNDS; round++) {
      for (const { what, args, cwd, peer, prepare, count } of contenders) {
        const before = runs.get(what)?.usages ?? [];
        if (
          before.some(({ wall, stopped }) => stopped || wall * 1000 > SLOW) ||
          (peer && performance.now() > PEERS_UNTIL)
        )
          continue;
        if (what === AGAIN && (runs.get(FIRST)?.usages.at(-1)?.stopped ?? true)) continue;
        prepare();
        runs.set(what, {
          usages: [...before, await processUsage(args, cwd, LIMIT)],
          files: count(),
        });
      }
    }
    for (const { what } of contenders) row(schema, what, runs.get(what));
  } finally {
    rmSync(root, { recursive: true, force: true });
  }
}

function ours(root: string, { schema, scalars = '' }: Inputs): Contender[] {
  const cwd = join(root, 'ours');
  const prepare = () => {
    rmSync(cwd, { recursive: true, force: true });
    writeProject(cwd, { schema, scalars });
  };
  const first = {
    what: 'generate',
    args: [bin, 'generate', '--quiet'],
    cwd,
    peer: false,
    prepare,
    count: () => countFiles(cwd) - (scalars === '' ? 2 : 3),
  };
  const nothing = { ...first, prepare: () => {}, count: () => 0 };
  return [
    first,
    { ...nothing, what: 'generate, nothing to do' },
    { ...nothing, what: 'check, nothing to do', args: [bin, 'check', '--quiet'] },
  ];
}

/** graphql-codegen's own program, in projects of its own; none when it is not installed in test/bench. */
function peers(root: string, inputs: Inputs): Contender[] {
  if (!existsSync(cli)) return [];
  const contender = (what: string, folder: string, config: object): Contender => {
    const cwd = join(root, folder);
    return {
      what,
      args: [cli, '--config', 'codegen.json', '--silent'],
      cwd,
      peer: true,
      prepare: () => writePeer(cwd, { modules, config, inputs }),
      count: () => countFiles(join(cwd, 'src')) - 1,
    };
  };
  const preset = contender(FIRST, 'preset', PRESET);
  return [
    contender('@graphql-codegen/cli, types only', 'types', TYPES),
    preset,
    { ...preset, what: AGAIN, prepare: () => {} },
  ];
}

function writePeer(
  cwd: string,
  { modules, config, inputs }: { modules: string; config: object; inputs: Inputs },
): void {
  rmSync(cwd, { recursive: true, force: true });
  mkdirSync(join(cwd, 'src/schema/all'), { recursive: true });
  symlinkSync(modules, join(cwd, 'node_modules'));
  writeFileSync(join(cwd, 'src/schema/all/schema.graphql'), inputs.published ?? inputs.schema);
  writeFileSync(
    join(cwd, 'tsconfig.json'),
    '{ "compilerOptions": { "strict": true, "module": "nodenext", "target": "es2022" } }',
  );
  writeFileSync(join(cwd, 'codegen.json'), JSON.stringify(config));
}

function countFiles(root: string): number {
  const entries = existsSync(root)
    ? readdirSync(root, { recursive: true, withFileTypes: true })
    : [];
  return entries.filter((entry) => entry.isFile() && !entry.name.startsWith('.usage')).length;
}

function row(
  schema: string,
  what: string,
  measured: { usages: readonly Usage[]; files: number } | undefined,
): void {
  if (!measured) return line([schema, what, 'not run']);
  const { cpu, wall, memory, stopped } = least(measured.usages);
  if (stopped) return line([schema, what, `stopped after ${LIMIT / 1000} s`]);
  const goal = GOALS[`${schema} ${what}`];
  const verdicts = goal
    ? [
        `  CPU ${verdict(cpu, goal.cpu)}${goal.memory ? `, MB ${verdict(memory, goal.memory)}` : ''}`,
      ]
    : [];
  line([
    schema,
    what,
    cpu.toFixed(2),
    wall.toFixed(2),
    memory.toFixed(0),
    measured.files,
    ...verdicts,
  ]);
}

function verdict(seen: number, goal: number): string {
  return `goal ${goal}: ${seen <= goal ? 'met' : 'not met'}`;
}

function line(cells: readonly (string | number)[]): void {
  const padded = cells.map((cell, at) =>
    at < 2 ? String(cell).padEnd(at === 0 ? 46 : 34) : String(cell).padStart(9),
  );
  process.stdout.write(`${padded.join(' ').trimEnd()}\n`);
}
