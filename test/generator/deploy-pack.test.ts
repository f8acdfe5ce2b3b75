import { execFileSync } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { afterEach, describe, expect, test } from 'vitest';
import { packSource } from '../../generator/deploy/pack-source.ts';
import { makeProject, type TestProject } from './project.ts';
import { createRandom } from './random.ts';

const made: TestProject[] = [];
afterEach(() => made.splice(0).forEach((each) => each.remove()));

function project(files: Record<string, string>): TestProject {
  const one = makeProject(files);
  made.push(one);
  return one;
}

const KEY = '-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n';

describe('what deploy sends', () => {
  test('is the project with vendor/, without secrets, packages and history', async () => {
    const one = project({
      'package.json': '{}',
      'package-lock.json': '{}',
      Dockerfile: 'FROM x',
      '.gitignore': '*.tgz\npackage-lock.json\ndata/\n',
      '.dockerignore': 'test\nvendor\n',
      '.env': 'SECRET=1',
      '.env.production': 'SECRET=1',
      '.env.example': 'SECRET=',
      'src/.env.local': 'X=1',
      'src/server.ts': '1',
      'data/app.db': 'rows',
      'vendor/twofold-runtime-0.1.0.tgz': 'x',
      'other.tgz': 'x',
      'node_modules/a/index.js': 'x',
      '.git/config': 'x',
      '.generator/base.json': '{}',
      'tls.pem': KEY,
      'ca.pem': '-----BEGIN CERTIFICATE-----',
      id_rsa: KEY,
      '.npmrc': '//registry.example/:_authToken=abc',
      'test/a.test.ts': 'x',
    });
    const { paths, secrets } = await packSource(one.root);
    expect(paths).toEqual([
      '.dockerignore',
      '.env.example',
      '.gitignore',
      'Dockerfile',
      'ca.pem',
      'package-lock.json',
      'package.json',
      'src/server.ts',
      'vendor/twofold-runtime-0.1.0.tgz',
    ]);
    expect([...secrets].sort()).toEqual([
      '.env',
      '.env.production',
      '.npmrc',
      'id_rsa',
      'src/.env.local',
      'tls.pem',
    ]);
    one.write('.npmrc', '//registry.example/:_authToken=${TOKEN}');
    expect((await packSource(one.root)).paths).toContain('.npmrc');
  });

  test('is an archive that tar reads: long names, links inside, programs that run, the same bytes each time', async () => {
    const long = `src/${'deep/'.repeat(20)}${'n'.repeat(90)}.ts`;
    const one = project({ 'a.sh': '#!/bin/sh\n', [long]: 'x' });
    chmodSync(one.path('a.sh'), 0o755);
    symlinkSync('src', one.path('link'));
    const { archive } = await packSource(one.root);
    const listed = execFileSync('tar', ['-tvzf', '-'], { input: archive }).toString();
    expect(listed).toMatch(/^-rwxr-xr-x .* a\.sh$/m);
    expect(listed).toMatch(/^l.* link -> src$/m);
    expect(listed).toContain(long);
    expect((await packSource(one.root)).archive.equals(archive)).toBe(true);
    expect(gunzipSync(archive).length % 512).toBe(0);
  });

  test('has no link that leads out, and no path that the format cannot hold', async () => {
    const out = project({ 'a.txt': 'x' });
    symlinkSync('../../etc/passwd', out.path('b'));
    await expect(packSource(out.root)).rejects.toThrow(
      /b is a link to \.\.\/\.\.\/etc\/passwd, which is not part of the project/,
    );
    await expect(packSource(project({ [`${'long/'.repeat(60)}a`]: 'x' }).root)).rejects.toThrow(
      /too long for a tarball/,
    );
  });

  test('leaves out what git leaves out: 60 random trees with random .gitignore files, compared with git itself', async () => {
    const names = ['a', 'b', 'src', 'lib', 'x.log', 'keep.log', 'a.b', 'data'];
    const globs = [
      '*.log',
      '!keep.log',
      'data/',
      '/a',
      'src/lib',
      '**/b',
      'lib/**',
      'a/**/b',
      '?',
      '[ab]',
      '*',
      '!*/',
      '/src/*',
      '!/src/lib',
      '# note',
      '\\!x',
      'x.* ',
      '[!a]',
      'src/',
      '!src/lib/',
    ];
    for (let seed = 1; seed <= 60; seed++) {
      const random = createRandom(seed);
      const root = mkdtempSync(join(tmpdir(), 'twofold-ignore-'));
      const files: Record<string, string> = {};
      const path = (depth: number): string =>
        `${random.pick(names)}${depth > 0 && random.chance(0.6) ? `/${path(depth - 1)}` : ''}`;
      for (let n = 0; n < 25; n++) files[path(3)] = 'x';
      const rules = () =>
        Array.from({ length: 1 + random.whole(4) }, () => random.pick(globs)).join('\n');
      files['.gitignore'] = rules();
      if (random.chance(0.5)) files[`${random.pick(['src', 'lib', 'data'])}/.gitignore`] = rules();
      const one = makeTree(root, files);
      execFileSync('git', ['init', '-q'], { cwd: root });
      const kept = execFileSync(
        'git',
        [
          '-c',
          'core.excludesFile=/dev/null',
          '-c',
          'core.quotePath=false',
          'ls-files',
          '-co',
          '--exclude-standard',
        ],
        { cwd: root },
      )
        .toString()
        .split('\n')
        .filter(Boolean)
        .sort();
      const { paths } = await packSource(root);
      rmSync(root, { recursive: true, force: true });
      expect([seed, one, paths]).toEqual([seed, one, kept]);
    }
  });
});

/** Files whose folder is a file already are left out. @returns the rules, for a failure's text. */
function makeTree(root: string, files: Record<string, string>): Record<string, string> {
  const tree: TestProject['write'] = (name, text) => {
    try {
      mkdirSync(join(root, name, '..'), { recursive: true });
      writeFileSync(join(root, name), text);
    } catch {
      // A folder stands where the file belongs, or the other way round.
    }
  };
  for (const [name, text] of Object.entries(files)) tree(name, text);
  return Object.fromEntries(Object.entries(files).filter(([name]) => name.endsWith('.gitignore')));
}
