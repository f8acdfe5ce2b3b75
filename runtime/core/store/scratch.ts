import { randomBytes } from 'node:crypto';
import { type Kysely, sql } from 'kysely';
import type { Catalog } from './catalog/catalog.ts';
import { catalogSource, readCatalog } from './catalog/read-catalog.ts';
import type { Migration } from './migration.ts';
import { sqliteStore } from './sqlite-store.ts';
import type { Dialect, Store } from './store.ts';

/** Thrown to roll back what was only tried out. */
const DONE = Symbol('seen');

/**
 * The catalog that migrations make of an empty database. They are run for that: on SQLite in
 * memory, on PostgreSQL in a schema of their own that no other connection ever sees.
 */
export async function catalogAfter(
  store: Store,
  migrations: readonly Migration[],
): Promise<Catalog> {
  return store.dialect === 'sqlite' ? inMemory(migrations) : inSchema(store, migrations);
}

async function inMemory(migrations: readonly Migration[]): Promise<Catalog> {
  const memory = sqliteStore(':memory:');
  try {
    await memory.structuralTransaction((trx) => runAll(trx, 'sqlite', migrations));
    return await readCatalog(catalogSource(memory.db));
  } finally {
    await memory.close();
  }
}

async function inSchema(store: Store, migrations: readonly Migration[]): Promise<Catalog> {
  const schema = `twofold_scratch_${randomBytes(6).toString('hex')}`;
  let catalog: Catalog | null = null;
  await store
    .structuralTransaction(async (trx) => {
      await sql`create schema ${sql.id(schema)}`.execute(trx);
      await sql`set local search_path to ${sql.id(schema)}`.execute(trx);
      await runAll(trx, 'postgres', migrations);
      catalog = await readCatalog(catalogSource(trx), { schemas: [schema] });
      throw DONE;
    })
    .catch((error: unknown) => {
      if (error !== DONE) throw error;
    });
  return catalog!;
}

async function runAll(
  db: Kysely<any>,
  dialect: Dialect,
  migrations: readonly Migration[],
): Promise<void> {
  for (const { up } of migrations) await up(db, { dialect });
}
