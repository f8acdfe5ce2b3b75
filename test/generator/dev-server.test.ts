import { mkdirSync, mkdtempSync, readFileSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { afterEach, describe, expect, it } from 'vitest';
import { createDevServer, type DevServer } from '../../generator/dev/dev-server.ts';
import { createWarmUp } from '../../generator/dev/warm-up.ts';
import { createTerminal } from '../../generator/cli/terminal.ts';

const terminal = createTerminal({ json: false, quiet: true, color: false });
const ends: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0)) await end();
});

describe('a server of dev', () => {
  it('runs what is on disk when it is started, in a process that had loaded the packages before', async () => {
    const { server, write, said } = project();
    write('src/server.ts', SERVER('one'));
    await said('loaded', 1);
    write('src/server.ts', SERVER('two'));
    await server.restart();
    const [started] = await said('two', 1);
    expect(started?.pid).toBe((await said('loaded', 1))[0]!.pid);
    expect(await said('one', 0)).toEqual([]);
    expect(server.running()).toBe(true);
  });

  it('is another one after each restart, and the old one has ended by then', async () => {
    const { server, write, said } = project();
    write('src/server.ts', SERVER('one'));
    await server.restart();
    const [first] = await said('one', 1);
    await server.restart();
    const second = (await said('one', 2)).at(-1)!;
    expect(second.pid).not.toBe(first!.pid);
    expect(isAlive(first!.pid)).toBe(false);
  });

  it('has the packages that are installed when it starts', async () => {
    const { server, write, said, root } = project();
    write('src/server.ts', SERVER('one'));
    const [spare] = await said('loaded', 1);
    write('node_modules/.package-lock.json', '{}');
    utimesSync(join(root, 'node_modules/.package-lock.json'), 1, 1);
    await server.restart();
    expect((await said('one', 1))[0]!.pid).not.toBe(spare!.pid);
    expect(isAlive(spare!.pid)).toBe(false);
  });

  it('starts without the packages, and says itself what is missing', async () => {
    const { server, write, said, root } = project();
    rmSync(join(root, 'node_modules'), { recursive: true });
    await server.restart();
    write('src/server.ts', SERVER('one'));
    await server.restart();
    expect(await said('one', 1)).toHaveLength(1);
  });

  it('leaves no process behind when it is stopped', async () => {
    const { server, write, said } = project();
    write('src/server.ts', SERVER('one'));
    await server.restart();
    await said('one', 1);
    const pids = (await said('loaded', 2)).map(({ pid }) => pid);
    await server.stop();
    await until(() => !pids.some(isAlive));
    expect(pids.filter(isAlive)).toEqual([]);
  });

  it('starts none when it was stopped in the middle of a restart', async () => {
    const { server, write, said } = project();
    write('src/server.ts', SERVER('one'));
    await server.restart();
    await said('one', 1);
    await Promise.all([server.restart(), server.stop()]);
    await server.restart();
    const pids = [...(await said('loaded', 1)), ...(await said('one', 1))].map(({ pid }) => pid);
    await until(() => !pids.some(isAlive));
    expect(server.running()).toBe(false);
    await wait(300);
    expect(
      [...(await said('loaded', 1)), ...(await said('one', 1))].filter(({ pid }) => isAlive(pid)),
    ).toEqual([]);
  });

  it('hands nothing of the waiting on to what it starts', async () => {
    const { server, write, said } = project();
    write(
      'src/server.ts',
      `import { fork } from 'node:child_process';\nimport { appendFileSync } from 'node:fs';\nappendFileSync('said.txt', \`\${process.pid} \${process.argv[2] ?? 'parent'}\\n\`);\nif (!process.argv[2]) fork('src/server.ts', ['forked']);\nelse process.exit();\n`,
    );
    await server.restart();
    expect(await said('forked', 1)).toHaveLength(1);
  });
});

describe('a warm-up', () => {
  it('ends by itself, stops when it is told, and goes on where it was', async () => {
    let runs = 0;
    const warmUp = createWarmUp(async () => void runs++);
    warmUp.start();
    await until(() => runs >= 2);
    warmUp.stop();
    await wait(60);
    const stopped = runs;
    await wait(100);
    expect(runs).toBe(stopped);
    warmUp.start();
    await until(() => runs >= 20);
    await wait(100);
    expect(runs).toBe(20);
  });

  it('is over when its runs took two seconds of CPU, and begins none that would make it more', async () => {
    let [runs, clock] = [0, 0];
    const warmUp = createWarmUp(
      async () => void (runs++, (clock += 900)),
      () => clock,
    );
    warmUp.start();
    await until(() => runs >= 2);
    await wait(200);
    warmUp.start();
    await wait(1_300);
    expect(runs).toBe(2);
  });

  it('is given up when a run fails', async () => {
    let runs = 0;
    const warmUp = createWarmUp(async () => {
      runs++;
      throw new Error('no schema');
    });
    warmUp.start();
    await until(() => runs > 0);
    warmUp.start();
    await wait(1_500);
    expect(runs).toBe(1);
  });
});

/** Says its word and goes on until it is ended. */
const SERVER = (word: string) =>
  `import { appendFileSync } from 'node:fs';\nappendFileSync('said.txt', \`\${process.pid} ${word}\\n\`);\nsetInterval(() => {}, 1000);\n`;

function project() {
  const root = mkdtempSync(join(tmpdir(), 'twofold-dev-'));
  const write = (path: string, text: string) => {
    mkdirSync(join(root, path, '..'), { recursive: true });
    writeFileSync(join(root, path), text);
  };
  write('package.json', '{ "type": "module" }');
  write('said.txt', '');
  write(
    'node_modules/@twofold/runtime/package.json',
    '{ "type": "module", "exports": "./index.js" }',
  );
  write(
    'node_modules/@twofold/runtime/index.js',
    "import { appendFileSync } from 'node:fs';\nappendFileSync('said.txt', `${process.pid} loaded\\n`);\n",
  );
  const server: DevServer = createDevServer(root, terminal);
  ends.push(async () => {
    await server.stop();
    rmSync(root, { recursive: true, force: true });
  });
  return { root, server, write, said: (word: string, least: number) => heard(root, word, least) };
}

/** What was said with this word, once there is as much of it. */
async function heard(
  root: string,
  word: string,
  least: number,
): Promise<{ readonly pid: number }[]> {
  const now = () =>
    [
      ...readFileSync(join(root, 'said.txt'), 'utf8').matchAll(
        new RegExp(`^(\\d+) ${word}$`, 'gm'),
      ),
    ].map((match) => ({ pid: Number(match[1]) }));
  await until(() => now().length >= least);
  return now();
}

async function until(done: () => boolean): Promise<void> {
  for (const end = Date.now() + 30_000; Date.now() < end && !done();) await wait(20);
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}
