import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { generator } from '../generator/project.ts';

let top: string;
let root: string;
const write = (path: string, text: string) => {
  mkdirSync(dirname(join(root, path)), { recursive: true });
  writeFileSync(join(root, path), text);
};
const list = () => Object.values(JSON.parse(readFileSync(join(root, 'documents.json'), 'utf8')));
const prune = (...words: string[]) => generator(['prune', '--documents', ...words], root);

beforeAll(async () => {
  top = mkdtempSync(join(tmpdir(), 'client-commands-'));
  root = join(top, 'server');
  execFileSync('git', ['init', '-q', top]);
  write('schema.graphql', 'type Query { posts: [Post!]! }\ntype Post { id: ID! title: String! }\n');
  write(
    'manifest.yaml',
    'name: shop\nclient: { documents: ["../web/*.graphql"], out: ../web/api/ }\n',
  );
  write('../web/posts.graphql', 'query Posts { posts { id } }\n');
  expect((await generator(['generate'], root)).code).toBe(0);
  execFileSync('git', ['-C', top, 'add', '-A']);
  const author = ['-c', 'user.name=t', '-c', 'user.email=t@t'];
  execFileSync('git', [...author, '-C', top, 'commit', '-qm', 'first']);
  write('../web/posts.graphql', 'query Posts { posts { id title } }\n');
});
afterAll(() => rmSync(top, { recursive: true, force: true }));

it('leave the folder of the front end and the list alone with --no-client', async () => {
  expect((await generator(['generate', '--no-client'], root)).code).toBe(0);
  expect(list()).toEqual(['query Posts {\n  posts {\n    id\n  }\n}']);
});

it('show what is retired, and remove it only when --yes says so', async () => {
  expect((await generator(['generate'], root)).code).toBe(0);
  expect(list()).toHaveLength(2);
  const shown = await prune();
  expect([shown.code, shown.stdout]).toEqual([
    0,
    expect.stringMatching(/^retired {2}[\da-f]{64} {2}query Posts\n$/),
  ]);
  expect(list()).toHaveLength(2);
  const removed = await prune('--yes', '--json');
  expect(JSON.parse(removed.stdout).removed).toMatchObject([{ name: 'query Posts' }]);
  expect(list()).toEqual([expect.stringContaining('title')]);
  expect(JSON.parse((await prune('--json')).stdout)).toEqual({
    ok: true,
    retired: [],
    removed: [],
  });
});
