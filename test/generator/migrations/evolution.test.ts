import { afterEach, describe, expect, test } from 'vitest';
import { type Plan, run, type RunOptions } from '../../../generator/pipeline.ts';
import { disk } from '../../../generator/write/disk.ts';
import type { Store } from '../../../runtime/store/store.ts';
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
  const evolve = async (next: string, options: RunOptions = {}): Promise<Plan> => {
    shop.write('schema.graphql', next);
    const plan = await run(shop.root, options, disk);
    for (const path of Object.keys(shop.files()).filter(
      (each) => /^migrations\/\d/.test(each) && !applied.has(each),
    )) {
      applied.add(path);
      await store.structuralTransaction((trx) => evaluateMigration(shop.read(path)).up(trx));
    }
    return plan;
  };
  await evolve(schema);
  return { shop, evolve };
}

const codes = ({ findings }: Plan) => findings.map(({ code }) => code);

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
          await expect(plan).rejects.toMatchObject({ code: 'MIGRATION_NEEDS_VALUE' });
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

test('a snapshot with a merge conflict in it is a finding', async () => {
  const shop = makeProject({
    'schema.graphql': 'type User { id: ID! } type Query { users: [User!]! }',
    'manifest.yaml': 'name: shop\n',
  });
  made.push(shop);
  await run(shop.root, {}, disk);
  shop.write(
    'migrations/tables.txt',
    `${shop.read('migrations/tables.txt')}<<<<<<< HEAD\n=======\n>>>>>>> other\n`,
  );
  expect(codes(await run(shop.root, {}, disk))).toEqual(['SNAPSHOT_BROKEN']);
});
