import { spawn } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, test } from 'vitest';
import {
  program as generator,
  linkPackages,
  makeProject,
  repo,
  runFile,
  SEED,
  type TestProject,
} from './project.ts';
import { syntheticSchema } from './synthetic.ts';

const made: TestProject[] = [];
const project = (schema = SEED) => {
  const each = makeProject({ 'schema.graphql': schema, 'manifest.yaml': 'name: shop\n' });
  made.push(each);
  return each;
};
afterEach(() => made.splice(0).forEach((each) => each.remove()));

const committed = (shop: TestProject) =>
  Object.fromEntries(
    Object.entries(shop.files()).filter(
      ([path]) => !path.startsWith('.generator/') || path === '.generator/base.json',
    ),
  );

describe('runs in processes', () => {
  test('eight at once end as one alone', async () => {
    const [shop, alone] = [project(), project()];
    const ended = await Promise.all(
      Array.from({ length: 8 }, () => generator(['generate'], shop.root)),
    );
    expect(ended.map(({ code }) => code)).toEqual(Array.from({ length: 8 }, () => 0));
    await generator(['generate'], alone.root);
    expect(committed(shop)).toEqual(committed(alone));
  });

  test('give the same bytes under another time zone, locale, umask and folder', async () => {
    const [here, there] = [project(syntheticSchema(5)), project(syntheticSchema(5))];
    await generator(['generate'], here.root);
    const deep = there.path('a folder/ö');
    mkdirSync(deep, { recursive: true });
    await generator(['generate', '--cwd', there.root], deep, {
      TZ: 'Pacific/Kiritimati',
      LANG: 'tr_TR.UTF-8',
      LC_ALL: 'tr_TR.UTF-8',
    });
    expect(committed(there)).toEqual(committed(here));
  });

  test('killed at any moment leave no file empty or half, and the next run finishes', async () => {
    const wanted = project(syntheticSchema(40));
    await generator(['generate'], wanted.root);
    const whole = committed(wanted);
    let unfinished = 0;
    for (let wait = 300; wait <= 1000; wait += 70) {
      const shop = project(syntheticSchema(40));
      if (await killAfter(shop, wait)) unfinished++;
      for (const [path, text] of Object.entries(committed(shop)))
        expect([wait, path, text === whole[path]]).toEqual([wait, path, true]);
      expect(await generator(['generate'], shop.root)).toMatchObject({ code: 0 });
      expect(committed(shop)).toEqual(whole);
    }
    expect(unfinished).toBeGreaterThan(0);
  });

  test('need few files open at once, however many they read and write', async () => {
    const shop = project(syntheticSchema(100));
    for (let at = 0; at < 100; at++)
      shop.write(`src/resolvers/Thing${at}.ts`, 'export const resolvers = {};\n');
    // What Node itself has open, and three more.
    const limited = (args: string) =>
      runFile(
        '/bin/sh',
        [
          '-c',
          `ulimit -n 30 && exec "$0" "$1" ${args}`,
          process.execPath,
          join(repo, 'generator/bin.js'),
        ],
        shop.root,
      );
    expect(await limited('generate')).toMatchObject({ code: 0 });
    expect(await limited('check')).toMatchObject({ code: 0 });
    shop.write('manifest.yaml', 'name: shop\nserver: { port: 9000 }\nauth: {}\n');
    expect(await limited('generate')).toMatchObject({ code: 0 });
  });

  test('that have nothing to do load neither graphql nor the schema package nor YAML', async () => {
    const shop = project();
    const told = `import { registerHooks } from 'node:module'; registerHooks({ resolve: (name, context, next) => { if (/^(graphql|yaml|@twofold.schema)$/.test(name)) process.stderr.write('loads ' + name + '\\n'); return next(name, context); } });`;
    const env = { NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(told)}` };
    expect((await generator(['generate'], shop.root, env)).stderr).toContain('loads graphql');
    for (const args of [['generate'], ['check']])
      expect([args, await generator(args, shop.root, env)]).toEqual([
        args,
        {
          code: 0,
          stdout: '',
          stderr: '5 fields answered, none yours to write\nEverything is up to date.\n',
        },
      ]);
  });

  test('open no socket', async () => {
    const shop = project();
    const trap = `import net from 'node:net'; net.Socket.prototype.connect = () => { throw new Error('a socket was opened'); }; import dns from 'node:dns'; dns.lookup = () => { throw new Error('a name was looked up'); };`;
    const env = { NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(trap)}` };
    linkPackages(shop);
    shop.write('src/resolvers/Gone.ts', 'export const resolvers = {};\n');
    for (const args of [
      ['generate'],
      ['check'],
      ['explain'],
      ['openapi'],
      ['rename', 'User.name', 'fullName', '--yes'],
      ['eject', 'Query.users'],
      ['prune', '--yes'],
    ]) {
      expect([args, await generator(args, shop.root, env)]).toEqual([
        args,
        expect.objectContaining({ code: 0 }),
      ]);
    }
    // The trap works: whatever opens one says so.
    expect(
      await runFile(
        process.execPath,
        ['-e', "require('node:net').connect(1, '127.0.0.1')"],
        shop.root,
        env,
      ),
    ).toMatchObject({ stderr: expect.stringContaining('a socket was opened') });
  });
});

/** Whether the process was still at work when it was killed. */
function killAfter(shop: TestProject, wait: number): Promise<boolean> {
  return new Promise((resolve) => {
    const child = spawn(process.execPath, [join(repo, 'generator/bin.js'), 'generate'], {
      cwd: shop.root,
      stdio: 'ignore',
    });
    const timer = setTimeout(() => child.kill('SIGKILL'), wait);
    child.once('exit', (_code, signal) => (clearTimeout(timer), resolve(signal === 'SIGKILL')));
  });
}
