/**
 * What a server costs with `console` in its manifest while nobody is in the console, beside the same server without it. The two
 * take turns in short slices, so that a busy machine slows both.
 *
 * `node test/bench/console/idle.ts` · `--rounds 15` · `--slice 2000` requests · `--starts 9`
 */
import type { ConsoleFigure } from './first-load.ts';
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { installPacks } from '../installed.ts';
import { drive, requestBytes } from '../load.ts';
import { median } from '../measure.ts';

export interface IdleOptions {
  readonly rounds: number;
  /** Requests of one slice. */
  readonly slice: number;
  /** Starts of each server. */
  readonly starts: number;
}

interface Started {
  readonly child: ChildProcess;
  readonly port: number;
  /** Milliseconds of processor time and of the clock until it listened. */
  readonly wall: number;
}

const PROGRAM = 'idle-server.ts';
const KINDS = ['plain', 'console'] as const;

/** The figures `the server, with console and nobody in it`. */
export async function measureIdle({
  rounds,
  slice,
  starts,
}: IdleOptions): Promise<ConsoleFigure[]> {
  const folder = await installed();
  const started = await measureStarts(folder, starts);
  try {
    const pairs: PairCosts[] = [];
    for (let pair = 0; pair < PAIRS; pair += 1)
      pairs.push(await measurePair(folder, rounds, slice));
    const memory = median(pairs.map((pair) => pair.memory));
    const cost = median(pairs.map((pair) => pair.cost));
    return [
      { what: 'memory of a server with console', value: memory / 1e6, unit: 'MB more', most: 5 },
      { what: 'cold start with console', value: started, unit: 'ms more', most: 20 },
      { what: 'time of a request with console', value: cost * 100, unit: '% more', most: 2 },
    ];
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Two processes of the same server differ by up to a fifth for as long as they run. */
const PAIRS = 7;

interface PairCosts {
  /** Bytes that the server with the console has more. */
  readonly memory: number;
  /** The share by which its requests cost more. */
  readonly cost: number;
}

async function measurePair(folder: string, rounds: number, slice: number): Promise<PairCosts> {
  const [plain, withConsole] = [await start(folder, 'plain'), await start(folder, 'console')];
  try {
    const cost = await measureRequests([plain, withConsole], rounds, slice);
    return { memory: (await ask(withConsole, 'memory')) - (await ask(plain, 'memory')), cost };
  } finally {
    await Promise.all([plain, withConsole].map(end));
  }
}

/** A folder with the program, and our packages as users get them. */
async function installed(): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'twofold-idle-'));
  cpSync(fileURLToPath(new URL(PROGRAM, import.meta.url)), join(folder, PROGRAM));
  writeFileSync(join(folder, 'package.json'), '{ "type": "module" }');
  await installPacks(folder, ['schema', 'runtime', 'auth', 'console']);
  return folder;
}

async function start(folder: string, kind: (typeof KINDS)[number]): Promise<Started> {
  const began = performance.now();
  const child = fork(join(folder, PROGRAM), [kind], {
    execArgv: ['--expose-gc'],
    env: { ...process.env, NODE_COMPILE_CACHE: join(folder, 'compiled') },
  });
  const [port] = (await once(child, 'message')) as [number];
  return { child, port, wall: performance.now() - began };
}

async function end({ child }: Started): Promise<void> {
  child.kill('SIGKILL');
  await once(child, 'exit');
}

async function ask({ child }: Started, what: 'cpu' | 'memory'): Promise<number> {
  child.send(what);
  return ((await once(child, 'message')) as [number])[0];
}

/** Milliseconds by which the median start with the console is later; the two take turns. */
async function measureStarts(folder: string, count: number): Promise<number> {
  const walls: Record<(typeof KINDS)[number], number[]> = { plain: [], console: [] };
  for (let round = 0; round < count; round += 1)
    for (const kind of round % 2 === 0 ? KINDS : KINDS.toReversed()) {
      const server = await start(folder, kind);
      walls[kind].push(server.wall);
      await end(server);
    }
  return median(walls.console) - median(walls.plain);
}

/** The share of processor time by which a request costs more: the median of the rounds. */
async function measureRequests(
  servers: readonly [Started, Started],
  rounds: number,
  slice: number,
): Promise<number> {
  const requests = Array.from({ length: 20 }, (_, turn) =>
    requestBytes({ query: `{ post(id: ${turn + 1}) { id title } }` }),
  );
  const costOf = async (server: Started) => {
    const before = await ask(server, 'cpu');
    await drive(server.port, requests, slice, 16);
    return (await ask(server, 'cpu')) - before;
  };
  const ratios: number[] = [];
  for (let round = -5; round < rounds; round += 1) {
    const turned = round % 2 === 0;
    const first = await costOf(servers[turned ? 1 : 0]);
    const second = await costOf(servers[turned ? 0 : 1]);
    if (round >= 0) ratios.push(turned ? first / second : second / first);
  }
  return median(ratios) - 1;
}

if (import.meta.main) {
  const { values } = parseArgs({
    options: {
      rounds: { type: 'string', default: '15' },
      slice: { type: 'string', default: '2000' },
      starts: { type: 'string', default: '9' },
    },
  });
  const [rounds, slice, starts] = [values.rounds, values.slice, values.starts].map(Number);
  for (const { what, value, unit, most } of await measureIdle({
    rounds: rounds!,
    slice: slice!,
    starts: starts!,
  }))
    process.stdout.write(`${what}: ${value.toFixed(2)} ${unit} (at most ${most})\n`);
}
