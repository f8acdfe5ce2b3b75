import { type ChildProcess, spawn } from 'node:child_process';
import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { afterEach, describe, expect, test } from 'vitest';
import { databases, type TestDatabase } from '../../store/databases.ts';
import { generator, linkPackages, makeProject, repo, type TestProject } from '../project.ts';

const made: TestProject[] = [];
const opened: TestDatabase[] = [];
const children: ChildProcess[] = [];
afterEach(async () => {
  await Promise.all(children.splice(0).map(stop));
  made.splice(0).forEach((each) => each.remove());
  await Promise.all(opened.splice(0).map((each) => each.drop()));
});

const SCHEMA = `type User {
  id: ID!
  name: String!
  rating: Float
}

input CreateUserInput {
  name: String!
  rating: Float
}

type Query {
  users: [User!]!
}

type Mutation {
  createUser(input: CreateUserInput!): User!
}
`;

const REQUIRED = [
  'tags: [String!]!',
  'meta: JSON!',
  'place: Place!',
  'level: Level!',
  'town: String! @constraint(minLength: 2)',
  'age: Int! @constraint(min: 3)',
  'big: BigInt!',
  'done: Boolean!',
  'born: Date!',
  'seen: DateTime!',
];

async function stop(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = new Promise((resolve) => child.once('close', resolve));
  child.kill('SIGTERM');
  await ended;
}

async function makeShop(create: (root?: string) => Promise<TestDatabase>) {
  const shop = makeProject({ 'schema.graphql': SCHEMA, 'manifest.yaml': 'name: shop\n' });
  const database = await create(shop.root);
  made.push(shop);
  opened.push(database);
  linkPackages(shop);
  shop.write('.env', `DATABASE_URL=${database.url}\nHOST=127.0.0.1\nPORT=0\n`);
  const call = (...args: string[]) => generator(args, shop.root);
  expect(await call('generate')).toMatchObject({ code: 0 });
  const save = (change: (schema: string) => string) => shop.write('schema.graphql', change(SCHEMA));
  return { shop, database, call, save };
}

for (const { name, missing, create } of databases) {
  describe.skipIf(missing !== null)(
    `migrations of a project on ${name}${missing ? ` (${missing})` : ''}`,
    () => {
      test('that lose part of a value need a word, given for one run or written down', async () => {
        const { shop, database, call, save } = await makeShop(create);
        await call('migrate');
        await database.store.db.insertInto('users').values({ name: 'ann', rating: 7.5 }).execute();
        save((schema) => schema.replaceAll('rating: Float', 'rating: Int'));
        expect(await call('generate')).toMatchObject({ code: 0 });
        const refused = await call('migrate', 'up', '--json');
        expect([refused.code, JSON.parse(refused.stdout)]).toMatchObject([
          5,
          {
            ok: false,
            error: {
              code: 'MIGRATION_NEEDS_CONSENT',
              message: expect.stringMatching(
                /0002_\w+, step 1: users\.rating.*1 of 1 row[^]*key 1[^]*Nothing was changed/,
              ),
            },
          },
        ]);
        expect(await call('generate', '--allow-loss', 'User.rating')).toMatchObject({ code: 0 });
        expect(shop.read('migrations/0002_change_users_rating.ts')).toContain(
          "export const allowLoss = ['users.rating'];",
        );
        expect(await call('check')).toMatchObject({ code: 0 });
        expect(await call('migrate', 'up')).toMatchObject({ code: 0 });
        const [row] = await database.store.db.selectFrom('users').select('rating').execute();
        expect(row!['rating']).toBe(8);
      });

      test('that rows are in the way of end a start with a line, and one run may lose what it names', async () => {
        const { shop, database, call, save } = await makeShop(create);
        await call('migrate');
        const { db } = database.store;
        await db
          .insertInto('users')
          .values([{ name: 'ann', rating: 7.5 }, { name: 'bob' }])
          .execute();
        save((schema) => schema.replaceAll('rating: Float', 'rating: Int!'));
        await call('generate');
        const server = await serverEnd(shop);
        expect([server.code, server.text]).toEqual([
          1,
          expect.stringMatching(
            /The server cannot start:\n {2}ROWS_IN_THE_WAY[^]*1 of 2 rows[^]*fix[^]*is to be required/,
          ),
        ]);
        expect(server.text).not.toMatch(/^\s+at /m);
        const lost = await call('migrate', 'up', '--allow-loss', 'users.rating');
        expect([lost.code, lost.stderr]).toEqual([
          5,
          expect.stringContaining('users.rating is to be required, and 1 of 2 rows of users'),
        ]);
        await db.updateTable('users').set({ rating: 1 }).where('rating', 'is', null).execute();
        expect(await call('migrate', 'up', '--allow-loss', 'users.rating')).toMatchObject({
          code: 0,
        });
        const rows = await db.selectFrom('users').select('rating').orderBy('id').execute();
        expect(rows.map(({ rating }) => rating)).toEqual([8, 1]);
      });

      test('that require a field of any type are applied to rows with the default that their finding prints', async () => {
        const { database, call, save } = await makeShop(create);
        await call('migrate');
        await database.store.db.insertInto('users').values({ name: 'ann' }).execute();
        const required = (defaults: readonly string[]) =>
          save(
            (schema) =>
              `scalar JSON\nscalar BigInt\nscalar Date\nscalar DateTime\nenum Level { LOW HIGH }\ntype Place { town: String }\n\n${schema
                .slice(0, schema.indexOf('type Mutation'))
                .replace(
                  '  rating: Float\n}',
                  `  rating: Float\n${REQUIRED.map((field, at) => `  ${field} ${defaults[at] ?? ''}\n`).join('')}}`,
                )}`,
          );
        required([]);
        const { stdout, stderr } = await call('generate', '--dry-run');
        const printed = [...`${stdout}${stderr}`.matchAll(/as (@default\(.*?\)), or take/g)];
        expect(printed).toHaveLength(REQUIRED.length);
        required(printed.map(([, fix]) => fix!));
        const run = await call('generate');
        expect([run.code, run.stderr]).toEqual([0, expect.not.stringContaining('NEEDS_VALUE')]);
        expect(await call('migrate', 'up')).toMatchObject({ code: 0 });
        expect(await call('check')).toMatchObject({ code: 0 });
        expect(await call('migrate', 'status', '--drift')).toMatchObject({ code: 0 });
        const [row] = await database.store.db.selectFrom('users').selectAll().execute();
        expect(row).toMatchObject({ tags: [], meta: {}, place: {}, level: 'LOW', age: 3 });
      }, 120_000);

      test('of which one is missing are noticed by check, status, doctor and the start, and written again', async () => {
        const { shop, call, save } = await makeShop(create);
        save((schema) => schema.replaceAll('rating: Float', 'rating: Float\n  town: String'));
        await call('generate');
        expect(await call('check')).toMatchObject({ code: 0 });
        rmSync(shop.path('migrations/0002_add_users_town.ts'));
        const check = await call('check');
        expect([check.code, check.stderr]).toEqual([
          3,
          expect.stringMatching(
            /MIGRATION_STEP_MISSING {2}no migration makes users\.town[^]*0002_add_users_town\.ts/,
          ),
        ]);
        expect((await call('migrate', 'status')).stdout).toContain('no step  users.town');
        expect((await call('doctor')).stdout).toMatch(
          /wrong +migrations +no migration makes users\.town/,
        );
        const server = await serverEnd(shop);
        expect([server.code, server.text]).toEqual([
          1,
          expect.stringMatching(/MIGRATION_STEP_MISSING {2}the database lacks users\.town/),
        ]);
        expect(await call('generate')).toMatchObject({ code: 0 });
        expect(await call('check')).toMatchObject({ code: 0 });
        expect(await call('migrate')).toMatchObject({ code: 0 });
      });

      test('whose files are gone with a branch are named with what mends it, and nothing is lost', async () => {
        const { shop, database, call, save } = await makeShop(create);
        save((schema) => schema.replaceAll('rating: Float', 'rating: Float\n  town: String'));
        await call('generate');
        await call('migrate');
        await database.store.db.insertInto('users').values({ name: 'ann', town: 'Ulm' }).execute();
        rmSync(shop.path('migrations/0002_add_users_town.ts'));
        save((schema) => schema);
        await call('generate');
        const up = await call('migrate', '--json');
        expect([up.code, JSON.parse(up.stdout).error]).toMatchObject([
          2,
          {
            code: 'MIGRATION_MISSING',
            message: expect.stringMatching(/0002_add_users_town[^]*go back to the branch/),
          },
        ]);
        expect(JSON.parse((await call('migrate', 'status', '--json')).stdout)).toMatchObject({
          missing: ['0002_add_users_town'],
          applied: ['0001_init'],
        });
        expect(await database.store.db.selectFrom('users').select('town').execute()).toEqual([
          { town: 'Ulm' },
        ]);
        const down = JSON.parse((await call('migrate', 'down', '--json')).stdout);
        expect(down).toMatchObject({ ok: true, reverted: ['0002_add_users_town'] });
        expect(shop.read(down.rescued[0])).toBe('{"id":1,"town":"Ulm"}\n');
      });

      test('in dev: what rows, code or SQL refuse is said at its line, the last good server goes on, and the fix works', async () => {
        const { shop, call, save, said, answers } = await startDev(create);
        expect(await answers('{ users { name } }')).toEqual({ data: { users: [] } });
        await answers('mutation { createUser(input: { name: "ann" }) { id } }');
        const users = { data: { users: [{ name: 'ann' }] } };

        save((schema) => schema.replace('name: String!', 'name: String!\n  rank: Int!'));
        await said(
          /schema\.graphql:4:3 {2}error {2}ROWS_IN_THE_WAY {2}users\.rank.*1 of 1 row[^]*key 1[^]*@default/,
        );
        await said(/The last good server goes on/);
        expect(await answers('{ users { name } }')).toEqual(users);
        expect(migrations(shop)).toEqual(['0001_init.ts']);
        save((schema) =>
          schema.replace('name: String!', 'name: String!\n  rank: Int! @default(value: 3)'),
        );
        expect(await answers('{ users { name rank } }')).toEqual({
          data: { users: [{ name: 'ann', rank: 3 }] },
        });
        expect(migrations(shop)).toEqual(['0001_init.ts', '0002_draft.ts']);
        const check = await call('check');
        expect([check.code, check.stderr]).toEqual([
          1,
          expect.stringMatching(/MIGRATION_DRAFT.*0002_draft\.ts is a draft/),
        ]);

        mkdirSync(shop.path('src/resolvers'), { recursive: true });
        shop.write('src/resolvers/User.ts', 'export const resolvers = { name: (\n');
        await said(/The new server did not start: the last good server goes on/);
        expect(await answers('{ users { name } }')).toEqual(users);
        rmSync(shop.path('src/resolvers/User.ts'));

        expect(await call('migrate', 'new', 'fill')).toMatchObject({ code: 0 });
        expect(migrations(shop)).toEqual([
          '0001_init.ts',
          '0002_add_users_rank.ts',
          '0003_fill.ts',
        ]);
        await wait(1_000);
        const own = (table: string) =>
          `import type { Kysely, MigrationContext } from '@twofold/runtime';\n\nexport async function up(db: Kysely<any>, { dialect }: MigrationContext): Promise<void> {\n  await db.updateTable('${table}').set({ name: 'eve of ' + dialect }).execute();\n}\n`;
        shop.write('migrations/0003_fill.ts', own('nowhere'));
        await said(
          /0003_fill\.ts:4:1 {2}error {2}MIGRATION_FAILED {2}migration 0003_fill, step 1 \(nowhere\) failed at line 4/,
        );
        expect(await answers('{ users { name } }')).toEqual(users);
        shop.write('migrations/0003_fill.ts', own('users'));
        await said(/migrated: 0003_fill/);
        await expect
          .poll(() => answers('{ users { name } }'), { timeout: 30_000 })
          .toEqual({ data: { users: [{ name: `eve of ${opened.at(-1)!.store.dialect}` }] } });
      });

      test('in dev: a migration that was written wrongly before is written anew', async () => {
        const { shop, call, save } = await makeShop(create);
        await call('migrate');
        await opened.at(-1)!.store.db.insertInto('users').values({ name: 'ann' }).execute();
        save((schema) => schema.replace('name: String!', 'name: String!\n  rank: Int!'));
        await call('generate');
        expect(migrations(shop)).toEqual(['0001_init.ts', '0002_add_users_rank.ts']);
        const { said, answers } = startDevOf(shop);
        await said(/schema\.graphql:4:3 {2}error {2}ROWS_IN_THE_WAY/);
        save((schema) =>
          schema.replace('name: String!', 'name: String!\n  rank: Int! @default(value: 3)'),
        );
        expect(await answers('{ users { rank } }')).toEqual({ data: { users: [{ rank: 3 }] } });
        expect(migrations(shop)).toEqual(['0001_init.ts', '0002_add_users_rank.ts']);
      });
    },
  );
}

const migrations = (shop: TestProject) =>
  Object.keys(shop.files()).flatMap((path) => /^migrations\/(.+)$/.exec(path)?.[1] ?? []);

/** Starts the server and waits for its end. */
function serverEnd(shop: TestProject): Promise<{ code: number | null; text: string }> {
  const child = spawn(process.execPath, ['src/server.ts'], {
    cwd: shop.root,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  children.push(child);
  let text = '';
  child.stdout.on('data', (chunk) => void (text += chunk));
  child.stderr.on('data', (chunk) => void (text += chunk));
  return new Promise((resolve) => child.once('close', (code) => resolve({ code, text })));
}

async function startDev(create: (root?: string) => Promise<TestDatabase>) {
  const made = await makeShop(create);
  return { ...made, ...startDevOf(made.shop) };
}

let ports = 0;

function startDevOf(shop: TestProject) {
  const port = 21_000 + (process.pid % 20_000) + ++ports;
  shop.write('.env', shop.read('.env').replace('PORT=0', `PORT=${port}`));
  const child = spawn(process.execPath, [join(repo, 'generator/bin.js'), 'dev'], {
    cwd: shop.root,
    env: { ...process.env, NO_COLOR: '1' },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  children.push(child);
  let text = '';
  child.stdout.on('data', (chunk) => void (text += chunk));
  child.stderr.on('data', (chunk) => void (text += chunk));
  let seen = 0;
  return {
    /** Waits until something is said after what was heard last. */
    said: async (pattern: RegExp) => {
      await expect.poll(() => text.slice(seen), { timeout: 60_000 }).toMatch(pattern);
      seen += pattern.exec(text.slice(seen))!.index;
    },
    answers: (query: string) => answer(port, query),
  };
}

/** The first answer without an error, within a minute. */
async function answer(port: number, query: string): Promise<unknown> {
  let last: unknown;
  for (const until = Date.now() + 60_000; Date.now() < until; await wait(50)) {
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
