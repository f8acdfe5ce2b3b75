import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { root } from './source-files.ts';

const readme = readFileSync(join(root, 'README.md'), 'utf8');
const blocks = (language: string) => [...readme.matchAll(new RegExp(`\`\`\`${language}\\n([\\s\\S]*?)\`\`\``, 'g'))].map(([, text]) => text as string);
const folder = mkdtempSync(join(tmpdir(), 'twofold-readme-'));
afterAll(() => rmSync(folder, { recursive: true }));

it('shows beside its input what the generator makes of it', () => {
  writeFileSync(join(folder, 'schema.graphql'), blocks('graphql')[0] ?? '');
  writeFileSync(join(folder, 'manifest.yaml'), 'name: blog\n');
  mkdirSync(join(folder, 'src/resolvers'), { recursive: true });
  writeFileSync(join(folder, 'src/resolvers/Post.ts'), `import type * as types from '../generated/types.ts';\n\n${blocks('ts')[1]}`);
  execFileSync(process.execPath, [join(root, 'generator/bin.js'), 'generate', '--cwd', folder], { stdio: 'pipe' });
  expect(readFileSync(join(folder, 'src/generated/resolvers.ts'), 'utf8')).toContain(blocks('ts')[0]);
});

it('links to pages that are there', () => {
  const links = [...readme.matchAll(/\]\(([^)#]+)\)/g)].map(([, path]) => path as string);
  expect(links.filter((path) => !path.startsWith('http') && !existsSync(join(root, path)))).toEqual([]);
});

it('lists exactly the folders that the repository has', () => {
  const listed = [...readme.matchAll(/^\| `(\w+)\/` \|/gm)].map(([, name]) => name as string);
  const tracked = execFileSync('git', ['ls-files'], { cwd: root, encoding: 'utf8' }).split('\n').filter((path) => path.includes('/') && !path.startsWith('.'));
  expect(listed.sort()).toEqual([...new Set(tracked.map((path) => path.split('/')[0] as string))].sort());
});
