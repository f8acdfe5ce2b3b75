import { execFile, spawn } from 'node:child_process';
import {
  appendFileSync,
  existsSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { root as repo } from '../source-files.ts';
import { generator } from './project.ts';

const execute = promisify(execFile);
const home = mkdtempSync(join(tmpdir(), 'twofold-added-'));
afterAll(() => rmSync(home, { recursive: true, force: true }));

const shop = join(home, 'shop');
const read = (path: string) => readFileSync(join(shop, path), 'utf8');

beforeAll(async () => {
  const made = await generator(['init', shop, '--template', 'starter', '--no-install'], home);
  expect(made.code).toBe(0);
});

describe('a manifest that newly asks for a capability', () => {
  it('gets its packages into package.json from vendor/, and generate says what to do', async () => {
    appendFileSync(join(shop, 'manifest.yaml'), '\nhosting: {}\n');
    const said = await generator(['generate'], shop);
    expect(said.code).toBe(0);
    expect(said.stderr).toMatch(
      /^added {2}@twofold\/hosting.* to package\.json: the project needs them now$/m,
    );
    expect(said.stderr).toContain('Next:\n  npm install\n');
    const { dependencies, devDependencies } = JSON.parse(read('package.json'));
    // A server that hosts signs its operator in in production, too.
    expect(Object.keys(dependencies)).toContain('@twofold/auth');
    expect(Object.keys(devDependencies)).not.toContain('@twofold/auth');
    expect(dependencies['@twofold/hosting']).toMatch(/^file:vendor\/twofold-hosting-.*\.tgz$/);
    expect(existsSync(join(shop, dependencies['@twofold/hosting'].slice('file:'.length)))).toBe(
      true,
    );
    expect((await generator(['generate'], shop)).stderr).not.toContain('npm install');
  });

  it('gets a package back whose line was lost in a merge, and check says so', async () => {
    const whole = read('package.json');
    const lost = whole.replace(/^ {4}"@twofold\/(auth|hosting)": .*\n/gm, '');
    expect(lost.split('\n').length).toBe(whole.split('\n').length - 2);
    writeFileSync(
      join(shop, 'package.json'),
      lost.replace('"start":', '"mine": "echo",\n    "start":'),
    );
    const checked = await generator(['check'], shop);
    expect([checked.code, checked.stdout]).toEqual([1, expect.stringContaining('package.json')]);
    const said = await generator(['generate'], shop);
    expect(said.stderr).toMatch(/^added {2}@twofold\/auth, @twofold\/hosting to package\.json/m);
    expect(JSON.parse(read('package.json'))).toEqual({
      ...JSON.parse(whole),
      scripts: { mine: 'echo', ...JSON.parse(whole).scripts },
    });
    expect((await generator(['check'], shop)).code).toBe(0);
    writeFileSync(join(shop, 'package.json'), whole);
  });

  it('leaves Node out where the user took it out, as their package manager does', async () => {
    const whole = read('package.json');
    const without = whole.replace(/^ {4}"node": .*\n/m, '');
    expect(without).not.toBe(whole);
    writeFileSync(join(shop, 'package.json'), without);
    expect((await generator(['check'], shop)).code).toBe(0);
    await generator(['generate'], shop);
    expect(read('package.json')).toBe(without);
    writeFileSync(join(shop, 'package.json'), whole);
  });

  it('keeps what the user wrote into package.json', async () => {
    const own = JSON.parse(read('package.json'));
    expect(own.devDependencies['@twofold/generator']).toBeDefined();
    const blog = join(home, 'blog');
    await generator(['init', blog, '--template', 'blog', '--no-install'], home);
    const file = join(blog, 'package.json');
    const text = readFileSync(file, 'utf8').replace(
      '"start": "node src/server.ts",',
      '"start": "node src/server.ts",\n    "mine": "echo mine",',
    );
    writeFileSync(file, text);
    appendFileSync(join(blog, 'manifest.yaml'), '\nhosting: {}\n');
    const said = await generator(['generate', '--json'], blog);
    expect(JSON.parse(said.stdout).packages).toContain('@twofold/hosting');
    const merged = JSON.parse(readFileSync(file, 'utf8'));
    expect(merged.scripts.mine).toBe('echo mine');
    expect(merged.dependencies['@twofold/hosting']).toBeDefined();
  });

  it('is served by dev, which installs the packages itself', async () => {
    const fresh = join(home, 'fresh');
    await generator(['init', fresh, '--template', 'starter', '--no-install'], home);
    const words = ['install', '--ignore-scripts', '--no-audit', '--no-fund', '--fetch-retries=5'];
    await execute('npm', words, { cwd: fresh });
    expect(existsSync(join(fresh, 'node_modules/@twofold/hosting'))).toBe(false);
    const dev = spawn(process.execPath, [join(repo, 'generator/bin.js'), 'dev'], {
      cwd: fresh,
      env: { ...process.env, PORT: '0', HOST: '127.0.0.1', DATABASE_URL: ':memory:' },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    let output = '';
    for (const stream of [dev.stdout, dev.stderr])
      stream.setEncoding('utf8').on('data', (text: string) => void (output += text));
    const ended = new Promise((resolve) => void dev.once('close', resolve));
    try {
      const served = () => output.match(/listening on http/g)?.length ?? 0;
      await expect.poll(served, { timeout: 60_000 }).toBe(1);
      appendFileSync(join(fresh, 'manifest.yaml'), '\nhosting: {}\n');
      await expect.poll(() => output, { timeout: 120_000 }).toMatch(/installed {2}in/);
      await expect.poll(served, { timeout: 60_000 }).toBe(2);
      expect(existsSync(join(fresh, 'node_modules/@twofold/hosting'))).toBe(true);
    } finally {
      dev.kill('SIGTERM');
      await ended;
    }
  }, 300_000);
});
