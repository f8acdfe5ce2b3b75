import { afterAll, beforeAll, expect, test } from 'vitest';
import { openStore } from '../../../runtime/core/store/open-store.ts';
import { generator, linkPackages, makeProject, type TestProject } from '../project.ts';

const SCHEMA = 'type User {\n  id: ID!\n  name: String!\n}\n\ntype Query {\n  users: [User!]!\n}\n';

let shop: TestProject;
const call = (...args: string[]) => generator(args, shop.root);
const migrate = async (...args: string[]): Promise<Record<string, any>> => {
  const { code, stdout } = await call('migrate', ...args, '--json');
  return { ...(JSON.parse(stdout) as Record<string, any>), code };
};

beforeAll(async () => {
  shop = makeProject({
    'schema.graphql': SCHEMA,
    'manifest.yaml': 'name: shop\n',
    'seed.yaml': 'User:\n  ann: { name: Ann }\n',
  });
  linkPackages(shop);
  shop.write('.env', 'DATABASE_URL=file:app.db\nHOST=127.0.0.1\nPORT=0\n');
  await call('generate');
  await call('migrate', 'up');
});
afterAll(() => shop.remove());

async function rows<T>(text: string): Promise<T[]> {
  const store = openStore(`file:${shop.path('app.db')}`, shop.root);
  try {
    return (await store.query(text, [])) as T[];
  } finally {
    await store.close();
  }
}

test('reset makes all tables anew, with --seed the rows of the seed too', async () => {
  expect(await call('migrate', 'reset', '--seed')).toMatchObject({ code: 0 });
  expect(await rows('select name from users')).toEqual([{ name: 'Ann' }]);
});

test('status --drift is 1 where the database is not what the migrations make', async () => {
  expect(await migrate('status', '--drift')).toMatchObject({ code: 0, drift: [] });
  await rows('alter table users add column town text');
  expect(await migrate('status', '--drift')).toMatchObject({
    code: 1,
    drift: [{ object: 'users.town', kind: 'extra' }],
  });
  await rows('alter table users drop column town');
  expect(await migrate('status', '--drift')).toMatchObject({ code: 0 });
});

test('plan --zero-downtime is 5 for what servers of the release before would fail on', async () => {
  shop.write(
    'schema.graphql',
    SCHEMA.replace('name: String!', 'name: String!\n  age: Int! @default(value: 1)'),
  );
  await call('generate');
  expect(await migrate('plan')).toMatchObject({ code: 0 });
  const [step] = (await migrate('plan'))['migrations'][0].steps;
  expect(await migrate('plan', '--zero-downtime')).toMatchObject({
    code: step.compatible && step.blocks === 'nothing' ? 0 : 5,
  });
  await call('migrate', 'up');
});

test('squash leaves out a migration written by hand only when --without names it', async () => {
  await call('migrate', 'new', 'fill');
  const [file] = Object.keys(shop.files()).filter((path) => path.startsWith('migrations/0003_'));
  shop.write(
    file!,
    "import type { Kysely } from '@twofold/runtime';\n\nexport async function up(db: Kysely<any>): Promise<void> {\n  await db.updateTable('users').set({ name: 'eve' }).execute();\n}\n",
  );
  const refused = await call('migrate', 'squash');
  expect([refused.code, refused.stderr]).toEqual([5, expect.stringContaining('0003_fill')]);
  expect(await call('migrate', 'squash', '--without', '0003_fill')).toMatchObject({ code: 0 });
});

test('up names the file with the values that it dropped', async () => {
  const own = makeProject({ 'schema.graphql': SCHEMA, 'manifest.yaml': 'name: shop\n' });
  linkPackages(own);
  own.write('.env', `DATABASE_URL=file:app.db\nHOST=127.0.0.1\nPORT=0\n`);
  own.write('seed.yaml', 'User:\n  ann: { name: Ann, town: Bath }\n');
  const run = (...args: string[]) => generator(args, own.root);
  own.write('schema.graphql', SCHEMA.replace('name: String!', 'name: String!\n  town: String'));
  await run('generate');
  expect(await run('seed')).toMatchObject({ code: 0 });
  own.write('schema.graphql', SCHEMA);
  await run('generate', '--allow-drop', 'User.town');
  const { code, stderr } = await run('migrate', 'up');
  const [, file] = /rescued +(\S+)/.exec(stderr) ?? [];
  expect([code, file]).toEqual([0, expect.stringMatching(/^\.generator\/rescued\/.+users/)]);
  expect(own.read(file!)).toContain('"town":"Bath"');
  own.remove();
});
