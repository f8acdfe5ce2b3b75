import { type Kysely, sql } from 'kysely';
import { catalogSource, readCatalog } from '../catalog/read-catalog.ts';
import { readLedger } from '../ledger.ts';
import { compareLedger } from '../ledger-state.ts';
import type { Migration } from '../migration.ts';
import type { Store } from '../store.ts';
import { explore } from './explore.ts';
import type { MigrationPlan } from './plan-step.ts';
import { plannedTables } from './planned-tables.ts';
import { recordMigration } from './record.ts';
import { type SettleOptions, settleSteps } from './settle.ts';

export interface PlanOptions extends Omit<SettleOptions, 'dialect'> {
  /** Columns that may lose something in this run: `posts.rating`. */
  readonly allowLoss?: readonly string[];
  /** Whether to read the first values at risk. */
  readonly values?: boolean;
}

/**
 * What each pending step of these lists of migrations would meet. It reads the database in one
 * transaction that cannot write, and takes no lock that another statement waits for.
 */
export async function planMigrations(
  store: Store,
  lists: readonly (readonly Migration[])[],
  options: PlanOptions,
): Promise<MigrationPlan[]> {
  return reading(store, async (db) => {
    const ledger = await readLedger(db);
    const pending = lists.flatMap((list) => {
      const names = new Set(compareLedger(ledger, list).pending);
      return list.filter(({ name }) => names.has(name));
    });
    return pending.length === 0 ? [] : planPending(db, store, pending, options);
  });
}

async function planPending(
  db: Kysely<any>,
  { dialect }: Store,
  pending: readonly Migration[],
  options: PlanOptions,
): Promise<MigrationPlan[]> {
  const tables = plannedTables(await readCatalog(catalogSource(db)));
  const countRows = counting(db);
  const { values = false } = options;
  const plans: MigrationPlan[] = [];
  for (const migration of pending) {
    const found = [];
    const recorded = await recordMigration(migration, dialect);
    for (const [at, step] of recorded.entries())
      found.push(...(await explore({ db, tables, statement: at + 1, countRows, values }, step)));
    const allowLoss = new Set([...(options.allowLoss ?? []), ...(migration.allowLoss ?? [])]);
    plans.push({
      name: migration.name,
      steps: settleSteps(found, { ...options, dialect, allowLoss }),
    });
  }
  return plans;
}

/** Counts the rows of each table once. */
function counting(db: Kysely<any>): (table: string) => Promise<number> {
  const known = new Map<string, Promise<number>>();
  return (table) => {
    const counted =
      known.get(table) ??
      sql<{ count: number }>`select count(*) as count from ${sql.table(table)}`
        .execute(db)
        .then(({ rows }) => Number(rows[0]!.count));
    known.set(table, counted);
    return counted;
  };
}

/** SQLite reads over a handle that never waits; PostgreSQL refuses every write from here on. */
async function reading<T>(store: Store, work: (db: Kysely<any>) => Promise<T>): Promise<T> {
  if (store.dialect === 'sqlite') return work(store.db);
  return store.transaction(
    async (trx) => {
      await sql`set transaction read only`.execute(trx);
      return work(trx);
    },
    { isolation: 'repeatable read' },
  );
}
