import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { sql } from 'kysely';
import { createDriftReader } from '../../runtime/database/migrations/baseline.ts';
import { migrate } from '../../runtime/database/migrations/migrate.ts';
import type { Migration } from '../../runtime/core/store/migrations/migration.ts';
import { openStore } from '../../runtime/core/store/open-store.ts';
import type { Store } from '../../runtime/core/store/store.ts';
import { databases, type TestDatabase } from './databases.ts';

/** A migration that makes a table, and counts how often it runs. */
function counted(name: string, table: string): Migration & { readonly runs: () => number } {
  let runs = 0;
  const up: Migration['up'] = async (db) => {
    runs += 1;
    await db.schema.createTable(table).addColumn('id', 'integer').execute();
  };
  return { name, text: table, up, runs: () => runs };
}

describe.each(databases)('the drift of a database on $name', ({ name, create }) => {
  let database: TestDatabase;
  const first = counted('0001_notes', 'notes');
  const second = counted('0002_more', 'more');
  beforeAll(async () => {
    database = await create();
    await migrate(database.store, [first]);
  });
  afterAll(() => database?.drop());

  it('runs the migrations once as long as the same ones are applied, and reads the tables each time', async () => {
    const { store } = database;
    const driftOf = createDriftReader(store);
    const before = first.runs();
    expect(await Promise.all([driftOf([[first]]), driftOf([[first]])])).toEqual([[], []]);
    await store.db.schema.alterTable('notes').addColumn('extra', 'text').execute();
    expect(await driftOf([[first]])).toMatchObject([{ object: 'notes.extra' }]);
    expect(first.runs()).toBe(before + 1);
    await migrate(store, [first, second]);
    await store.db.schema.dropTable('more').execute();
    expect(await driftOf([[first, second]])).toMatchObject([
      { object: 'more', kind: 'missing' },
      { object: 'notes.extra', kind: 'extra' },
    ]);
  });

  // Only PostgreSQL has roles.
  if (name === 'PostgreSQL')
    it('says what a role lacks that may not create a schema, and answers once it may', async () => {
      const role = `r_${randomBytes(6).toString('hex')}`;
      const { db } = database.store;
      const limited = await signInAs(database, role);
      try {
        const driftOf = createDriftReader(limited);
        await expect(driftOf([[first, second]])).rejects.toMatchObject({
          status: 409,
          message: expect.stringMatching(/may not create a schema.*grant it "create"/),
        });
        const { pathname } = new URL(database.url);
        await sql`grant create on database ${sql.id(pathname.slice(1))} to ${sql.id(role)}`.execute(
          db,
        );
        expect(await driftOf([[first, second]])).toHaveLength(2);
      } finally {
        await limited.close();
        await sql`drop owned by ${sql.id(role)}`.execute(db);
        await sql`drop role ${sql.id(role)}`.execute(db);
      }
    });
});

/** A store whose role may read every table, and make none. */
async function signInAs({ store, url }: TestDatabase, role: string): Promise<Store> {
  const password = randomBytes(9).toString('hex');
  await sql`create role ${sql.id(role)} login password ${sql.lit(password)}`.execute(store.db);
  await sql`grant select on all tables in schema public to ${sql.id(role)}`.execute(store.db);
  return openStore(Object.assign(new URL(url), { username: role, password }).href, '.');
}
