import { rmSync } from 'node:fs';
import { pathToFileURL } from 'node:url';
import { afterEach, describe, expect, test } from 'vitest';
import { saveDraft } from '../../generator/migrations/save-draft.ts';
import { run, type RunOptions } from '../../generator/pipeline.ts';
import { disk } from '../../generator/write/disk.ts';
import { loadMigrations } from '../../runtime/database/migrations/load-migrations.ts';
import { migrate, migrationStatus } from '../../runtime/database/migrations/migrate.ts';
import { databases, type TestDatabase } from '../store/databases.ts';
import { readStructure } from './migrations/structure.ts';
import { linkPackages, makeProject, type TestProject } from './project.ts';
import { createRandom, type Random } from './random.ts';

const SCHEMA = `scalar Decimal
scalar DateTime

type User {
  id: ID!
  name: String!
}

type Query {
  users: [User!]!
}
`;

const made: TestProject[] = [];
const opened: TestDatabase[] = [];
afterEach(async () => {
  await Promise.all(opened.splice(0).map((each) => each.drop()));
  made.splice(0).forEach((each) => each.remove());
});

async function makeShop(create: (root?: string) => Promise<TestDatabase>) {
  const shop = makeProject({ 'schema.graphql': SCHEMA, 'manifest.yaml': 'name: shop\n' });
  linkPackages(shop);
  made.push(shop);
  const database = await create(shop.root);
  opened.push(database);
  const notes: string[] = [];
  const load = () => loadMigrations(pathToFileURL(`${shop.path('migrations')}/`));
  const follow = {
    root: shop.root,
    newest: true,
    gone: true,
    note: (done: string, name: string) => void notes.push(`${done} ${name}`),
  };
  const shopAs = {
    shop,
    database,
    notes,
    load,
    files: () =>
      Object.keys(shop.files())
        .filter((path) => path.startsWith('migrations/'))
        .map((path) => path.slice('migrations/'.length)),
    generate: async (fields: string | null, options: RunOptions = {}) => {
      if (fields !== null)
        shop.write('schema.graphql', SCHEMA.replace('name: String!', `name: String!\n${fields}`));
      return run(shop.root, options, disk);
    },
    /** What `dev` does on a save, and the server at its start. */
    save: async (fields: string) => {
      const plan = await shopAs.generate(fields, { draft: true });
      expect(plan.findings.filter(({ severity }) => severity === 'error')).toEqual([]);
      return migrate(database.store, await load(), { follow });
    },
    start: async () => migrate(database.store, await load(), { follow }),
  };
  await shopAs.generate(null);
  await shopAs.start();
  return shopAs;
}

for (const { name, missing, create } of databases) {
  describe.skipIf(missing !== null)(`drafts on ${name}${missing ? ` (${missing})` : ''}`, () => {
    test('are one file that each save writes again, and the values of rows stay', async () => {
      const { database, files, save } = await makeShop(create);
      const { db } = database.store;
      await save('  ratng: Float');
      expect(files()).toEqual(['0001_init.ts', '0002_draft.ts']);
      await db.insertInto('users').values({ name: 'ann', ratng: 7.5 }).execute();
      await save('  rating: Float');
      expect(await db.selectFrom('users').select('rating').execute()).toEqual([{ rating: 7.5 }]);
      await save('  rating: Float\n  town: String @unique');
      expect(files()).toEqual(['0001_init.ts', '0002_draft.ts']);
      expect(await db.selectFrom('users').selectAll().execute()).toEqual([
        { id: 1, name: 'ann', rating: 7.5, town: null },
      ]);
    });

    test('are gone when the schema is as it was saved, and their values are rescued', async () => {
      const { shop, database, files, notes, save } = await makeShop(create);
      const before = await readStructure(database.store);
      await save('  rating: Float');
      await database.store.db.insertInto('users').values({ name: 'ann', rating: 7.5 }).execute();
      await save('');
      expect(files()).toEqual(['0001_init.ts']);
      expect(await readStructure(database.store)).toEqual(before);
      const [, file = ''] = notes.at(-1)!.split(' ');
      expect(shop.read(file)).toBe('{"id":1,"rating":7.5}\n');
    });

    test('that were edited by hand are yours: they are applied as they stand and never rewritten', async () => {
      const { shop, database, files, load, save } = await makeShop(create);
      await save('  rating: Float');
      const mine = shop.read('migrations/0002_draft.ts').replaceAll("'rating'", "'stars'");
      shop.write('migrations/0002_draft.ts', `${mine}// mine\n`);
      await save('  stars: Float');
      expect(
        Object.values(await readStructure(database.store))
          .flat()
          .join(),
      ).toContain('stars');
      await save('  stars: Float\n  town: String');
      expect(files()).toEqual(['0001_init.ts', '0002_draft.ts', '0003_draft.ts']);
      expect(shop.read('migrations/0002_draft.ts')).toContain('// mine');
      expect(await migrationStatus(database.store, await load())).toMatchObject({
        applied: ['0001_init', '0002_draft', '0003_draft'],
        draft: ['0003_draft'],
      });
    });

    test('are saved by "migrate save" and by "generate", and no database runs them again', async () => {
      const { shop, database, files, save, start, generate } = await makeShop(create);
      await save('  rating: Float');
      await database.store.db.insertInto('users').values({ name: 'ann', rating: 7.5 }).execute();
      expect(await saveDraft(shop.root, {})).toBe('migrations/0002_add_users_rating.ts');
      expect(await saveDraft(shop.root, {})).toBe(null);
      expect(await start()).toEqual([]);
      await save('  rating: Float\n  town: String');
      await generate('  rating: Float\n  town: String\n  age: Int');
      expect(files()).toEqual([
        '0001_init.ts',
        '0002_add_users_rating.ts',
        '0003_add_users_town.ts',
      ]);
      await start();
      expect(await database.store.db.selectFrom('users').selectAll().execute()).toEqual([
        { id: 1, name: 'ann', rating: 7.5, town: null, age: null },
      ]);
      expect((await generate(null)).changes.every(({ kind }) => kind === 'same')).toBe(true);
    });

    test('come to no guarded database', async () => {
      const { shop, database, load } = await makeShop(create);
      shop.write('schema.graphql', SCHEMA.replace('name: String!', 'name: String!\n  age: Int'));
      await run(shop.root, { draft: true }, disk);
      await expect(migrate(database.store, await load(), { guarded: true })).rejects.toMatchObject({
        code: 'MIGRATION_DRAFT',
        message: expect.stringMatching(/0002_draft[^]*migrate -- save/) as string,
      });
    });

    test(`acceptance 1: after ${SAVES} saves with slips there is one draft; saved, it makes what a fresh project of the last schema makes`, async () => {
      const { shop, database, files, save } = await makeShop(create);
      const random = createRandom(Number(process.env['DRAFT_SEED'] ?? 1));
      let fields: Field[] = [];
      for (let at = 0; at < SAVES; at++) {
        fields = changeFields(fields, random);
        await save(printFields(fields));
        expect(files().filter((path) => path !== '0001_init.ts').length).toBeLessThanOrEqual(1);
        const values = Object.fromEntries(fields.map((field) => [field.column, valueOf(field)]));
        await database.store.db
          .insertInto('users')
          .values({ name: `n${at}`, ...values })
          .execute();
      }
      expect(await database.store.db.selectFrom('users').select('name').execute()).toHaveLength(
        SAVES,
      );
      await saveDraft(shop.root, {});
      const fresh = await makeShop(create);
      rmSync(fresh.shop.path('migrations'), { recursive: true });
      await fresh.generate(printFields(fields));
      const other = await create();
      opened.push(other);
      await migrate(other.store, await fresh.load());
      expect(await readStructure(database.store)).toEqual(await readStructure(other.store));
      const third = await create();
      opened.push(third);
      await migrate(
        third.store,
        await loadMigrations(pathToFileURL(`${shop.path('migrations')}/`)),
      );
      expect(await readStructure(third.store)).toEqual(await readStructure(other.store));
    });
  });
}

/** DRAFT_SAVES and DRAFT_SEED make a longer or another run. */
const SAVES = Number(process.env['DRAFT_SAVES'] ?? 50);

interface Field {
  readonly column: string;
  readonly type: string;
  readonly more: string;
}

const TYPES = ['String', 'Int', 'Float', 'Boolean', 'DateTime', 'Decimal'];

const DETAILS: Readonly<Record<string, string>> = {
  Int: '! @default(value: 3)',
  String: ' @constraint(maxLength: 20)',
};

/** A new field, a corrected slip in a name or a type, a field taken back, or another detail of one. */
function changeFields(fields: readonly Field[], random: Random): Field[] {
  const slip = random.whole(5);
  const at = random.whole(Math.max(1, fields.length));
  const field = fields[at];
  if (!field || slip === 0)
    return [...fields, { column: `f${random.whole(1e6)}`, type: random.pick(TYPES), more: '' }];
  const replaced = (other: Field) => fields.map((each) => (each === field ? other : each));
  if (slip === 1) return replaced({ ...field, column: `f${random.whole(1e6)}` });
  if (slip === 2)
    return replaced({ ...field, more: field.more === '' ? (DETAILS[field.type] ?? '') : '' });
  if (slip === 3) return fields.filter((each) => each !== field);
  const wider = { Int: 'Float', Float: 'String', Boolean: 'String' }[field.type];
  return wider ? replaced({ ...field, type: wider, more: '' }) : [...fields];
}

function printFields(fields: readonly Field[]): string {
  return fields.map(({ column, type, more }) => `  ${column}: ${type}${more}`).join('\n');
}

function valueOf({ type }: Field): unknown {
  const values = { String: 'a', Int: 7, Float: 7.5, Boolean: true, Decimal: '1.25' } as const;
  return values[type as keyof typeof values] ?? '2026-01-02T03:04:05.000Z';
}
