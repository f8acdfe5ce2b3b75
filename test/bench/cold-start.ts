import { spawn } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { runProgram } from '../../generator/run-program.ts';
import { installPacks } from './installed.ts';
import { drive, requestBytes } from './load.ts';
import { median } from './measure.ts';
import { cpuOf, ended, portOf } from './program.ts';
import type { Aside } from './report.ts';

const root = fileURLToPath(new URL('../../', import.meta.url));
const GOAL = 400;
const ROUNDS = 7;

/**
 * From `node src/server.ts` of the emitted blog, over the packages as they are shipped, to its first answer; the database is
 * made on the way. The first start of all finds nothing compiled; each later one finds what the one before it has kept; one
 * in a new container what the image holds.
 */
export async function coldStart(): Promise<Aside[]> {
  const folder = await installed();
  const kept = join(folder, 'node_modules/@twofold/runtime/.cache');
  try {
    const first = await start(
      () => (rmSync(kept, { recursive: true, force: true }), startOnce(folder, {})),
    );
    const later = await start(() => startOnce(folder, {}));
    const image = await compiledImage(folder);
    const container = join(folder, 'container');
    const contained = await start(() => {
      rmSync(container, { recursive: true, force: true });
      cpSync(image, container, { recursive: true });
      return startOnce(folder, { NODE_COMPILE_CACHE: container });
    });
    return [
      aside('The first start of all, to the first answer, database made on the way', first),
      aside('Each later start, database made on the way', later),
      aside(
        'Each start in a container of the emitted `Dockerfile`, database made on the way',
        contained,
      ),
    ];
  } finally {
    rmSync(folder, { recursive: true });
  }
}

const aside = (what: string, { cpu, wall }: Cost): Aside => ({
  what,
  seen: `${cpu.toFixed(0)} ms of CPU, ${wall.toFixed(0)} ms`,
  goal: `${GOAL} ms`,
  met: cpu <= GOAL && wall <= GOAL,
});

/** The blog with its packages as JavaScript, and everybody else's from here. */
async function installed(): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'twofold-cold-'));
  cpSync(join(root, 'examples/blog'), folder, {
    recursive: true,
    filter: (path) => !path.includes('/data'),
  });
  await installPacks(folder, ['schema', 'runtime']);
  return folder;
}

/** What the emitted `Dockerfile` compiles while an image is built. */
async function compiledImage(folder: string): Promise<string> {
  const image = join(folder, 'image');
  const line = /^RUN node --eval "(.*)"$/m.exec(
    readFileSync(join(folder, 'Dockerfile'), 'utf8'),
  )?.[1];
  if (!line) throw new TypeError('the Dockerfile compiles nothing');
  await runProgram(process.execPath, ['--eval', line], {
    cwd: folder,
    env: { ...process.env, NODE_COMPILE_CACHE: image },
  });
  return image;
}

interface Cost {
  readonly wall: number;
  readonly cpu: number;
}

async function start(once: () => Promise<Cost>): Promise<Cost> {
  const costs: Cost[] = [];
  for (let round = 0; round < ROUNDS; round += 1) costs.push(await once());
  return { wall: median(costs.map(({ wall }) => wall)), cpu: median(costs.map(({ cpu }) => cpu)) };
}

async function startOnce(folder: string, env: Record<string, string>): Promise<Cost> {
  rmSync(join(folder, 'data'), { recursive: true, force: true });
  const began = performance.now();
  const child = spawn(process.execPath, ['src/server.ts'], {
    cwd: folder,
    env: {
      ...process.env,
      ...env,
      PORT: '0',
      HOST: '127.0.0.1',
      DATABASE_URL: 'file:data/app.db',
      LOG_LEVEL: 'info',
    },
  });
  await drive(await portOf(child), [requestBytes({ query: '{ __typename }' })], 1, 1);
  const cost = { wall: performance.now() - began, cpu: await cpuOf(child.pid as number) };
  await ended(child);
  return cost;
}
