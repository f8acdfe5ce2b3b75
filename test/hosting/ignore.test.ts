import { execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parseIgnore } from '../../runtime/hosting/source/ignore.ts';
import { planBuild } from '../../runtime/hosting/source/plan.ts';
import { describeWith } from '../engines/available.ts';
import { findCommand } from '../engines/command.ts';

const FILES = [
  ...['a', 'b', 'foo', 'barfoo', 'x/foo', 'x/barfoo', 'x/y/foo/z', 'src/a', 'src/b.js'],
  ...['src/x/y.js', 'a.log', 'deep/er/x.log', 'keep.log', 'sub/keep.log', '.hidden', 'sub/.hidden'],
  ...['[x', 'p+q', 'sub/p+q', 'a$b', '{c}', 'é', '!bang', '#hash', 'abc/d', 'axb'],
];
const but = (...kept: string[]) => FILES.filter((file) => !kept.includes(file));

/** What the Docker CLI 28.2.2 left out of the context that it sent for these files; null where it refused to build. */
const DOCKER: readonly (readonly [string[], string[] | null])[] = [
  [['**', '!src'], but('src/a', 'src/b.js', 'src/x/y.js')],
  [['*', '!src/a'], but('src/a')],
  [['!src', '*'], FILES],
  [['**/foo'], ['foo', 'x/foo', 'x/y/foo/z']],
  [['**foo'], ['foo', 'barfoo', 'x/foo', 'x/barfoo', 'x/y/foo/z']],
  [['x/**'], ['x/foo', 'x/barfoo', 'x/y/foo/z']],
  [['x/**/foo'], ['x/foo', 'x/y/foo/z']],
  [['a**b'], []],
  [['*.log', '!keep.log'], ['a.log']],
  [['**/*.js', '!**/y.js'], ['src/b.js']],
  [['*/*'], FILES.filter((file) => file.includes('/'))],
  [['**/.hidden'], ['.hidden', 'sub/.hidden']],
  [['#hash'], []],
  [[' #hash'], ['#hash']],
  [['\\!bang'], ['!bang']],
  [['/src'], ['src/a', 'src/b.js', 'src/x/y.js']],
  [['src/'], ['src/a', 'src/b.js', 'src/x/y.js']],
  [['./src'], ['src/a', 'src/b.js', 'src/x/y.js']],
  [['../a'], []],
  [['.'], []],
  [['/'], []],
  [['a]'], []],
  [['{c}'], ['{c}']],
  [['a$b'], ['a$b']],
  [['p+q'], ['p+q']],
  [['**/p+q'], ['p+q', 'sub/p+q']],
  [['\\[x'], ['[x']],
  [['é'], ['é']],
  [['?'], ['a', 'b', 'x/foo', 'x/barfoo', 'x/y/foo/z', 'é']],
  [['sub/?'], []],
  [['[^x]*'], but('x/foo', 'x/barfoo', 'x/y/foo/z')],
  [['x[^a]foo'], ['x/foo']],
  [['x?foo'], []],
  [['app/['], null],
  [['[z-a]'], null],
  [['[]a]'], null],
  [['a\\'], null],
  [['!'], null],
];

describe('.dockerignore', () => {
  it.each(DOCKER)('%j leaves out what Docker leaves out', (rules, left) => {
    const run = () => FILES.filter(parseIgnore(rules.join('\n'))).sort();
    if (left) expect(run()).toEqual([...left].sort());
    else expect(run).toThrow(expect.objectContaining({ status: 422 }));
  });

  it('says which line cannot be read', () => {
    const listing = { paths: new Set(['Dockerfile', 'a']), bytes: 0 };
    const manifests = new Map([
      ['Dockerfile', 'FROM scratch\nCOPY . /'],
      ['.dockerignore', 'node_modules\napp/[\n'],
    ]);
    const policy = { allowAddUrl: false, from: ['*'] };
    expect(() => planBuild({ ...listing, manifests }, { policy })).toThrow(
      '.dockerignore has a pattern that cannot be read: "app/["',
    );
  });

  const folders = Array.from({ length: 26 }, (_, index) => `d${index}`).join('/');
  const letters = (count: number, seed: number) =>
    Array.from({ length: count }, (_, at) => ((seed * 7919 + at * at * 31) % 5 < 2 ? 'a' : 'b'));
  const hostile: readonly (readonly [string, string, readonly string[]])[] = [
    ['many folders', `${'**/'.repeat(14)}x`, [`${folders}/f`]],
    [
      'many stars',
      `${'*a'.repeat(100)}b`,
      Array.from({ length: 5000 }, (_, n) => 'a'.repeat(n % 250)),
    ],
    [
      'a state for every word',
      `*a${'?'.repeat(200)}`,
      Array.from({ length: 20_000 }, (_, n) => letters(200, n).join('')),
    ],
    [
      'many rules',
      Array.from({ length: 4000 }, (_, n) => `**/*${n}*`).join('\n'),
      Array.from({ length: 20_000 }, (_, n) => `p${n % 300}/file${n}.ts`),
    ],
  ];
  it.each(hostile)('with %s takes no time that others would notice', (_, text, paths) => {
    const begun = process.cpuUsage();
    try {
      const ignored = parseIgnore(text);
      for (const path of paths) ignored(path);
    } catch (error) {
      expect(error).toMatchObject({ status: 422 });
    }
    // Measured: 0.4 s; an expression that goes back needs 30 s for the first of these.
    expect(process.cpuUsage(begun).user / 1000).toBeLessThan(3000);
  });

  it('costs an ordinary project nothing', () => {
    const ignored = parseIgnore('node_modules\n**/dist\n*.log\n.git\n!keep.log\n**/*.test.js\n');
    const paths = Array.from({ length: 50_000 }, (_, n) => `p${n % 300}/src/file${n}.test.js`);
    const begun = performance.now();
    expect(paths.every(ignored)).toBe(true);
    expect(performance.now() - begun).toBeLessThan(1000);
  });
});

const cli = findCommand('docker');
/** Before version 24 the CLI read patterns otherwise: it had another library for them. */
const isCurrent =
  cli !== undefined &&
  Number(/version (\d+)/.exec(execFileSync(cli, ['--version'], { encoding: 'utf8' }))?.[1]) >= 24;
const describeBeside = isCurrent ? describeWith : () => {};

/** The Docker CLI reads `.dockerignore`, and the engine says what it was sent. */
describeBeside('docker', '.dockerignore beside what Docker itself copies', () => {
  const folder = mkdtempSync(join(tmpdir(), 'tf-ignore-'));
  const env = {
    ...process.env,
    DOCKER_BUILDKIT: '0',
    DOCKER_HOST: `unix://${process.env['TEST_DOCKER_SOCKET']}`,
  };
  beforeAll(() => {
    for (const file of FILES) {
      mkdirSync(join(folder, dirname(file)), { recursive: true });
      writeFileSync(join(folder, file), '');
    }
    writeFileSync(join(folder, 'Dockerfile'), 'FROM scratch\nCOPY . /\nCMD ["x"]\n');
  });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  /** What of the files is not in the image; null when Docker refuses the rules. */
  function leftOutByDocker(rules: readonly string[]): string[] | null {
    writeFileSync(join(folder, '.dockerignore'), rules.join('\n'));
    const built = spawnSync(cli as string, ['build', '-q', folder], { env, encoding: 'utf8' });
    if (/pattern/i.test(built.stderr) && built.status !== 0) return null;
    // Docker refuses to copy nothing.
    if (built.status !== 0 && /no source files/.test(built.stderr)) return [...FILES];
    expect(built.stderr + built.stdout).toMatch(/sha256:/);
    const run = (...args: string[]) => execFileSync(cli as string, args, { env, stdio: 'pipe' });
    const image = /sha256:\w+/.exec(built.stdout)![0];
    const container = String(run('create', image)).trim();
    const copied = execFileSync('tar', ['-t', '--quoting-style=literal'], {
      input: run('export', container),
    });
    run('rm', container);
    run('rmi', image);
    const there = new Set(String(copied).split('\n'));
    return FILES.filter((file) => !there.has(file));
  }

  const ours = (rules: readonly string[]): string[] | null => {
    try {
      return FILES.filter(parseIgnore(rules.join('\n')));
    } catch {
      return null;
    }
  };

  it.skipIf(!cli)('leaves out the same, for the rules above and for any others', () => {
    for (const [rules] of DOCKER)
      expect([rules, ours(rules)]).toEqual([rules, leftOutByDocker(rules)]);
    const piece = fc.constantFrom(
      '*',
      '**',
      '?',
      '/',
      'a',
      'b',
      'foo',
      'src',
      'x',
      'sub',
      '.log',
      '[a-x]',
      '.',
      '!',
    );
    const rule = fc.array(piece, { minLength: 1, maxLength: 4 }).map((pieces) => pieces.join(''));
    fc.assert(
      fc.property(
        fc.array(rule, { minLength: 1, maxLength: 3 }),
        (rules) => void expect([rules, ours(rules)]).toEqual([rules, leftOutByDocker(rules)]),
      ),
      { numRuns: 12 },
    );
  });
});
