import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { importDatabase } from '../../generator/import/database/import-database.ts';
import { printSchema } from '../../generator/import/print-schema.ts';
import { catalogOfDatabase } from '../../runtime/database/catalog-of-database.ts';
import { databases } from '../store/databases.ts';
import { type Adopted, emptyDatabase, execute, serve } from './start.ts';

const TABLES = [
  'create table animal (id integer primary key, name text not null)',
  'create table cat (id integer primary key references animal (id), lives integer not null default 9)',
  'create table dog (animal_id integer primary key references animal (id), barks integer)',
  'create table puppy (dog_id integer primary key references dog (animal_id) on delete cascade, age integer)',
  'create table collar (id integer primary key, worn_by integer not null unique references animal (id))',
  'create table egg (id integer primary key references egg (id), size integer)',
  'create table visit (id integer, day date, cost integer, primary key (id, day), foreign key (id) references cat (id))',
  "insert into animal values (1, 'Tom'), (2, 'Rex'), (3, 'Sid')",
  'insert into cat (id) values (1)',
  'insert into dog values (2, 5)',
  'insert into puppy values (2, 1)',
  'insert into collar values (7, 3)',
  "insert into visit values (1, '2026-01-02', 30)",
];

const MANIFEST = 'name: adopted\ndatabase: { managed: false }\napi: { rest: true, crud: true }\n';

describe.each(databases)('a key that is a foreign key, on $name', ({ name, missing }) => {
  let theirs: Awaited<ReturnType<typeof emptyDatabase>>;
  let sdl: string;
  let api: Adopted;
  beforeAll(async () => {
    if (missing) return;
    theirs = await emptyDatabase(name === 'PostgreSQL' ? 'postgres' : 'sqlite');
    await execute(theirs.url, TABLES);
    const catalog = await catalogOfDatabase({ url: theirs.url, root: '/' });
    const imported = importDatabase(catalog, () => true);
    sdl = printSchema(imported, true);
    api = await serve(theirs.url, sdl, MANIFEST);
  });
  afterAll(async () => {
    await api?.close();
    await theirs?.drop();
  });
  const data = async (text: string) => (await api.query(text)).data;
  const run = missing ? it.skip : it;

  run('is imported as a relation to one row at both ends', () => {
    expect(sdl).toContain(`type Cat @table(name: "cat", key: ["animal"]) {
  id: ID!
  animal: Animal! @relation(column: "id")
  lives: Int! @default(expr: DATABASE)
  visits: [Visit!]!
}`);
    expect(sdl).toContain(
      'type Dog @table(name: "dog", key: ["animal"]) {\n  id: ID!\n  animal: Animal!\n',
    );
    expect(sdl).toContain(
      '  cat: Cat\n  collar: Collar @relation(inverse: "wornBy")\n  dog: Dog\n}',
    );
    // A key that refers to itself would have no value to begin with.
    expect(sdl).toMatch(/type Egg @table\(name: "egg"\) \{\n {2}id: ID!.*\n {2}size: Int\n\}/);
  });

  run('is read in both directions, filtered and ordered by', async () => {
    const down =
      '{ animals(orderBy: [{ name: ASC }]) { name cat { id lives } dog { id barks puppy { id age } } } }';
    expect(await data(down)).toEqual({
      animals: [
        { name: 'Rex', cat: null, dog: { id: '2', barks: 5, puppy: { id: '2', age: 1 } } },
        { name: 'Sid', cat: null, dog: null },
        { name: 'Tom', cat: { id: '1', lives: 9 }, dog: null },
      ],
    });
    expect(await data('{ animal(id: "3") { collar { id wornBy { name } } } }')).toEqual({
      animal: { collar: { id: '7', wornBy: { name: 'Sid' } } },
    });
    expect(await data('{ cat(id: "1") { visits { day cost cat { lives } } } }')).toEqual({
      cat: { visits: [{ day: '2026-01-02', cost: 30, cat: { lives: 9 } }] },
    });
    const up =
      '{ cat(id: "1") { animal { name cat { id } } } puppies { dog { animal { name } } } }';
    expect(await data(up)).toEqual({
      cat: { animal: { name: 'Tom', cat: { id: '1' } } },
      puppies: [{ dog: { animal: { name: 'Rex' } } }],
    });
    const found =
      '{ cats(where: { animal: { name: { eq: "Tom" } } }) { id } animals(where: { dog: { barks: { gt: 4 } } }) { id } }';
    expect(await data(found)).toEqual({ cats: [{ id: '1' }], animals: [{ id: '2' }] });
  });

  run('is written by GraphQL and REST', async () => {
    const made = await data(
      'mutation { createCat(input: { animalId: "3", lives: 7 }) { id animal { name } } }',
    );
    expect(made).toEqual({ createCat: { id: '3', animal: { name: 'Sid' } } });
    expect(await api.rest('GET', '/api/cats/3')).toMatchObject({
      status: 200,
      body: { id: '3', lives: 7 },
    });
    expect(await api.rest('PATCH', '/api/cats/3', { lives: 6 })).toMatchObject({ status: 200 });
    expect(await data('{ animal(id: "3") { cat { lives } } }')).toEqual({
      animal: { cat: { lives: 6 } },
    });
    expect((await api.rest('DELETE', '/api/cats/3')).status).toBeLessThan(300);
    expect(await data('{ animal(id: "3") { cat { lives } } }')).toEqual({
      animal: { cat: null },
    });
  });

  run('is made by a server of our own tables, which takes the key from the caller', async () => {
    const own = await emptyDatabase(name === 'PostgreSQL' ? 'postgres' : 'sqlite');
    const server = await serve(own.url, OWN, 'name: own\napi: { crud: true }\n');
    try {
      const ask = async (text: string) => (await server.query(text)).data;
      await ask('mutation { createAnimal(input: { name: "Tom" }) { id } }');
      expect(await ask('mutation { createCat(input: { animalId: "1" }) { id } }')).toEqual({
        createCat: { id: '1' },
      });
      expect(await ask('{ animal(id: "1") { cat { lives animal { name } } } }')).toEqual({
        animal: { cat: { lives: 9, animal: { name: 'Tom' } } },
      });
      // No animal has this key.
      const { errors } = await server.query(
        'mutation { createCat(input: { animalId: "5" }) { id } }',
      );
      expect(errors).toHaveLength(1);
    } finally {
      await server.close();
      await own.drop();
    }
  });
});

const OWN = `
type Animal { id: ID! name: String! cat: Cat }
type Cat @table(key: ["animal"]) { id: ID! animal: Animal! @relation(column: "id") lives: Int! @default(value: 9) }
`;
