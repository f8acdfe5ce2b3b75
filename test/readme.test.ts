import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { SHAPES } from './bench/shape.ts';
import { renderSummary, summaryOf, withSummary } from './bench/summary.ts';
import { promiseFiles, promises } from './promises.ts';
import { root } from './source-files.ts';

const readme = readFileSync(join(root, 'README.md'), 'utf8');
const blocks = (language: string) =>
  [...readme.matchAll(new RegExp(`\`\`\`${language}\\n([\\s\\S]*?)\`\`\``, 'g'))].map(
    ([, text]) => text as string,
  );
const folder = mkdtempSync(join(tmpdir(), 'twofold-readme-'));
afterAll(() => rmSync(folder, { recursive: true }));

it('shows beside its input what the generator makes of it', () => {
  writeFileSync(join(folder, 'schema.graphql'), blocks('graphql')[0] ?? '');
  writeFileSync(join(folder, 'manifest.yaml'), 'name: blog\n');
  mkdirSync(join(folder, 'src/resolvers'), { recursive: true });
  writeFileSync(
    join(folder, 'src/resolvers/Post.ts'),
    `import type * as types from '../generated/types.ts';\n\n${blocks('ts')[1]}`,
  );
  execFileSync(process.execPath, [join(root, 'generator/bin.js'), 'generate', '--cwd', folder], {
    stdio: 'pipe',
  });
  expect(readFileSync(join(folder, 'src/generated/resolvers.ts'), 'utf8')).toContain(
    blocks('ts')[0],
  );
});

it('links to pages that are there', () => {
  const links = [...readme.matchAll(/\]\(([^)#]+)\)/g)].map(([, path]) => path as string);
  expect(links.filter((path) => !path.startsWith('http') && !existsSync(join(root, path)))).toEqual(
    [],
  );
});

it('lists exactly the folders that the repository has', () => {
  const listed = [...readme.matchAll(/^\| `(\w+)\/` \|/gm)].map(([, name]) => name as string);
  const tracked = execFileSync('git', ['ls-files'], { cwd: root, encoding: 'utf8' })
    .split('\n')
    .filter((path) => path.includes('/') && !path.startsWith('.'));
  expect(listed.sort()).toEqual(
    [...new Set(tracked.map((path) => path.split('/')[0] as string))].sort(),
  );
});

it('can be read in a few minutes, and begins with the two commands', () => {
  expect(readme.split('\n').length - 1).toBeLessThanOrEqual(150);
  const commands = [...readme.matchAll(/^ {4}(npm .*)$/gm)].map(([, command]) => command);
  expect(commands.slice(0, 2)).toEqual([
    'npm ci && npx generator init demo --start',
    'npm ci && npm test',
  ]);
});

it('leads to a page that has a row for every package that is used', () => {
  expect(readme).toContain('](DEPENDENCIES.md)');
  const page = readFileSync(join(root, 'DEPENDENCIES.md'), 'utf8');
  const rows = [...page.matchAll(/^\| (.+?) \| .+ \|$/gm)].map(([, names]) => names as string);
  const named = new Set(rows.flatMap((names) => names.split(/[\s,;`]+/)));
  const isNamed = (name: string) =>
    [...named].some(
      (each) => each === name || (each.endsWith('*') && name.startsWith(each.slice(0, -1))),
    );
  expect(usedPackages().filter((name) => !isNamed(name))).toEqual([]);
});

/** Packages that the shipped packages depend on; types, and our own packages, need no reason. */
function usedPackages(): string[] {
  const homes = [
    '.',
    'schema',
    ...['core', 'auth', 'hosting', 'models', 'console'].map((name) => `runtime/${name}`),
  ];
  const names = homes.flatMap((home) => {
    const text = readFileSync(join(root, home, 'package.json'), 'utf8');
    const { dependencies = {} } = JSON.parse(text) as { dependencies?: Record<string, string> };
    return Object.keys(dependencies);
  });
  return [...new Set(names)].filter((name) => !/^@(twofold|types)\//.test(name)).sort();
}

it('shows what the benchmark writes into it, and that in full', () => {
  const cost = /(?:\d+\.\d|\d+)/.source;
  const times = /\d+\.\d\d ×/.source;
  const [head, rule, ...rest] = (summaryOf(readme) ?? '').split('\n');
  const shapes = 2;
  const [given = '', line = ''] = renderSummary([], SHAPES.slice(0, shapes), 'a machine').split(
    '\n',
  );
  expect([head, rule]).toEqual([given, line]);
  const rows = rest.slice(0, -2);
  expect(rows.map((row) => row.split(':')[0])).toEqual([
    ...Array(6).fill('| SQLite'),
    ...Array(5).fill('| PostgreSQL'),
  ]);
  for (const row of rows)
    expect(row).toMatch(
      new RegExp(
        `^\\| \\w+: [^|]+(?: \\| ${cost} \\| ${cost} \\(${times}\\) \\| [^|]+: ${cost} \\(${times}\\)){${shapes}} \\|$`,
      ),
    );
  expect(rest.at(-1)).toMatch(/^Seen on \d{4}-\d\d-\d\d, Node v24/);
});

it('has the figures of the file that the same run wrote', () => {
  const { machine, shapes, lines } = JSON.parse(
    readFileSync(join(root, 'test/bench/graphql.json'), 'utf8'),
  );
  expect(summaryOf(readme)).toBe(renderSummary(lines, shapes, machine));
});

it('takes a new table of the benchmark in the place of the old one', () => {
  const asRun = {
    ours: 100.4,
    hand: { cost: 90, times: 1.1156 },
    peer: { name: 'another', cost: 250, times: 2.49 },
  };
  const bare = {
    ours: 50.04,
    hand: { cost: 40, times: 1.25 },
    peer: { name: 'a third', cost: 80, times: 1.6 },
  };
  const line = { title: 'SQLite: a query', comparisons: [asRun, bare] };
  const summary = renderSummary([line], SHAPES, '2026-01-02, Node v24.0.0');
  expect(summary).toContain(
    '| SQLite: a query | 100 | 90.0 (1.12 ×) | another: 250 (2.49 ×) | 50.0 | 40.0 (1.25 ×) | a third: 80.0 (1.60 ×) |',
  );
  const page = withSummary(
    'before\n<!-- bench:graphql -->\nold\n<!-- /bench:graphql -->\nafter\n',
    summary,
  );
  expect(page).toBe(`before\n<!-- bench:graphql -->\n${summary}\n<!-- /bench:graphql -->\nafter\n`);
  expect(withSummary(page, summary)).toBe(page);
  expect(() => withSummary('no marks', summary)).toThrow('bench:graphql');
});

it('says each promise that `npm test` holds by tests', () => {
  const words = (text: string) => text.replace(/\s+/g, ' ');
  expect(
    promises.filter(({ says }) => !words(readme).includes(words(says))).map(({ says }) => says),
  ).toEqual([]);
  expect(promiseFiles.filter((file) => !existsSync(join(root, file)))).toEqual([]);
  expect(new Set(promiseFiles).size).toBe(promiseFiles.length);
});
