import { randomBytes } from 'node:crypto';
import { type Kysely, sql, type Transaction } from 'kysely';
import { failure } from '@twofold/runtime/errors';
import { type Migration, sqliteStore, type Store, type Undo } from '@twofold/runtime/store';
import type { Catalog } from '../catalog/catalog.ts';
import { catalogSource, readCatalog } from '../catalog/read-catalog.ts';
import { recordUndo } from './record-undo.ts';

/** Thrown to roll back a trial run. */
const DONE = Symbol('seen');

/**
 * The catalog that migrations make of an empty database. They are run for that: on SQLite in
 * memory, on PostgreSQL in a schema of their own that no other connection ever sees.
 */
export function catalogAfter(store: Store, migrations: readonly Migration[]): Promise<Catalog> {
  return inScratch(store, async (trx, schemas) => {
    for (const { up } of migrations) await up(trx, { dialect: store.dialect });
    return readCatalog(catalogSource(trx), schemas);
  });
}

/** How to undo each of the migrations, recorded right after it ran on an empty database. */
export function undosOf(
  store: Store,
  migrations: readonly Migration[],
): Promise<ReadonlyMap<string, Undo | null>> {
  const { dialect } = store;
  return inScratch(store, async (trx) => {
    const undos = new Map<string, Undo | null>();
    for (const migration of migrations) {
      await migration.up(trx, { dialect });
      undos.set(migration.name, await recordUndo({ dialect, trx }, migration));
    }
    return undos;
  });
}

type Work<T> = (
  trx: Transaction<any> & Kysely<any>,
  schemas: { readonly schemas?: readonly string[] },
) => Promise<T>;

function inScratch<T>(store: Store, work: Work<T>): Promise<T> {
  return store.dialect === 'sqlite' ? inMemory(work) : inSchema(store, work);
}

async function inMemory<T>(work: Work<T>): Promise<T> {
  const memory = sqliteStore(':memory:');
  try {
    return await memory.structuralTransaction((trx) => work(trx, {}));
  } finally {
    await memory.close();
  }
}

async function inSchema<T>(store: Store, work: Work<T>): Promise<T> {
  const schema = `twofold_scratch_${randomBytes(6).toString('hex')}`;
  let result: T | undefined;
  await store
    .structuralTransaction(async (trx) => {
      await sql`create schema ${sql.id(schema)}`.execute(trx).catch(refuseSchema);
      await sql`set local search_path to ${sql.id(schema)}`.execute(trx);
      result = await work(trx, { schemas: [schema] });
      throw DONE;
    })
    .catch((error: unknown) => {
      if (error !== DONE) throw error;
    });
  return result as T;
}

/** SQLSTATE of a right that the role of the connection lacks. */
const INSUFFICIENT_PRIVILEGE = '42501';

/** @throws AppError 409 that says what the role lacks. */
function refuseSchema(error: unknown): never {
  if ((error as { code?: unknown }).code !== INSUFFICIENT_PRIVILEGE) throw error;
  throw failure.conflict(
    'the role of DATABASE_URL may not create a schema, in which the migrations are run to compare their tables with those of the database: grant it "create" on the database, or ask with a role that may: npm run migrate -- status --drift',
    { cause: error },
  );
}
