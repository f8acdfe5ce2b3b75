import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { afterEach, describe, expect, test } from 'vitest';
import { generator, linkPackages, makeProject, repo, type TestProject } from './project.ts';
import { starters } from '../../templates/starter/index.ts';

const made: TestProject[] = [];
afterEach(() => made.splice(0).forEach((each) => each.remove()));

async function starter(): Promise<TestProject> {
  const shop = makeProject({
    'schema.graphql': starters.starter.schema,
    'manifest.yaml': 'name: shop\n',
  });
  made.push(shop);
  linkPackages(shop);
  await generator(['generate'], shop.root);
  return shop;
}

describe('migrate', () => {
  test('lists, applies and undoes, and starts one of the user', async () => {
    const shop = await starter();
    expect((await generator(['migrate', 'status'], shop.root)).stdout).toBe('pending  0001_init\n');
    expect(JSON.parse((await generator(['migrate', '--json'], shop.root)).stdout)).toEqual({
      ok: true,
      applied: ['0001_init'],
      rescued: [],
    });
    expect((await generator(['migrate', 'status'], shop.root)).stdout).toBe('applied  0001_init\n');
    expect(JSON.parse((await generator(['migrate', 'down', '--json'], shop.root)).stdout)).toEqual({
      ok: true,
      reverted: ['0001_init'],
      rescued: [],
    });
    expect(await generator(['migrate', 'new', 'fill_names'], shop.root)).toMatchObject({ code: 0 });
    expect(shop.read('migrations/0002_fill_names.ts')).toContain('export async function up');
    expect(await generator(['migrate', 'sideways'], shop.root)).toMatchObject({ code: 2 });
  });
});

describe('doctor', () => {
  test('says what is wrong and the command that mends it', async () => {
    const shop = await starter();
    shop.write('manifest.yaml', 'name: shop\nauth: {}\n');
    // With accounts no mutation may write an address.
    shop.write(
      'schema.graphql',
      starters.starter.schema.replaceAll(/.*\b(?:createUser|updateUser).*\n/g, ''),
    );
    shop.write('.env', 'PORT=0\n');
    await generator(['generate'], shop.root);
    const { code, stdout } = await generator(['doctor', '--json'], shop.root, { JWT_SECRET: '' });
    expect(code).toBe(1);
    const { checks } = JSON.parse(stdout) as {
      checks: { what: string; ok: boolean; text: string; fix?: string }[];
    };
    expect(checks.find(({ text }) => text === 'JWT_SECRET is not set')).toMatchObject({
      ok: false,
      fix: expect.stringContaining('>> .env'),
    });
    expect(checks.find(({ what }) => what === 'packages')).toMatchObject({ ok: true });
  });
});

describe('prune', () => {
  test('shows resolvers of types that are gone, removes them only when told, and keeps their text', async () => {
    const shop = await starter();
    shop.write('src/resolvers/Gone.ts', 'export const resolvers = {};\n');
    expect((await generator(['prune'], shop.root)).stdout).toBe('unused  src/resolvers/Gone.ts\n');
    expect(shop.has('src/resolvers/Gone.ts')).toBe(true);
    expect(await generator(['prune', '--yes'], shop.root)).toMatchObject({ code: 0 });
    expect(shop.has('src/resolvers/Gone.ts')).toBe(false);
    expect(
      Object.entries(shop.files())
        .filter(([path]) => path.startsWith('.generator/rescued/'))
        .map(([, text]) => text),
    ).toEqual(['export const resolvers = {};\n']);
  });
});

describe('dev', () => {
  test('answers for a saved schema, and keeps the last good server while there are errors', async () => {
    const shop = await starter();
    const port = 20_000 + (process.pid % 20_000);
    shop.write('.env', `PORT=${port}\nHOST=127.0.0.1\nDATABASE_URL=:memory:\n`);
    const child = spawn(process.execPath, [join(repo, 'generator/bin.js'), 'dev'], {
      cwd: shop.root,
      stdio: 'ignore',
    });
    try {
      expect(await answer(port, '{ users { name } }')).toEqual({ data: { users: [] } });
      const good = starters.starter.schema.replace(
        'email: String! @unique',
        'email: String! @unique\n  age: Int',
      );
      shop.write('schema.graphql', good);
      expect(await answer(port, '{ users { age } }')).toEqual({ data: { users: [] } });
      shop.write('schema.graphql', `${good}\ntype Broken {`);
      await wait(1_500);
      expect(await answer(port, '{ users { age } }')).toEqual({ data: { users: [] } });
    } finally {
      child.kill('SIGTERM');
      await new Promise((resolve) => child.once('close', resolve));
    }
  });
});

/** The first answer without an error, within half a minute. */
async function answer(port: number, query: string): Promise<unknown> {
  let last: unknown;
  for (const until = Date.now() + 30_000; Date.now() < until; await wait(50)) {
    const response = await fetch(`http://127.0.0.1:${port}/graphql`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ query }),
    }).catch(() => null);
    last = response && (await response.json());
    if (last && !('errors' in (last as object))) return last;
  }
  return last;
}
