import { type Kysely, sql } from 'kysely';
import { hashOf, type Migration, quotedName, type Store } from '@twofold/runtime/store';
import { withLock } from './lock-attempts.ts';
import { forgetPartial, notePartial, readPartial } from './partial.ts';
import type { Preparation } from './preparation.ts';

export interface PreparingOnline {
  readonly store: Store;
  readonly migration: Migration;
  /** Milliseconds. */
  readonly lockTimeout: number;
  readonly onStart?: (preparation: Preparation) => void;
  /** Called after each preparation, with its time in milliseconds. */
  readonly onPrepared?: ((preparation: Preparation, time: number) => void) | undefined;
}

/**
 * Makes what a migration needs without blocking reads or writes: each part by itself, noted in the
 * ledger, so that a run that was killed goes on from there. When a part fails, all of them are taken
 * back.
 *
 * @throws AppError `MIGRATION_LOCKED`, or the database's own error.
 */
export async function prepareOnline(
  preparing: PreparingOnline,
  preparations: readonly Preparation[],
): Promise<void> {
  const { store, migration } = preparing;
  const known = await resumed(preparing);
  const ours = new Set(known);
  const wanted = [];
  for (const each of preparations)
    if (ours.has(each.undo) || !(await isThere(store.db, each))) wanted.push(each);
  const undo = [...known];
  try {
    for (const [at, each] of wanted.entries()) {
      if (!ours.has(each.undo)) undo.unshift(each.undo);
      await notePartial(store.db, migration, { steps: at, undo });
      preparing.onStart?.(each);
      const started = performance.now();
      await makeReady(preparing, each);
      preparing.onPrepared?.(each, performance.now() - started);
    }
  } catch (error) {
    await takeBack(preparing);
    throw error;
  }
}

/** What an earlier run made for the same text of this migration; for another text it is undone. */
async function resumed(preparing: PreparingOnline): Promise<readonly string[]> {
  const { store, migration } = preparing;
  const partial = await readPartial(store.db, migration.name);
  if (partial && partial.hash === hashOf(migration)) return partial.undo;
  if (partial) await takeBack(preparing);
  return [];
}

/** Takes back all that was made ready for a migration. */
export async function takeBack({ store, migration, lockTimeout }: PreparingOnline): Promise<void> {
  const partial = await readPartial(store.db, migration.name);
  for (const statement of partial?.undo ?? [])
    await withLock(migration.name, () => inMoment({ store, lockTimeout }, [statement]));
  await forgetPartial(store.db, migration.name);
}

async function makeReady(preparing: PreparingOnline, each: Preparation): Promise<void> {
  const { store, migration, lockTimeout } = preparing;
  const { first, fill, long, undo, object } = each;
  if (await isReadyMade(store.db, each)) return;
  // Preparations that a killed run has left incomplete are made again.
  await withLock(object, () => inMoment({ store, lockTimeout }, [undo, ...first]));
  if (fill !== undefined) await fillRows(store, fill);
  if (long === undefined) return;
  await withLock(`${migration.name}, ${object}`, async () => {
    if (each.does === 'index' || each.does === 'unique')
      await inMoment({ store, lockTimeout }, [undo]);
    await alone({ store, lockTimeout }, long);
  });
}

/**
 * Whether the preparation exists already. An existing column is kept, because dropping it for a
 * second try would lose its values.
 */
async function isReadyMade(db: Kysely<any>, each: Preparation): Promise<boolean> {
  if (each.does === 'add') return isThere(db, each);
  const { rows } = await sql`
    select 1 from pg_constraint where conname = ${each.name} and conrelid = to_regclass(${quotedName(each.table)}) and convalidated
    union all
    select 1 from pg_index i join pg_class c on c.oid = i.indexrelid
    where c.relname = ${each.name} and i.indrelid = to_regclass(${quotedName(each.table)}) and i.indisvalid`.execute(
    db,
  );
  return rows.length > 0;
}

/** Whether an object of this name exists, finished or not. */
async function isThere(db: Kysely<any>, { does, name, table }: Preparation): Promise<boolean> {
  const { rows } = await (
    does === 'add'
      ? sql`select 1 from pg_attribute where attrelid = to_regclass(${quotedName(table)}) and attname = ${name} and not attisdropped`
      : sql`select 1 from pg_constraint where conname = ${name} and conrelid = to_regclass(${quotedName(table)})
        union all select 1 where to_regclass(${quotedName(name)}) is not null`
  ).execute(db);
  return rows.length > 0;
}

type Running = Pick<PreparingOnline, 'store' | 'lockTimeout'>;

/** A role may have time limits of its own. */
const limits = (set: 'set' | 'set local', lockTimeout: number) =>
  `${set} lock_timeout = ${Math.ceil(lockTimeout)}; ${set} statement_timeout = 0`;

const inMoment = ({ store, lockTimeout }: Running, statements: readonly string[]) =>
  store.transaction(async (trx) => {
    await sql.raw(limits('set local', lockTimeout)).execute(trx);
    let last;
    for (const statement of statements) last = await sql.raw(statement).execute(trx);
    return last;
  });

async function fillRows(store: Store, statement: string): Promise<void> {
  while ((await inMoment({ store, lockTimeout: 0 }, [statement]))?.numAffectedRows);
}

/** `create index concurrently` runs in no transaction. A pooler's connection takes no setting. */
async function alone({ store, lockTimeout }: Running, statement: string): Promise<void> {
  if ((await store.describe?.())?.pooler) return void (await sql.raw(statement).execute(store.db));
  await store.db.connection().execute(async (connection) => {
    await sql.raw(limits('set', lockTimeout)).execute(connection);
    try {
      await sql.raw(statement).execute(connection);
    } finally {
      await sql.raw('reset lock_timeout; reset statement_timeout').execute(connection);
    }
  });
}
