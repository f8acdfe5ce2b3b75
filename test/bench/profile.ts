/**
 * Where the time goes: `node profile.ts <server> <workload> [sqlite|postgres] [functions] [bare|asRun]`, self time by part and by
 * function, in µs for a request. Without arguments: the table of `graphql.md`, ours on SQLite, bare. What is idle and what
 * profiling costs is left out.
 */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startContender } from './contender.ts';
import { postgresDatabase, sqliteDatabase } from './rows.ts';
import { warmUp } from './measure.ts';
import { contenders } from './servers/index.ts';
import type { Shape } from './shape.ts';
import { workloads, type Workload } from './workloads.ts';

interface Frame {
  readonly functionName: string;
  readonly url: string;
  readonly lineNumber: number;
}

interface Profile {
  readonly nodes: readonly { readonly id: number; readonly callFrame: Frame }[];
  readonly samples: readonly number[];
  readonly timeDeltas: readonly number[];
}

/** Shares of the time by some name, the largest first. */
type Shares = readonly (readonly [string, number])[];

interface Profiled {
  readonly cost: number;
  readonly parts: Shares;
  readonly functions: Shares;
}

const [server, workloadName, dialect = 'sqlite', count = '40', shapeName = 'bare'] =
  process.argv.slice(2);
const shape: Shape = shapeName === 'asRun' ? 'asRun' : 'bare';
const print = (line: string) => process.stdout.write(`${line}\n`);
if (server === undefined) await printAll();
else await printOne(server, workloadName ?? 'byId');

async function printAll(): Promise<void> {
  const names = [
    'the database',
    'writing to the socket',
    'node:http and streams',
    'ours',
    'graphql-js',
    "the user's functions",
    'collecting garbage',
    'the rest of Node',
  ];
  print(`| Share of the time, in % | ${workloads.map(({ name }) => name).join(' | ')} |`);
  print(`|---|${workloads.map(() => '---:|').join('')}`);
  const profiles: Profiled[] = [];
  for (const workload of workloads) profiles.push(await profileOf('twofold', workload));
  for (const name of names)
    print(
      `| ${name} | ${profiles.map(({ parts }) => ((parts.find(([part]) => part === name)?.[1] ?? 0) * 100).toFixed(0)).join(' | ')} |`,
    );
}

async function printOne(name: string, asked: string): Promise<void> {
  const workload = workloads.find((candidate) => candidate.name === asked);
  if (!workload) throw new TypeError(`no workload is called ${asked}`);
  const { cost, parts, functions } = await profileOf(name, workload);
  print(`${cost.toFixed(1)} µs of CPU a request while profiled`);
  for (const [part, share] of parts)
    print(
      `${(share * cost).toFixed(2).padStart(8)} µs ${(share * 100).toFixed(1).padStart(5)} %  ${part}`,
    );
  print('');
  for (const [place, share] of functions.slice(0, Number(count)))
    print(
      `${(share * cost).toFixed(2).padStart(8)} µs ${(share * 100).toFixed(1).padStart(5)} %  ${place}`,
    );
}

async function profileOf(name: string, workload: Workload): Promise<Profiled> {
  const contender = contenders.find((candidate) => candidate.name === name);
  if (!contender) throw new TypeError(`no server is called ${name}`);
  const database = await (dialect === 'sqlite'
    ? sqliteDatabase(shape)
    : postgresDatabase(process.env['TEST_POSTGRES_URL'] ?? '', shape));
  const folder = mkdtempSync(join(tmpdir(), 'twofold-profile-'));
  try {
    const running = await startContender(contender, database);
    await warmUp(running, workload, 1e6);
    const requests = await warmUp(running, workload, 2e6);
    const file = join(folder, 'server.cpuprofile');
    const before = await running.figures();
    await running.profile(file, () => running.load(workload, requests));
    const after = await running.figures();
    await running.close();
    return {
      cost: (after.cpu - before.cpu) / requests,
      ...sharesOf(JSON.parse(readFileSync(file, 'utf8')) as Profile),
    };
  } finally {
    rmSync(folder, { recursive: true });
    await database.drop();
  }
}

function sharesOf(profile: Profile): Pick<Profiled, 'parts' | 'functions'> {
  const frames = new Map(profile.nodes.map(({ id, callFrame }) => [id, callFrame]));
  const parts = new Map<string, number>();
  const functions = new Map<string, number>();
  let total = 0;
  profile.samples.forEach((id, index) => {
    const frame = frames.get(id);
    const part = frame && partOf(frame);
    if (!frame || !part) return;
    const time = profile.timeDeltas[index] ?? 0;
    const place = frame.url.split('/').slice(-3).join('/');
    add(
      functions,
      `${frame.functionName || '(anonymous)'}  ${place}${place ? `:${frame.lineNumber + 1}` : ''}`,
      time,
    );
    add(parts, part, time);
    total += time;
  });
  const shares = (times: ReadonlyMap<string, number>): Shares =>
    [...times].map(([name, time]) => [name, time / total] as const).toSorted((a, b) => b[1] - a[1]);
  return { parts: shares(parts), functions: shares(functions) };
}

function add(times: Map<string, number>, name: string, time: number): void {
  times.set(name, (times.get(name) ?? 0) + time);
}

/** The part of the server that a function belongs to; undefined for what is no work of it. */
function partOf({ functionName, url }: Frame): string | undefined {
  if (functionName === '(idle)' || url === 'node:inspector') return undefined;
  if (functionName === '(garbage collector)') return 'collecting garbage';
  if (url.includes('/runtime/')) return 'ours';
  if (url.includes('/node_modules/graphql/')) return 'graphql-js';
  if (url.includes('/test/bench/')) return "the user's functions";
  if (/^node:(_http|http|net|events|internal\/(streams|stream_base|http|timers|net))/.test(url))
    return 'node:http and streams';
  if (url === '' && ['get', 'all', 'run', 'exec'].includes(functionName)) return 'the database';
  if (url === '' && /^write/.test(functionName)) return 'writing to the socket';
  return url.includes('/node_modules/')
    ? (/node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(url)?.[1] ?? 'the rest of Node')
    : 'the rest of Node';
}
