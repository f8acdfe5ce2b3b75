import { execFileSync, spawn } from 'node:child_process';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { afterEach, describe, expect, it } from 'vitest';
import { freePort } from '../engines/free-port.ts';
import { linkPackages, makeProject, repo, SEED, type TestProject } from './project.ts';

const made: TestProject[] = [];
afterEach(() => made.splice(0).forEach((each) => each.remove()));

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGKILL'] as const;

describe('dev leaves no process behind', () => {
  it.each(SIGNALS)(
    'when %s ends it while its server answers and the next one waits',
    async (signal) => {
      const { dev, port } = await start();
      let family: number[] = [];
      const seen = async () => ((await answers(port)) ? (family = below(dev.pid!)).length : 0);
      await expect.poll(seen).toBe(2);
      await end(dev, signal);
      expect(await left(family)).toEqual([]);
      expect(await answers(port)).toBe(false);
    },
  );

  it('when SIGTERM ends the npm that runs it, which signals only the shell between', async () => {
    const { dev: npm, port } = await start('npm', ['run', 'dev']);
    await until(async () => (await answers(port)) && below(npm.pid!).length >= 3);
    const family = below(npm.pid!);
    await end(npm, 'SIGTERM');
    await until(async () => (await left(family)).length === 0);
    expect(await answers(port)).toBe(false);
  });

  it.each(SIGNALS)('when %s ends it while it starts', async (signal) => {
    for (const moment of [150, 400, 700]) {
      const { dev } = await start();
      await wait(moment);
      const family = below(dev.pid!);
      await end(dev, signal);
      expect([moment, await left(family)]).toEqual([moment, []]);
    }
  });

  it.each(SIGNALS)('when %s ends it while a save is answered', async (signal) => {
    const { dev, port, shop } = await start();
    await until(() => answers(port));
    const seen = new Set<number>();
    shop.write('schema.graphql', SEED.replace('email: String!', 'email: String!\n  age: Int'));
    for (let look = 0; look < 4; look++) below(dev.pid!).forEach((pid) => seen.add(pid));
    await end(dev, signal);
    expect(await left([...seen])).toEqual([]);
    expect(await answers(port)).toBe(false);
  });
});

const GENERATOR = join(repo, 'generator/bin.js');

async function start(command = process.execPath, args: readonly string[] = [GENERATOR, 'dev']) {
  const port = await freePort();
  const shop = makeProject({
    'schema.graphql': SEED,
    'manifest.yaml': 'name: shop\n',
    'package.json': `{ "type": "module", "scripts": { "dev": "node ${GENERATOR} dev" } }\n`,
    '.env': `PORT=${port}\nHOST=127.0.0.1\nDATABASE_URL=:memory:\n`,
  });
  made.push(shop);
  linkPackages(shop);
  const dev = spawn(command, args, { cwd: shop.root, stdio: 'ignore' });
  return { dev, port, shop };
}

async function end(dev: ReturnType<typeof spawn>, signal: NodeJS.Signals): Promise<void> {
  const ended = new Promise((done) => dev.once('close', done));
  dev.kill(signal);
  await ended;
}

/** The processes that a process has started, and those that they have. */
function below(pid: number): number[] {
  const rows = execFileSync('ps', ['-A', '-o', 'pid=,ppid=,comm='], { encoding: 'utf8' })
    .trim()
    .split('\n')
    .map((row) => row.trim().split(/\s+/));
  const children = rows
    .filter(([, parent, name]) => Number(parent) === pid && name !== 'ps')
    .map(([child]) => Number(child));
  return children.flatMap((child) => [child, ...below(child)]);
}

/** Those that still live when they had time to end. */
async function left(pids: readonly number[]): Promise<number[]> {
  await until(async () => !pids.some(isAlive));
  return pids.filter(isAlive);
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

async function answers(port: number): Promise<boolean> {
  return fetch(`http://127.0.0.1:${port}/graphql?query={users{id}}`, {
    signal: AbortSignal.timeout(2_000),
  }).then(
    (response) => response.status < 500,
    () => false,
  );
}

async function until(done: () => Promise<boolean>): Promise<void> {
  for (const last = Date.now() + 15_000; Date.now() < last && !(await done());) await wait(20);
}
