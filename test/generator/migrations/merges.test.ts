import { execFileSync } from 'node:child_process';
import { rmSync } from 'node:fs';
import { afterEach, describe, expect, test } from 'vitest';
import { run } from '../../../generator/pipeline.ts';
import { disk } from '../../../generator/write/disk.ts';
import { migrate } from '../../../runtime/database/migrations/migrate.ts';
import { assertTables } from '../../../runtime/core/store/tables/missing-columns.ts';
import type { Migration } from '../../../runtime/core/store/migrations/migration.ts';
import type { Store } from '../../../runtime/core/store/store.ts';
import { buildTables, type Project } from '../../../schema/index.ts';
import { databases } from '../../store/databases.ts';
import { makeProject, type TestProject } from '../project.ts';
import { createRandom, type Random } from '../random.ts';
import { evaluateMigration } from './run-migration.ts';
import { readStructure } from './structure.ts';

/** MIGRATION_MERGES=100 for a long run; the seed of a failure is in its title. */
const MERGES = Number(process.env['MIGRATION_MERGES'] ?? 5);

const made: TestProject[] = [];
afterEach(() => made.splice(0).forEach((each) => each.remove()));

/** Types with their fields: what the two branches change. */
type Model = Readonly<Record<string, readonly string[]>>;

const START: Model = {
  User: ['name: String!', 'town: String'],
  Post: ['title: String!', 'rating: Float', 'note: String'],
};

const FIELDS = [
  'String',
  'Int',
  'Float',
  'Boolean',
  'DateTime',
  'Int! @default(value: 7)',
  'Int! @default(value: 3)',
];

/** One to three changes of a branch; `side` keeps the names of the two apart, but for those that both give on purpose. */
function change(model: Model, side: string, random: Random): Model {
  let changed = model;
  for (let times = 1 + random.whole(3); times > 0; times--) {
    const type = random.pick(Object.keys(changed));
    const name = `${side}${times}`;
    const fields = changed[type]!;
    changed = random.pick([
      () => ({ ...changed, [type]: [...fields, `${name}: ${random.pick(FIELDS)}`] }),
      () => ({ ...changed, [type]: [...fields, `both: ${random.pick(['Int', 'String'])}`] }),
      () => ({ ...changed, [`${side.toUpperCase()}${times}`]: ['label: String', 'user: User'] }),
      () => ({
        ...changed,
        [type]: fields.map((each) => each.replace(/^(note: )String$/, '$1String @unique')),
      }),
    ])();
  }
  return changed;
}

/** What a person makes of a conflict in the schema: the fields of both, one of each name. */
function union(left: Model, right: Model): Model {
  const types = [...new Set([...Object.keys(left), ...Object.keys(right)])];
  return Object.fromEntries(
    types.map((type) => [type, byName([...(left[type] ?? []), ...(right[type] ?? [])])]),
  );
}

function byName(fields: readonly string[]): string[] {
  return [...new Map(fields.map((field) => [field.split(':')[0], field])).values()];
}

function print(model: Model): string {
  const types = Object.entries(model).map(
    ([name, fields]) =>
      `type ${name} {\n  id: ID!\n${byName(fields)
        .map((each) => `  ${each}\n`)
        .join('')}}\n`,
  );
  return `scalar DateTime\n\n${types.join('\n')}\ntype Query {\n  hello: String\n}\n`;
}

function git(shop: TestProject, ...args: string[]): string {
  return execFileSync(
    'git',
    ['-c', 'user.name=a', '-c', 'user.email=a@b.c', '-c', 'init.defaultBranch=main', ...args],
    {
      cwd: shop.root,
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'pipe'],
    },
  );
}

async function save(shop: TestProject, model: Model, message: string): Promise<void> {
  shop.write('schema.graphql', print(model));
  const { findings } = await run(shop.root, {}, disk);
  expect(findings.filter(({ severity }) => severity === 'error')).toEqual([]);
  git(shop, 'add', '-A');
  git(shop, 'commit', '-q', '-m', message, '--allow-empty');
}

/** The migrations on disk, as a server applies them. */
function migrationsOf(shop: TestProject): Migration[] {
  return Object.entries(shop.files())
    .filter(([path]) => /^migrations\/\d.*\.ts$/.test(path))
    .map(([path, text]) => ({
      name: path.slice('migrations/'.length, -'.ts'.length),
      text,
      ...evaluateMigration(text),
    }));
}

/** Merges the branch left into main, solves the schema as a person does, and runs. */
async function mergeAndRun(shop: TestProject, merged: Model): Promise<Project> {
  try {
    git(shop, 'merge', '-q', '-m', 'merge', 'left');
  } catch {
    // What is in conflict is left as git leaves it; only the schema is a person's to solve.
  }
  shop.write('schema.graphql', print(merged));
  const { project, findings } = await run(shop.root, {}, disk);
  expect(findings.filter(({ severity }) => severity === 'error')).toEqual([]);
  const again = await run(shop.root, {}, disk);
  expect(again.changes.filter(({ kind }) => kind !== 'same')).toEqual([]);
  return project!;
}

async function fillRows(store: Store, names: readonly string[]): Promise<void> {
  for (const name of names) await store.db.insertInto('users').values({ name }).execute();
  await store.db.insertInto('posts').values({ title: 'kept', rating: 2.5 }).execute();
}

for (const { name, missing, create } of databases) {
  describe.skipIf(missing !== null)(
    `two branches that are merged, on ${name}${missing ? ` (${missing})` : ''}`,
    () => {
      test.each(Array.from({ length: MERGES }, (_, at) => at + 1))(
        'seed %i end in a database with all columns, new and on the one that main had',
        async (seed) => {
          const random = createRandom(seed * 7919);
          const shop = makeProject({ 'manifest.yaml': 'name: shop\n' });
          made.push(shop);
          const [fresh, grown] = [await create(), await create()];
          try {
            git(shop, 'init', '-q');
            await save(shop, START, 'base');
            git(shop, 'checkout', '-qb', 'left');
            const left = change(START, 'left', random);
            await save(shop, left, 'left');
            git(shop, 'checkout', '-q', 'main');
            const right = change(START, 'right', random);
            await save(shop, right, 'right');
            await migrate(grown.store, migrationsOf(shop));
            await fillRows(grown.store, ['ann', 'bob']);
            const project = await mergeAndRun(shop, union(right, left));
            for (const { store } of [fresh, grown]) {
              await migrate(store, migrationsOf(shop));
              await assertTables(store, buildTables(project));
            }
            expect(await readStructure(grown.store)).toEqual(await readStructure(fresh.store));
            expect(
              await grown.store.db.selectFrom('users').select('name').orderBy('id').execute(),
            ).toEqual([{ name: 'ann' }, { name: 'bob' }]);
          } finally {
            await Promise.all([fresh.drop(), grown.drop()]);
          }
        },
      );
    },
  );
}

test('a side file of an older project goes, and nothing is written twice', async () => {
  const shop = makeProject({ 'manifest.yaml': 'name: shop\n' });
  made.push(shop);
  git(shop, 'init', '-q');
  await save(shop, START, 'base');
  shop.write('migrations/tables.txt', '<<<<<<< HEAD\na\n=======\nb\n>>>>>>> left\n');
  shop.write(
    'generator.lock',
    `${shop.read('generator.lock')}generated migrations/tables.txt 00\n`,
  );
  await run(shop.root, {}, disk);
  expect(Object.keys(shop.files()).filter((path) => path.startsWith('migrations/'))).toEqual([
    'migrations/0001_init.ts',
  ]);
  rmSync(shop.path('.git'), { recursive: true });
});
