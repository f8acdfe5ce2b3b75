import { spawn } from 'node:child_process';
import { existsSync, readdirSync, renameSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { databases, type TestDatabase } from '../store/databases.ts';
import { generator, linkPackages, makeProject, repo, type TestProject } from './project.ts';

const SDL = `
type Query { posts: [Post!]! }
type Mutation { createPost(title: String!): Post! }
type User { id: ID! email: String! name: String }
type Post { id: ID! title: String! tags: [Tag!]! }
type Tag { id: ID! name: String! posts: [Post!]! }
`;

const [, postgres] = databases;

describe.skipIf(postgres!.missing !== null)('generator db', () => {
  let project: TestProject;
  let target: TestDatabase;
  const run = (...words: string[]) =>
    generator(words, project.root, { JWT_SECRET: 'x'.repeat(40) });
  beforeAll(async () => {
    project = makeProject({
      'schema.graphql': SDL,
      'manifest.yaml': 'name: blog\nauth: {}\n',
      'seed.yaml': 'Post:\n  one: { title: One, tags: [x] }\nTag:\n  x: { name: x }\n',
    });
    linkPackages(project);
    target = await postgres!.create();
    expect((await run('generate')).code).toBe(0);
    expect((await run('seed')).code).toBe(0);
  });
  afterAll(async () => {
    project.remove();
    await target.drop();
  });

  test('backs up accounts, join tables, seeds and the ledger, and restores them on the other database', async () => {
    const made = await run('db', 'backup', '--json');
    const { file, tables } = JSON.parse(made.stdout);
    expect(file).toMatch(/-\d{8}T\d{6}Z\.twofold\.tgz$/);
    expect(statSync(file).mode & 0o777).toBe(0o600);
    const names = tables.map(({ name }: { name: string }) => name);
    expect(names).toEqual(expect.arrayContaining(['auth_sessions', 'post_tags', 'twofold_seeds']));
    const restored = await run('db', 'restore', file, '--database', target.url, '--json');
    expect(JSON.parse(restored.stdout)).toMatchObject({ ok: true, pending: [] });
    const { db } = target.store;
    expect(await db.selectFrom('posts').selectAll().execute()).toEqual([{ id: 1, title: 'One' }]);
    expect(await db.selectFrom('post_tags').selectAll().execute()).toHaveLength(1);
    const ledger = await db.selectFrom('twofold_migrations').select('name').execute();
    expect(ledger.map(({ name }) => name)).toEqual(expect.arrayContaining(['0001_init']));
    const again = await run('db', 'restore', file, '--database', target.url, '--json');
    expect([again.code, JSON.parse(again.stdout).error.code]).toEqual([5, 'TARGET_HAS_ROWS']);
    const over = ['--replace', '--confirm', 'any', '--database', target.url];
    expect((await run('db', 'restore', file, ...over)).code).toBe(0);
  });

  test('backs up into a folder that is made, and says why it cannot write', async () => {
    const made = await run('db', 'backup', 'not/there/x.tgz');
    expect([made.code, existsSync(project.path('not/there/x.tgz'))]).toEqual([0, true]);
    for (const path of ['schema.graphql/x.tgz', '/proc/x.tgz']) {
      const { code, stderr } = await run('db', 'backup', path);
      expect([code, stderr]).toEqual([2, expect.stringContaining('FILE_UNWRITABLE')]);
      expect(stderr).not.toMatch(/^\s+at /m);
    }
  });

  test('plan and doctor name what waits in a few lines', async () => {
    const env = { JWT_SECRET: 'x'.repeat(40), DATABASE_URL: 'file:data/fresh.db', PORT: '0' };
    const plan = await generator(['migrate', 'plan'], project.root, env);
    expect(plan.stdout).toMatch(
      /^\d+ migrations of the packages \(auth[\w, ]*\): safe; --json has their steps\n\n0001_init\n/,
    );
    expect(plan.stdout).not.toContain('auth/0001');
    const doctor = await generator(['doctor'], project.root, env);
    expect(doctor.stdout).toMatch(
      /reached; \d+ migrations wait: \S+, \S+, \S+ and \d+ more\n +fix +npm run migrate\n/,
    );
  });

  test('writes to standard output, copies back, and leaves no file of a run that fails', async () => {
    const { code, bytes } = await piped(project.root);
    expect(code).toBe(0);
    expect(bytes.subarray(0, 2).toString('hex')).toBe('1f8b');
    const path = join(project.root, 'changed.tgz');
    writeFileSync(path, Buffer.concat([bytes.subarray(0, -1), Buffer.from([bytes.at(-1)! ^ 1])]));
    const refused = await run('db', 'restore', path, '--json');
    expect([refused.code, JSON.parse(refused.stdout).error.code]).toEqual([2, 'BACKUP_DAMAGED']);
    const fresh = 'file:copied/app.db';
    const copied = await run('db', 'copy', '--from', target.url, '--to', fresh, '--json');
    expect(JSON.parse(copied.stdout)).toMatchObject({ ok: true, tables: expect.anything() });
    expect(existsSync(project.path('copied/app.db'))).toBe(true);
    const absent = await run('db', 'backup', 'none.tgz', '--database', 'file:absent.db');
    expect(absent.code).toBe(2);
    expect(absent.stderr).toContain('there is no database at');
    const left = readdirSync(project.root).filter((name) =>
      /none|\.part$|\.jsonl$|absent/.test(name),
    );
    expect(left).toEqual([]);
  });

  test('refuses rows of migrations that the project does not have, and leaves newer ones pending', async () => {
    const file = project.path('before.tgz');
    expect((await run('db', 'backup', 'before.tgz')).code).toBe(0);
    project.write(
      'schema.graphql',
      SDL.replace('title: String! tags', 'title: String! text: String tags'),
    );
    expect((await run('generate')).code).toBe(0);
    const to = 'file:older/app.db';
    const older = JSON.parse((await run('db', 'restore', file, '--database', to, '--json')).stdout);
    expect(older).toMatchObject({ ok: true, pending: [expect.stringMatching(/^0002_/)] });
    renameSync(project.path('migrations/0001_init.ts'), project.path('aside.ts'));
    const ahead = await run('db', 'restore', file, '--database', 'file:x/app.db', '--json');
    expect([ahead.code, JSON.parse(ahead.stdout).error.code]).toEqual([2, 'BACKUP_AHEAD']);
    expect(existsSync(project.path('x/app.db'))).toBe(false);
  });
});

/** Standard output as bytes. */
async function piped(root: string): Promise<{ code: number | null; bytes: Buffer }> {
  const child = spawn(process.execPath, [join(repo, 'generator/bin.js'), 'db', 'backup', '-'], {
    cwd: root,
    env: { ...process.env, JWT_SECRET: 'x'.repeat(40) },
  });
  const chunks: Buffer[] = [];
  child.stdout.on('data', (chunk: Buffer) => chunks.push(chunk));
  const code = await new Promise<number | null>((resolve) => child.once('close', resolve));
  return { code, bytes: Buffer.concat(chunks) };
}
