import { randomBytes } from 'node:crypto';
import { sql, type Transaction } from 'kysely';
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
  trx: Transaction<any>,
  schemas: { readonly schemas?: readonly string[] },
) => Promise<T>;

interface ScratchOptions {
  /** Whether a role that may not make a schema has its tables among the temporary ones of its session. */
  readonly temporary?: boolean;
}

/**
 * Works on an empty database, which is then gone: on SQLite in memory, on PostgreSQL in a schema that
 * no other connection ever sees.
 */
export async function inScratch<T>(
  store: Store,
  work: Work<T>,
  { temporary = false }: ScratchOptions = {},
): Promise<T> {
  const memory = store.dialect === 'sqlite' ? sqliteStore(':memory:') : null;
  let result: T | undefined;
  try {
    await (memory ?? store).structuralTransaction(async (trx) => {
      result = await work(trx, memory ? {} : await intoSchema(trx, temporary));
      throw DONE;
    });
  } catch (error) {
    if (error !== DONE) throw error;
  } finally {
    await memory?.close();
  }
  return result as T;
}

async function intoSchema(trx: Transaction<any>, temporary: boolean) {
  const schema = `twofold_scratch_${randomBytes(6).toString('hex')}`;
  const { rows } = await sql<{
    may: boolean;
  }>`select has_database_privilege(current_database(), 'CREATE') as may`.execute(trx);
  const path = rows[0]?.may || !temporary ? schema : 'pg_temp';
  if (path === schema) await sql`create schema ${sql.id(schema)}`.execute(trx).catch(refuseSchema);
  await sql`set local search_path to ${sql.id(path)}`.execute(trx);
  return { schemas: [schema] };
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
