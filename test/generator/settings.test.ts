import { execFile } from 'node:child_process';
import { rmSync, statSync } from 'node:fs';
import { parseEnv, promisify } from 'node:util';
import { afterEach, describe, expect, test } from 'vitest';
import { generator, linkPackages, makeProject, type TestProject } from './project.ts';

const execute = promisify(execFile);
const made: TestProject[] = [];
afterEach(() => made.splice(0).forEach((each) => each.remove()));

/** A project as `init` writes it, with this repository's packages in the place of installed ones. */
async function init(...options: string[]): Promise<TestProject> {
  const shop = makeProject({});
  made.push(shop);
  const words = ['init', '.', '--name', 'shop', '--no-install', '--packages', 'registry'];
  expect((await generator([...words, ...options], shop.root)).code).toBe(0);
  linkPackages(shop);
  return shop;
}

const settings = (shop: TestProject) => parseEnv(shop.read('.env'));
const withAuth = (shop: TestProject) =>
  shop.write('manifest.yaml', shop.read('manifest.yaml').replace('# auth: {}', 'auth: {}'));

describe('the settings of a project', () => {
  test('get the secret that the manifest has come to need, once', async () => {
    const shop = await init('--template', 'blog');
    shop.write('.env', 'DATABASE_URL=file:data/app.db\n');
    shop.write('manifest.yaml', `${shop.read('manifest.yaml')}\nhosting: {}\n`);
    const run = await generator(['generate'], shop.root);
    expect(run.stderr).toContain('added  JWT_SECRET, HOST_PASSWORD to .env');
    const { JWT_SECRET, HOST_PASSWORD } = settings(shop);
    expect([JWT_SECRET, HOST_PASSWORD].map((each) => each?.length)).toEqual([43, 43]);
    expect(run.stderr).not.toContain(JWT_SECRET);
    expect(statSync(shop.path('.env')).mode & 0o777).toBe(0o600);
    expect((await generator(['generate', '--force'], shop.root)).stderr).not.toContain('added');
    expect(settings(shop)).toMatchObject({ JWT_SECRET, HOST_PASSWORD });
  });

  test('keep every line of .env, and a secret that somebody gave', async () => {
    const shop = await init('--template', 'blog');
    shop.write('.env', '# mine\nA=1\nJWT_SECRET=\nHOST_PASSWORD_HASH=x');
    shop.write('manifest.yaml', `${shop.read('manifest.yaml')}\nhosting: {}\n`);
    await generator(['generate'], shop.root);
    expect(shop.read('.env')).toMatch(/^# mine\nA=1\nJWT_SECRET=[\w-]{43}\nHOST_PASSWORD_HASH=x$/);
  });

  test('are not made where there is no .env, as in CI', async () => {
    const shop = await init('--template', 'company');
    rmSync(shop.path('.env'));
    await generator(['generate', '--force'], shop.root);
    expect(shop.has('.env')).toBe(false);
  });

  test('leave the port to the manifest', async () => {
    const shop = await init();
    expect(settings(shop)['PORT']).toBeUndefined();
    shop.write('manifest.yaml', `${shop.read('manifest.yaml')}\nserver: { port: 9123 }\n`);
    await generator(['generate'], shop.root);
    expect(shop.read('.env.example')).toContain('# PORT=9123');
  });

  test('name the database of the project in .env.example too, and go on doing so', async () => {
    const shop = await init('--database', 'postgres');
    const line = 'DATABASE_URL=postgres://postgres:postgres@localhost:5432/shop';
    expect(shop.read('.env.example')).toContain(line);
    withAuth(shop);
    await generator(['generate'], shop.root);
    expect(shop.read('.env.example')).toContain(line);
  });

  test('that are missing are what doctor names, and not the database', async () => {
    const shop = await init('--template', 'company');
    shop.write('.env', 'DATABASE_URL=file:data/app.db\n');
    const { stdout, code } = await generator(['doctor'], shop.root);
    expect(code).toBe(1);
    expect(stdout).toMatch(/wrong {2}secrets +JWT_SECRET is not set/);
    expect(stdout).toMatch(/wrong {2}database +not asked: a setting is missing or wrong/);
  });
});

async function smoke(shop: TestProject): Promise<string> {
  const words = ['--test', '--test-reporter=tap', 'test/smoke.test.ts'];
  const env = { ...process.env, NODE_ENV: '', JWT_SECRET: '', HOST_PASSWORD: '' };
  return (await execute(process.execPath, words, { cwd: shop.root, env })).stdout;
}

describe('the test that init writes', () => {
  test.each(['starter', 'company', 'hosting'])(
    'passes in a fresh clone of %s, which has no .env',
    async (template) => {
      const shop = await init('--template', template);
      rmSync(shop.path('.env'));
      expect(await smoke(shop)).toMatch(/# pass 2\n# fail 0/);
    },
  );

  test('passes in a fresh clone when accounts and hosting were switched on later', async () => {
    const shop = await init();
    shop.write('schema.graphql', 'type Note { id: ID! } type Query { notes: [Note!]! }\n');
    shop.write('manifest.yaml', 'name: shop\nauth: {}\nhosting: {}\n');
    expect((await generator(['generate'], shop.root)).code).toBe(0);
    rmSync(shop.path('.env'));
    expect(await smoke(shop)).toMatch(/# pass 2\n# fail 0/);
  });
});
