import { spawn, spawnSync } from 'node:child_process';
import { existsSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, test } from 'vitest';
import { starters } from '../../templates/starter/index.ts';
import { query } from '../server/program.ts';
import {
  generator,
  linkPackages,
  makeProject,
  repo,
  runFile,
  type TestProject,
  typecheck,
} from './project.ts';

const made: TestProject[] = [];
const emptyFolder = () => {
  const each = makeProject({});
  made.push(each);
  return each;
};
afterEach(() => made.splice(0).forEach((each) => each.remove()));

const init = (folder: TestProject, ...args: string[]) =>
  generator(['init', '--no-install', '--packages', 'registry', ...args], folder.root);

describe('init', () => {
  for (const template of Object.keys(starters)) {
    test(`${template} is a project that type-checks and is up to date`, async () => {
      const folder = emptyFolder();
      expect(await init(folder, 'shop', '--template', template)).toMatchObject({
        code: 0,
        stdout: '',
      });
      const shop = { ...folder, root: folder.path('shop') };
      linkPackages(shop);
      expect(await typecheck(shop.root)).toEqual([]);
      expect(await generator(['check'], shop.root)).toMatchObject({ code: 0 });
      const pages = [...shop.read('shop/README.md').matchAll(/\]\(([^)]+)\)/g)].map(
        ([, page]) => page!,
      );
      expect(pages.length).toBeGreaterThan(5);
      expect(pages.filter((page) => !existsSync(shop.path(`shop/${page}`)))).toEqual([]);
    });
  }

  test('writes settings for the database that is asked for', async () => {
    const folder = emptyFolder();
    expect(await init(folder, 'here', '--database', 'sqlite')).toMatchObject({ code: 0 });
    expect(await init(folder, 'there', '--database', 'postgres')).toMatchObject({ code: 0 });
    expect(folder.read('here/.env')).toMatch(/^DATABASE_URL=file:/m);
    expect(folder.read('there/.env')).toMatch(/^DATABASE_URL=postgres:\/\//m);
    expect(await init(folder, 'nowhere', '--database', 'mysql')).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('sqlite, postgres'),
    });
  });

  test('--start runs the server when all is written, until it is told to stop', async () => {
    const folder = emptyFolder();
    linkPackages(folder);
    const child = spawn(
      process.execPath,
      [
        join(repo, 'generator/bin.js'),
        'init',
        '.',
        '--name',
        'shop',
        '--force',
        '--no-install',
        '--packages',
        'registry',
        '--start',
      ],
      {
        cwd: folder.root,
        env: { ...process.env, PORT: '0', HOST: '127.0.0.1', DATABASE_URL: ':memory:' },
        stdio: ['ignore', 'pipe', 'pipe'],
      },
    );
    let said = '';
    for (const stream of [child.stdout, child.stderr])
      stream.on('data', (chunk) => void (said += chunk));
    const ended = new Promise((resolve) => void child.once('close', resolve));
    try {
      await expect.poll(() => said, { timeout: 60_000 }).toMatch(/listening on http:\S+/);
      const url = /listening on (http:[^\s"]+)/.exec(said)![1]!;
      expect(await query(url, '{ users { name } }')).toEqual({ data: { users: [] } });
    } finally {
      child.kill('SIGTERM');
      await ended;
    }
  });

  test('--start --json prints one document on standard output, and the log elsewhere', async () => {
    const folder = emptyFolder();
    linkPackages(folder);
    const words = ['init', '.', '--name', 'shop', '--force', '--no-install', '--start', '--json'];
    const child = spawn(
      process.execPath,
      [join(repo, 'generator/bin.js'), ...words, '--packages', 'registry'],
      {
        cwd: folder.root,
        env: { ...process.env, PORT: '0', HOST: '127.0.0.1', DATABASE_URL: ':memory:' },
        stdio: ['ignore', 'pipe', 'pipe'],
      },
    );
    const said = { out: '', err: '' };
    child.stdout.on('data', (chunk) => void (said.out += chunk));
    child.stderr.on('data', (chunk) => void (said.err += chunk));
    const ended = new Promise((resolve) => void child.once('close', resolve));
    try {
      await expect
        .poll(() => said.out + said.err, { timeout: 60_000 })
        .toMatch(/listening on http:\S+/);
    } finally {
      child.kill('SIGTERM');
      await ended;
    }
    expect(JSON.parse(said.out)).toMatchObject({ ok: true, installed: false });
    expect(said.err).toMatch(/listening on http:\S+/);
  });

  test.skipIf(!existsSync('/proc/self'))(
    'says so where no folder can be made, which Node by itself tries for ever',
    () => {
      const { status, stderr } = spawnSync(
        process.execPath,
        [
          join(repo, 'generator/bin.js'),
          'init',
          '/proc/shop/deeper',
          '--no-install',
          '--packages',
          'registry',
        ],
        { encoding: 'utf8', timeout: 60_000, killSignal: 'SIGKILL' },
      );
      expect([status, stderr]).toEqual([2, expect.stringContaining('/proc/shop cannot be made')]);
    },
  );

  test('--version is that of the package', async () => {
    expect(await generator(['--version'], '/')).toEqual({
      code: 0,
      stdout: `${JSON.parse(readFileSync(join(repo, 'package.json'), 'utf8')).version}\n`,
      stderr: '',
    });
  });

  test('prints the next commands', async () => {
    const folder = emptyFolder();
    const { stderr } = await init(folder, 'shop');
    expect(stderr).toMatch(/Next:\n {2}cd shop\n {2}npm install\n {2}npm start\n/);
  });

  test('takes the name from the folder, as the manifest wants it', async () => {
    const folder = emptyFolder();
    expect(await init(folder, 'My Shop 2')).toMatchObject({ code: 0 });
    expect(folder.read('My Shop 2/manifest.yaml')).toContain('name: my-shop-2\n');
    expect(JSON.parse(folder.read('My Shop 2/package.json'))).toMatchObject({ name: 'my-shop-2' });
  });

  test('writes random secrets for the owner alone, and never into what is committed', async () => {
    const folder = emptyFolder();
    await init(folder, 'a', '--template', 'company');
    await init(folder, 'b', '--template', 'company');
    const [a = '', b = ''] = ['a/.env', 'b/.env'].map(
      (path) => /^JWT_SECRET=(.*)$/m.exec(folder.read(path))?.[1],
    );
    expect(Buffer.from(a, 'base64url').length).toBe(32);
    expect(a).not.toBe(b);
    expect(statSync(folder.path('a/.env')).mode & 0o777).toBe(0o600);
    const committed = Object.entries(folder.files()).filter(
      ([path]) => path !== 'a/.env' && path.startsWith('a/'),
    );
    expect(committed.filter(([, text]) => text.includes(a))).toEqual([]);
    expect(folder.read('a/.gitignore')).toMatch(/^\.env$/m);
  });

  test('refuses a folder that is not empty, and with --force overwrites no file', async () => {
    const folder = emptyFolder();
    folder.write('shop/README.md', 'mine\n');
    folder.write('shop/schema.graphql', 'type Query { mine: Int }\n');
    const refused = await init(folder, 'shop');
    expect(refused).toMatchObject({ code: 2 });
    expect(refused.stderr).toContain('is not empty (README.md, schema.graphql)');
    expect(Object.keys(folder.files())).toEqual(['shop/README.md', 'shop/schema.graphql']);
    expect(await init(folder, 'shop', '--force')).toMatchObject({ code: 0 });
    expect(folder.read('shop/README.md')).toBe('mine\n');
    expect(folder.read('shop/schema.graphql')).toBe('type Query { mine: Int }\n');
    expect(folder.read('shop/src/generated/schema.graphql.ts')).toContain('mine: Int');
  });

  test('leaves a clean work tree after the first commit and a second generate', async () => {
    const folder = emptyFolder();
    await init(folder, '.', '--name', 'shop');
    const git = (...args: string[]) =>
      runFile('git', ['-c', 'user.name=a', '-c', 'user.email=a@b.c', ...args], folder.root);
    await git('init', '-q');
    await git('add', '-A');
    await git('commit', '-qm', 'first');
    expect(await generator(['generate'], folder.root)).toMatchObject({ code: 0 });
    expect((await git('status', '--porcelain')).stdout).toBe('');
    expect((await git('ls-files')).stdout).not.toMatch(
      /^(\.env|node_modules|\.generator\/run\.lock)$/m,
    );
  });

  test('from a checkout carries our packages, and asks no registry for them', async () => {
    const folder = emptyFolder();
    expect(
      await generator(['init', 'shop', '--no-install', '--name', 'shop'], folder.root),
    ).toMatchObject({ code: 0 });
    const manifest = JSON.parse(folder.read('shop/package.json')) as Record<
      string,
      Record<string, string>
    >;
    const ours = Object.entries({
      ...manifest['dependencies'],
      ...manifest['devDependencies'],
    }).filter(([name]) => /twofold|generator/.test(name));
    expect(ours.map(([name]) => name).sort()).toEqual([
      '@twofold/auth',
      '@twofold/console',
      '@twofold/database',
      '@twofold/generator',
      '@twofold/runtime',
      '@twofold/schema',
    ]);
    for (const [, spec] of ours) {
      expect(spec).toMatch(/^file:vendor\/twofold-\w+-\d+\.\d+\.\d+\.tgz$/);
      expect(folder.has(`shop/${spec.slice('file:'.length)}`)).toBe(true);
    }
    expect(JSON.stringify(folder.files())).not.toContain(repo);
  });
});
