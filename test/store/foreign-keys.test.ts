import { sql } from 'kysely';
import { describe, expect, it } from 'vitest';
import { alterTable } from '../../runtime/core/store/tables/altering.ts';
import { catalogSource, readCatalog } from '../../runtime/database/catalog/read-catalog.ts';
import { migrate } from '../../runtime/database/migrations/migrate.ts';
import type { Migration } from '../../runtime/core/store/migrations/migration.ts';
import { planMigrations } from '../../runtime/database/plan/plan-migrations.ts';
import type { Store } from '../../runtime/core/store/store.ts';
import { databases } from './databases.ts';

const SETTINGS = { lockTimeout: 2_000, onlineFrom: 1 };
const TABLES: Migration = {
  name: '0001_tables',
  text: '1',
  up: async (db) => {
    await sql`create table region (country text not null, code text not null, primary key (country, code))`.execute(
      db,
    );
    await sql`create table city (id integer primary key, country text, region text)`.execute(db);
  },
};
const KEY: Migration = {
  name: '0002_key',
  text: '2',
  up: async (db) => {
    const target = { table: 'region', references: ['country', 'code'], onDelete: 'cascade' };
    await alterTable(db, 'city')
      .addForeignKey(['country', 'region'], target as never)
      .execute();
  },
  down: (db) => alterTable(db, 'city').dropForeignKey(['country', 'region']).execute(),
};

for (const { name, missing, create } of databases) {
  describe.skipIf(missing !== null)(
    `a foreign key of several columns on ${name}${missing ? ` (${missing})` : ''}`,
    () => {
      it('is refused while rows lead nowhere, and made when they do not', async () => {
        const { store, drop } = await create();
        try {
          await migrate(store, [TABLES], { settings: SETTINGS });
          await sql`insert into region values ('DE', 'BY')`.execute(store.db);
          await sql`insert into city values (1, 'DE', 'BY'), (2, 'DE', 'XX'), (3, 'AT', null)`.execute(
            store.db,
          );
          const [plan] = (await planMigrations(store, [[TABLES, KEY]], SETTINGS)).slice(-1);
          expect(plan!.steps).toMatchObject([
            { does: 'reference', verdict: 'impossible', atRisk: 1, keys: ['2'], rows: 3 },
          ]);
          await expect(migrate(store, [TABLES, KEY], { settings: SETTINGS })).rejects.toMatchObject(
            {
              code: 'ROWS_IN_THE_WAY',
              message: expect.stringMatching(
                /1 of 3 rows of city lead nowhere[^]*delete \S+ in migrations\/, which no database has applied/,
              ),
            },
          );
          expect(await keysOf(store)).toEqual([]);
          await sql`delete from city where id = 2`.execute(store.db);
          await migrate(store, [TABLES, KEY], { settings: SETTINGS });
          expect(await keysOf(store)).toEqual([
            {
              columns: ['country', 'region'],
              table: expect.objectContaining({ name: 'region' }),
              references: ['country', 'code'],
              onDelete: 'cascade',
            },
          ]);
          await sql`delete from region`.execute(store.db);
          const { rows } = await sql`select id from city`.execute(store.db);
          expect(rows).toEqual([{ id: 3 }]);
          await store.structuralTransaction((trx) => KEY.down!(trx, store));
          expect(await keysOf(store)).toEqual([]);
        } finally {
          await drop();
        }
      });
    },
  );
}

async function keysOf(store: Store) {
  const { tables } = await readCatalog(catalogSource(store.db));
  return tables
    .find((table) => table.name === 'city')!
    .foreignKeys.map(({ columns, table, references, onDelete }) => ({
      columns,
      table,
      references,
      onDelete,
    }));
}
