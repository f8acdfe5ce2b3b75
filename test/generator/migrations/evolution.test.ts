import { rmSync } from 'node:fs';
import { afterEach, describe, expect, test } from 'vitest';
import { type RunPlan, run, type RunOptions } from '../../../generator/pipeline.ts';
import { disk } from '../../../generator/write/disk.ts';
import type { Store } from '../../../runtime/core/store/store.ts';
import { databases } from '../../store/databases.ts';
import { makeProject, type TestProject } from '../project.ts';
import { evaluateMigration } from './run-migration.ts';

const made: TestProject[] = [];
afterEach(() => made.splice(0).forEach((each) => each.remove()));

/** A project whose migrations are applied as they are made. */
async function startProject(store: Store, schema: string) {
  const shop = makeProject({ 'schema.graphql': schema, 'manifest.yaml': 'name: shop\n' });
  made.push(shop);
  const applied = new Set<string>();
  const evolve = async (next: string, options: RunOptions = {}): Promise<RunPlan> => {
    shop.write('schema.graphql', next);
    const plan = await run(shop.root, options, disk);
    for (const path of Object.keys(shop.files()).filter(
      (each) => /^migrations\/\d/.test(each) && !applied.has(each),
    )) {
      applied.add(path);
      await store.structuralTransaction((trx) => evaluateMigration(shop.read(path)).up(trx, store));
    }
    return plan;
  };
  await evolve(schema);
  return { shop, evolve };
}

const codes = ({ findings }: RunPlan) => findings.map(({ code }) => code);

for (const { name, missing, create } of databases) {
  describe.skipIf(missing !== null)(
    `a change of the schema on ${name}${missing ? ` (${missing})` : ''}`,
    () => {
      const withStore = async (work: (store: Store) => Promise<void>) => {
        const { store, drop } = await create();
        try {
          await work(store);
        } finally {
          await drop();
        }
      };

      test('renames a field and a type with @renamed, and keeps the rows', () =>
        withStore(async (store) => {
          const { evolve } = await startProject(
            store,
            'type User { id: ID! name: String! } type Query { users: [User!]! }',
          );
          await store.db.insertInto('users').values({ name: 'Ann' }).execute();
          await evolve(
            'type Person @renamed(from: "User") { id: ID! fullName: String! @renamed(from: "name") } type Query { people: [Person!]! }',
          );
          expect(await store.db.selectFrom('people').selectAll().execute()).toEqual([
            { id: 1, full_name: 'Ann' },
          ]);
        }));

      test('renames the join table of a renamed type with it, and keeps who belongs to whom', () =>
        withStore(async (store) => {
          const { evolve } = await startProject(
            store,
            'type Post { id: ID! title: String tags: [Tag!]! } type Tag { id: ID! name: String posts: [Post!]! } type Query { posts: [Post!]! }',
          );
          const { db } = store;
          await db.insertInto('posts').values({ title: 'a' }).execute();
          await db.insertInto('tags').values({ name: 'b' }).execute();
          const [join] = (await db.introspection.getTables())
            .map((table) => table.name)
            .filter((table) => table.includes('_') && /post|tag/.test(table));
          const keys = { post_id: 1, tag_id: 1 };
          await db.insertInto(join!).values(keys).execute();
          const plan = await evolve(
            'type Article @renamed(from: "Post") { id: ID! title: String tags: [Tag!]! } type Tag { id: ID! name: String articles: [Article!]! } type Query { articles: [Article!]! }',
          );
          expect(codes(plan)).not.toContain('COLUMN_KEPT');
          const joined = plan
            .project!.entities.flatMap(({ fields }) => fields)
            .flatMap(({ source }) =>
              source.kind === 'many' && source.via.kind === 'table' ? [source.via] : [],
            );
          expect(await db.selectFrom(joined[0]!.table).selectAll().execute()).toEqual([
            { article_id: 1, tag_id: 1 },
          ]);
        }));

      test('renames a value of an enum in the rows', () =>
        withStore(async (store) => {
          const { evolve } = await startProject(
            store,
            'enum Status { OPEN CLOSED } type Job { id: ID! status: Status! } type Query { jobs: [Job!]! }',
          );
          await store.db
            .insertInto('jobs')
            .values([{ status: 'OPEN' }, { status: 'CLOSED' }])
            .execute();
          await evolve(
            'enum Status { WAITING @renamed(from: "OPEN") CLOSED LATE } type Job { id: ID! status: Status! } type Query { jobs: [Job!]! }',
          );
          expect(
            await store.db.selectFrom('jobs').select('status').orderBy('id').execute(),
          ).toEqual([{ status: 'WAITING' }, { status: 'CLOSED' }]);
          await store.db.insertInto('jobs').values({ status: 'LATE' }).execute();
          await expect(
            store.db.insertInto('jobs').values({ status: 'OPEN' }).execute(),
          ).rejects.toThrow();
        }));

      test('keeps a column that the schema drops until --allow-drop names it, and lets rows be added', () =>
        withStore(async (store) => {
          const { evolve } = await startProject(
            store,
            'type User { id: ID! name: String! nick: String! } type Query { users: [User!]! }',
          );
          await store.db.insertInto('users').values({ name: 'Ann', nick: 'a' }).execute();
          const next = 'type User { id: ID! name: String! } type Query { users: [User!]! }';
          expect(codes(await evolve(next))).toContain('COLUMN_KEPT');
          await store.db.insertInto('users').values({ name: 'Bob' }).execute();
          expect(await store.db.selectFrom('users').select('nick').orderBy('id').execute()).toEqual(
            [{ nick: 'a' }, { nick: null }],
          );
          expect(codes(await evolve(next, { allowDrop: ['User.nick'] }))).not.toContain(
            'COLUMN_KEPT',
          );
          expect(
            await store.db.selectFrom('users').selectAll().where('id', '=', 1).execute(),
          ).toEqual([{ id: 1, name: 'Ann' }]);
        }));

      test('keeps columns and tables that neither hold the rows they refer to nor go with them', () =>
        withStore(async (store) => {
          const { evolve } = await startProject(
            store,
            'type Team { id: ID! } type Job { id: ID! team: Team! @relation(onDelete: CASCADE) } type Plan { id: ID! team: Team! } type Query { teams: [Team!]! }',
          );
          const { db } = store;
          await db.insertInto('teams').defaultValues().execute();
          await db.insertInto('jobs').values({ team_id: 1 }).execute();
          await db.insertInto('plans').values({ team_id: 1 }).execute();
          await evolve(
            'type Team { id: ID! } type Job { id: ID! } type Query { teams: [Team!]! jobs: [Job!]! }',
          );
          await db.deleteFrom('teams').execute();
          for (const table of ['jobs', 'plans'])
            expect(await db.selectFrom(table).selectAll().execute()).toEqual([
              { id: 1, team_id: null },
            ]);
        }));

      test('asks when a field may have been renamed, and writes nothing until it is said', () =>
        withStore(async (store) => {
          const { shop, evolve } = await startProject(
            store,
            'type User { id: ID! name: String! } type Query { users: [User!]! }',
          );
          const before = shop.files();
          expect(
            codes(
              await evolve(
                'type User { id: ID! fullName: String! } type Query { users: [User!]! }',
              ),
            ),
          ).toContain('RENAME_AMBIGUOUS');
          expect(shop.files()).toEqual({
            ...before,
            'schema.graphql': shop.read('schema.graphql'),
          });
        }));

      test('that makes a field required takes its default, and without one says that rows need a value', () =>
        withStore(async (store) => {
          const { evolve } = await startProject(
            store,
            'type User { id: ID! name: String } type Query { users: [User!]! }',
          );
          await store.db.insertInto('users').values({ name: null }).execute();
          await evolve(
            'type User { id: ID! name: String! @default(value: "nobody") } type Query { users: [User!]! }',
          );
          expect(await store.db.selectFrom('users').select('name').execute()).toEqual([
            { name: 'nobody' },
          ]);
          const plan = evolve(
            'type User { id: ID! name: String! @default(value: "nobody") age: Int! } type Query { users: [User!]! }',
          );
          await expect(plan).rejects.toMatchObject({ code: 'ROWS_IN_THE_WAY' });
        }));

      test('makes tables that refer to each other in a circle', () =>
        withStore(async (store) => {
          await startProject(
            store,
            'type Team { id: ID! name: String! lead: User @relation(column: "lead_id") } type User { id: ID! name: String! team: Team @relation(column: "team_id") } type Query { teams: [Team!]! users: [User!]! }',
          );
          await store.db.insertInto('teams').values({ name: 'core' }).execute();
          await store.db.insertInto('users').values({ name: 'Ann', team_id: 1 }).execute();
          await store.db.updateTable('teams').set({ lead_id: 1 }).execute();
          await expect(
            store.db.updateTable('teams').set({ lead_id: 99 }).execute(),
          ).rejects.toThrow();
        }));
    },
  );
}

const USER = 'type User { id: ID! name: String! } type Query { users: [User!]! }';

/** Without a database: what the files alone say. */
async function startFiles(schema: string) {
  const shop = makeProject({ 'schema.graphql': schema, 'manifest.yaml': 'name: shop\n' });
  made.push(shop);
  await run(shop.root, {}, disk);
  const next = (text: string, options: RunOptions = {}) => {
    shop.write('schema.graphql', text);
    return run(shop.root, options, disk);
  };
  const migrations = () => Object.keys(shop.files()).filter((path) => /^migrations\//.test(path));
  return { shop, next, migrations };
}

describe('a rename by hand', () => {
  test('of a type is asked about, named by the type that it was, and at the new one', async () => {
    const { next, migrations } = await startFiles(USER);
    const renamed = 'type Person { id: ID! name: String! } type Query { people: [Person!]! }';
    const { findings } = await next(renamed);
    expect(findings).toMatchObject([
      {
        code: 'RENAME_AMBIGUOUS',
        fix: expect.stringContaining('@renamed(from: "User")'),
        at: { file: 'schema.graphql', line: 1, column: 6 },
      },
    ]);
    expect(migrations()).toHaveLength(1);
    expect(
      codes(await next(renamed.replace('Person {', 'Person @renamed(from: "User") {'))),
    ).toEqual([]);
    expect(migrations()[1]).toBe('migrations/0002_rename_users_to_people.ts');
  });

  test('of a plural alone is asked about with a fix that keeps the table', async () => {
    const { next, migrations } = await startFiles(USER);
    const plural = USER.replace('User {', 'User @entity(plural: "members") {').replace(
      'users:',
      'members:',
    );
    const { findings } = await next(plural);
    expect(findings).toMatchObject([
      {
        code: 'RENAME_AMBIGUOUS',
        fix: expect.stringContaining('@entity(table: "users") on the type User'),
      },
    ]);
    expect(codes(await next(plural.replace('"members"', '"members", table: "users"')))).toEqual([]);
    expect(migrations()).toHaveLength(1);
  });

  test('of several fields at once is asked about for each', async () => {
    const { next } = await startFiles(
      'type User { id: ID! name: String! nick: String } type Query { users: [User!]! }',
    );
    const { findings } = await next(
      'type User { id: ID! fullName: String! alias: String } type Query { users: [User!]! }',
    );
    const asked = findings.filter(({ severity }) => severity === 'error');
    expect(asked.map(({ code, summary }) => [code, summary.split(' ')[0]])).toEqual([
      ['RENAME_AMBIGUOUS', 'users.name'],
      ['RENAME_AMBIGUOUS', 'users.nick'],
    ]);
  });

  test('is not asked about when the field was gone before', async () => {
    const { next } = await startFiles(USER);
    const without = 'type User { id: ID! age: Int } type Query { users: [User!]! }';
    expect(codes(await next(without))).toEqual(['COLUMN_KEPT']);
    expect(codes(await next(without.replace('age', 'bio: String age')))).toEqual(['COLUMN_KEPT']);
  });
});

describe('the chain of migrations', () => {
  const AGE = USER.replace('name', 'age: Int name');

  test('that lacks a step is written to its end again, the same text as before', async () => {
    const { shop, next, migrations } = await startFiles(USER);
    await next(AGE);
    const before = shop.files();
    rmSync(shop.path('migrations/0002_add_users_age.ts'));
    const { missing } = await next(AGE);
    expect([missing, migrations().length]).toEqual([['users.age'], 2]);
    expect(shop.files()).toEqual(before);
  });

  test('that lacks a step which another one builds on is an error that names both', async () => {
    const { shop, next } = await startFiles(USER);
    await next(AGE);
    await next(AGE.replace('age: Int', 'age: Float'));
    rmSync(shop.path('migrations/0002_add_users_age.ts'));
    expect((await next(AGE)).findings).toMatchObject([
      {
        code: 'MIGRATION_STEP_MISSING',
        summary: expect.stringMatching(/0003_change_users_age\.ts changes users\.age, which no/),
        fix: expect.stringContaining('migrations/0002_add_users_age.ts'),
      },
    ]);
  });

  test.each([
    ['age: Int!', '@default(value: 3)'],
    ['height: Float!', '@default(value: 0.5)'],
    ['nick: String!', '@default(value: "text")'],
    ['paid: Boolean!', '@default(value: true)'],
    ['seen: DateTime!', '@default(value: "2026-01-31T12:00:00Z")'],
    ['state: State!', '@default(value: OPEN)'],
    ['boss: User!', null],
  ])('has a printed way for a required field that works as it stands: %s', async (field, value) => {
    const types = 'scalar DateTime enum State { OPEN CLOSED }';
    const schema = (more: string) => `${types} ${USER.replace('name', `${more} name`)}`;
    const { shop, next, migrations } = await startFiles(schema(''));
    const { findings } = await next(schema(field));
    const { fix = '' } = findings.find(({ code }) => code === 'MIGRATION_NEEDS_VALUE')!;
    const [, printed = null] = /(@default\(value: .*?\))(?:,| or)/.exec(fix) ?? [];
    expect(printed).toBe(value);
    const path = migrations()[1]!;
    expect(fix).toContain(`delete ${path}`);
    rmSync(shop.path(path));
    const mended = value === null ? field.replace('!', '') : `${field} ${value}`;
    expect(codes(await next(schema(mended)))).toEqual([]);
    expect(migrations()).toHaveLength(2);
    const all = shop.files()['generator.lock']!;
    expect(all.split('\n').filter((line) => line.includes('migrations/'))).toHaveLength(2);
  });

  test('that lacks a step names no file that was deleted before, and is mended by deleting the rest', async () => {
    const { shop, next, migrations } = await startFiles(USER);
    await next(USER.replace('name', 'old: Int name'));
    rmSync(shop.path(migrations()[1]!));
    await next(AGE);
    await next(AGE.replace('age: Int', 'age: Float'));
    rmSync(shop.path('migrations/0002_add_users_age.ts'));
    const [finding] = (await next(AGE)).findings;
    expect(finding).toMatchObject({
      code: 'MIGRATION_STEP_MISSING',
      fix: expect.not.stringContaining('users_old'),
    });
    const [, last = ''] = /applied (migrations\/\S+?), delete that/.exec(finding!.fix!) ?? [];
    rmSync(shop.path(last));
    expect(codes(await next(AGE))).toEqual([]);
    expect(migrations()).toEqual(['migrations/0001_init.ts', 'migrations/0002_add_users_age.ts']);
  });

  test('may be begun anew: without the folder a run writes one first migration', async () => {
    const { shop, next, migrations } = await startFiles(USER);
    await next(AGE);
    rmSync(shop.path('migrations'), { recursive: true });
    await next(AGE);
    expect(migrations()).toEqual(['migrations/0001_init.ts']);
    expect(shop.read('migrations/0001_init.ts')).toContain("{ name: 'age', type: 'integer', ");
  });

  test('with a merge conflict in a file of the same name keeps our side, and writes what theirs had beyond', async () => {
    const { shop, next, migrations } = await startFiles(USER);
    await next(AGE);
    const path = 'migrations/0002_add_users_age.ts';
    const ours = shop.read(path);
    const body = ours.slice(ours.indexOf('\n') + 1);
    const theirs = body.replaceAll('age', 'rank');
    shop.write(
      path,
      `${ours.slice(0, ours.indexOf('\n') + 1)}<<<<<<< HEAD\n${body}=======\n${theirs}>>>>>>> left\n`,
    );
    await next(AGE.replace('age: Int', 'age: Int rank: Int'));
    expect(shop.read(path)).toBe(ours);
    expect(migrations().at(-1)).toBe('migrations/0003_add_users_rank.ts');
  });

  test('of SQL by hand asks what it leaves, once, and takes the answer', async () => {
    const { shop, next, migrations } = await startFiles(USER);
    const own = 'migrations/0002_own.ts';
    shop.write(
      own,
      "import { type Kysely, sql } from '@twofold/runtime';\n\nexport async function up(db: Kysely<any>): Promise<void> {\n  await sql`alter table users add column age integer`.execute(db);\n}\n",
    );
    const { findings } = await next(AGE);
    expect(findings).toMatchObject([{ code: 'MIGRATION_UNREADABLE', at: { file: own, line: 4 } }]);
    const leaves = /export const leaves = \[[^]*\];/.exec(findings[0]!.fix!)![0];
    shop.write(own, `${leaves}\n\n${shop.read(own)}`);
    expect(codes(await next(AGE))).toEqual([]);
    expect(migrations()).toHaveLength(2);
    await next(AGE.replace('age: Int', 'age: Int! @default(value: 3)'));
    expect(migrations()[2]).toBe('migrations/0003_change_users_age.ts');
  });
});

test('consent to a loss is written into the migration that needs it, new or already there', async () => {
  const rated = 'type User { id: ID! rating: Float } type Query { users: [User!]! }';
  const { shop, next } = await startFiles(rated);
  const whole = rated.replace('Float', 'Int');
  expect(codes(await next(whole))).toEqual(['MIGRATION_CHECKS_ROWS']);
  const path = 'migrations/0002_change_users_rating.ts';
  expect(shop.read(path)).toMatch(
    /before: { name: 'rating', type: 'real',[^]*after: { name: 'rating', type: 'integer',/,
  );
  expect(shop.read(path)).not.toContain('allowLoss');
  await next(whole, { allowLoss: ['User.rating'] });
  const consented = shop.read(path);
  expect(consented).toContain(
    "\n\nexport const allowLoss = ['users.rating'];\n\nexport const steps",
  );
  rmSync(shop.path(path));
  expect(codes(await next(whole, { allowLoss: ['users.rating'] }))).toEqual([]);
  expect(shop.read(path)).toBe(consented);
});

test('another kind of key is refused, and either fix works', async () => {
  const { shop } = await startFiles(USER);
  shop.write('manifest.yaml', 'name: shop\ndatabase: { ids: uuid }\n');
  expect((await run(shop.root, {}, disk)).findings).toMatchObject([
    {
      code: 'IDS_CHANGED',
      fix: expect.stringMatching(
        /^database: { ids: integer } {3}or, .* delete the folder migrations/,
      ),
    },
  ]);
  rmSync(shop.path('migrations'), { recursive: true });
  expect(codes(await run(shop.root, {}, disk))).toEqual([]);
  expect(shop.read('migrations/0001_init.ts')).toContain('uuid');
});
