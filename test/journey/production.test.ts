import { execFile } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { end, query, run } from '../server/program.ts';
import { root } from '../source-files.ts';

const execute = promisify(execFile);
const home = mkdtempSync(join(tmpdir(), 'twofold-production-'));
const blog = join(home, 'blog');

/** Serves, and says at its end which files it has loaded. */
const PROGRAM = `import { writeSync } from 'node:fs';
import { registerHooks } from 'node:module';
const loaded: string[] = [];
registerHooks({ load: (url, context, next) => (loaded.push(url), next(url, context)) });
process.once('exit', () => writeSync(1, 'loaded ' + JSON.stringify(loaded) + '\\n'));
await import('./src/server.ts');
`;

/** Throws the error of the project's own graphql; another graphql would take it for a bug and hide its text. */
const MINUTES = `import { GraphQLError } from 'graphql';
import type * as types from '../generated/types.ts';

export const resolvers = {
  minutes: () => {
    throw new GraphQLError('not today', { extensions: { code: 'NOT_TODAY' } });
  },
} satisfies types.PostOverrides;
`;

const npm = (...words: readonly string[]) =>
  execute('npm', words, { cwd: blog, maxBuffer: 64 * 1024 * 1024 });
const install = () =>
  npm('install', '--omit=dev', '--ignore-scripts', '--no-audit', '--no-fund', '--fetch-retries=5');

interface Installed {
  readonly name: string;
  readonly version: string;
  readonly folder: string;
}

/** Packages in a `node_modules`, those below others too. */
function packagesIn(modules: string): Installed[] {
  return readdirSync(modules, { withFileTypes: true })
    .filter((entry) => entry.isDirectory() && !entry.name.startsWith('.'))
    .flatMap(({ name }) => {
      const folder = join(modules, name);
      if (name.startsWith('@')) return packagesIn(folder);
      const manifest = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as Installed;
      const inner = readdirSync(folder).includes('node_modules')
        ? packagesIn(join(folder, 'node_modules'))
        : [];
      return [{ ...manifest, folder }, ...inner];
    });
}

const filesIn = (folder: string) =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name));

beforeAll(async () => {
  const words = ['generator/bin.js', 'init', blog, '--template', 'blog', '--no-install'];
  await execute(process.execPath, words, { cwd: root });
  await install();
});
afterAll(() => rmSync(home, { recursive: true, force: true }));

describe('what a blog installs to run', () => {
  it('is at most 71 packages and 22 MB, which are 34 MB on a disk with blocks of 4 KiB', () => {
    const installed = packagesIn(join(blog, 'node_modules'));
    expect(installed.length).toBeGreaterThan(40);
    expect(installed.length).toBeLessThanOrEqual(71);
    const bytes = filesIn(join(blog, 'node_modules')).map((file) => statSync(file).size);
    const sum = (sizes: readonly number[]) => sizes.reduce((all, size) => all + size, 0);
    expect(sum(bytes)).toBeLessThanOrEqual(22_000_000);
    const blocks = bytes.map((size) => Math.ceil(size / 4096) * 4096);
    expect(sum(blocks)).toBeLessThanOrEqual(34_000_000);
  });

  it('has no native module, no types of development, nothing that only sign-in or hosting needs', () => {
    const installed = packagesIn(join(blog, 'node_modules'));
    expect(
      filesIn(join(blog, 'node_modules')).filter((file) => /\.(node|gyp)$/.test(file)),
    ).toEqual([]);
    expect(
      installed.filter(({ name }) => /^@types\/|^(bcrypt|dockerode|undici|grant|ajv)$/.test(name)),
    ).toEqual([]);
  });

  it('starts without the console, which only development uses: its path is 404, or 503 with the command', async () => {
    const settings = { DATABASE_URL: ':memory:', PORT: '0', HOST: '127.0.0.1' };
    const asked = async (env: Record<string, string>) => {
      const program = run(PROGRAM, { ...settings, ...env }, blog);
      const url = await program.listening;
      const answer = await fetch(`${url}/console/data`);
      const { error } = (await answer.json()) as { error: string };
      program.process.kill('SIGTERM');
      await program.ended;
      return [answer.status, error, program.output().match(/"level":50/g)?.length ?? 0];
    };
    expect(await asked({ NODE_ENV: 'production', MIGRATE: 'on' })).toEqual([404, 'Not found', 0]);
    const mended = '@twofold/auth is not installed: npm install --include=dev';
    expect(await asked({})).toEqual([503, mended, 2]);
  });

  it('is all in the bill of materials', async () => {
    // Of the lockfile, as packages of development are not installed here.
    const { stdout } = await npm('sbom', '--package-lock-only', '--sbom-format=cyclonedx');
    const bill = JSON.parse(stdout) as { components: Installed[] };
    const listed = new Set(bill.components.map(({ name, version }) => `${name}@${version}`));
    const missing = packagesIn(join(blog, 'node_modules'))
      .map(({ name, version }) => `${name}@${version}`)
      .filter((each) => !listed.has(each));
    expect(missing).toEqual([]);
  });
});

describe('overrides of a project', () => {
  it('change the koa and the graphql that answer, and errors of that graphql are known', async () => {
    const file = join(blog, 'package.json');
    const manifest = JSON.parse(readFileSync(file, 'utf8')) as Record<string, unknown>;
    const overrides = { koa: '3.2.0', graphql: '17.0.0' };
    writeFileSync(file, JSON.stringify({ ...manifest, overrides }));
    rmSync(join(blog, 'node_modules'), { recursive: true });
    rmSync(join(blog, 'package-lock.json'));
    await install();
    writeFileSync(join(blog, 'src/resolvers/Post.ts'), MINUTES);
    const settings = { DATABASE_URL: ':memory:', PORT: '0', HOST: '127.0.0.1' };
    const program = run(PROGRAM, settings, blog);
    try {
      const url = await program.listening;
      const { data } = await query(
        url,
        'mutation { createAuthor(name: "A", email: "a@example.com") { id } }',
      );
      const id = data.createAuthor.id as string;
      await query(
        url,
        `mutation { createPost(input: { title: "T", body: "B", authorId: "${id}" }) { id } }`,
      );
      expect(await query(url, '{ posts { minutes } }')).toMatchObject({
        errors: [{ message: 'not today', extensions: { code: 'NOT_TODAY' } }],
      });
    } finally {
      program.process.kill('SIGTERM');
      await program.ended;
    }
    const loaded = /^loaded (.*)$/m.exec(program.output())?.[1] ?? '[]';
    expect(versionsOf(JSON.parse(loaded) as string[])).toEqual({
      koa: ['3.2.0'],
      graphql: ['17.0.0'],
    });
    await end(program);
  });
});

/** Versions of koa and graphql that files were loaded from. */
function versionsOf(urls: readonly string[]): Record<string, string[]> {
  const found: Record<string, Set<string>> = { koa: new Set(), graphql: new Set() };
  for (const url of urls) {
    const [, folder, name = ''] = /^file:\/\/(.*\/node_modules\/(koa|graphql))\//.exec(url) ?? [];
    if (folder === undefined) continue;
    const { version } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as Installed;
    found[name]?.add(version);
  }
  return Object.fromEntries(Object.entries(found).map(([name, versions]) => [name, [...versions]]));
}
