import { first } from '@twofold/schema';
import { type Kysely, sql } from 'kysely';
import { type Dialect, type Migration, readLedger, type Store } from '@twofold/runtime/store';
import { CatalogMismatch } from '../adopted/misfit.ts';
import { catalogSource, readCatalog } from '../catalog/read-catalog.ts';
import { type Migrated, migrationSettings } from '../migrations/migrated.ts';
import { compareLedger } from '../migrations/ledger-state.ts';
import { CREATE_SEEDS, SEEDS } from '../seed/ledger.ts';
import { type RowsAtRisk, rowsError } from '../tables/migration-run.ts';
import { explore } from './explore.ts';
import { pendingSql } from './pending-sql.ts';
import type { FoundStep, MigrationPlan, Plan, PlanStep } from './plan-step.ts';
import { beginMigration, plannedTables } from './planned-tables.ts';
import { recordMigration } from './record.ts';
import { type SettleOptions, settleSteps } from './settle.ts';

export interface PlanOptions extends Omit<SettleOptions, 'dialect'> {
  /** Columns that may lose something in this run: `posts.rating`. */
  readonly allowLoss?: readonly string[];
  /** Whether to read the first values at risk. */
  readonly values?: boolean;
}

/** A migration with its steps, as they were found and as they are shown. */
export interface ExploredMigration {
  readonly migration: Migration;
  readonly found: readonly FoundStep[];
  readonly steps: readonly PlanStep[];
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
  const explored = await explorePending(store, lists, options);
  return explored.map(({ migration, steps }) => ({ name: migration.name, steps }));
}

/** Explores pending migrations, and returns all findings. */
async function explorePending(
  store: Store,
  lists: readonly (readonly Migration[])[],
  options: PlanOptions,
): Promise<ExploredMigration[]> {
  return reading(store, async (db) => {
    const ledger = await readLedger(db);
    const pending = lists.flatMap((list) => {
      const { pending: waiting, partial } = compareLedger(ledger, list);
      const names = new Set([...waiting, ...partial]);
      return list.filter(({ name }) => names.has(name));
    });
    return exploreAll(db, { dialect: store.dialect, pending, options });
  });
}

/**
 * The same before a run, which then does not begin: rows in the way of any list are known before the
 * first statement of the first one. Empty where an undo comes first, because only the run itself
 * knows what that leaves.
 *
 * @throws AppError `ROWS_IN_THE_WAY` or `MIGRATION_NEEDS_CONSENT` with all rows that were found.
 */
export async function exploreBefore(
  store: Store,
  lists: readonly (readonly Migration[])[],
  options: PlanOptions,
): Promise<ExploredMigration[]> {
  const ledger = await readLedger(store.db);
  const isUndone = lists.some((list) => {
    const { missing, changed } = compareLedger(ledger, list);
    return missing.length + changed.length > 0;
  });
  if (isUndone) return [];
  const explored = await explorePending(store, lists, options);
  assertRunnable(explored);
  return explored;
}

/** The steps of these migrations, whether or not they are applied. */
export function exploreMigrations(
  store: Store,
  pending: readonly Migration[],
  options: PlanOptions,
): Promise<ExploredMigration[]> {
  return reading(store, (db) => exploreAll(db, { dialect: store.dialect, pending, options }));
}

interface ExploringAll {
  readonly dialect: Dialect;
  readonly pending: readonly Migration[];
  readonly options: PlanOptions;
}

async function exploreAll(
  db: Kysely<any>,
  { dialect, pending, options }: ExploringAll,
): Promise<ExploredMigration[]> {
  if (pending.length === 0) return [];
  const tables = plannedTables(await readCatalog(catalogSource(db)));
  const countRows = counting(db);
  const { values = false } = options;
  const explored: ExploredMigration[] = [];
  for (const migration of pending) {
    const found: FoundStep[] = [];
    beginMigration(tables);
    const recorded = await recordMigration(migration, dialect);
    for (const [at, step] of recorded.entries())
      found.push(...(await explore({ db, tables, statement: at + 1, countRows, values }, step)));
    const allowLoss = new Set([...(options.allowLoss ?? []), ...(migration.allowLoss ?? [])]);
    explored.push({
      migration,
      found,
      steps: settleSteps(found, { ...options, dialect, allowLoss }),
    });
  }
  return explored;
}

/**
 * Refuses migrations before the first statement of the first migration runs.
 *
 * @throws AppError `ROWS_IN_THE_WAY` or `MIGRATION_NEEDS_CONSENT` with all rows that were found.
 */
export function assertRunnable(explored: readonly ExploredMigration[]): void {
  const rows = explored.flatMap(({ migration, found, steps }) =>
    steps.flatMap(({ step, verdict }, at): RowsAtRisk[] => {
      const finding = found[at]!.finding;
      const refused = verdict === 'impossible' || verdict === 'lossy';
      return refused && finding ? [{ ...finding, migration: migration.name, step }] : [];
    }),
  );
  if (rows.length > 0)
    throw rowsError(
      rows,
      explored.map(({ migration }) => migration),
    );
}

/** Counts the rows of a table, once for each table. */
function counting(db: Kysely<any>): (table: string) => Promise<number> {
  const known = new Map<string, Promise<number>>();
  return (table) => {
    const counted =
      known.get(table) ??
      sql<{ count: number }>`select count(*) as count from ${sql.table(table)}`
        .execute(db)
        .then(({ rows }) => Number(first(rows).count));
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

export interface PlanInput {
  readonly allowLoss?: readonly string[];
  readonly values?: boolean;
  readonly zeroDowntime?: boolean;
}

/** What each pending migration would meet. */
export async function planAll(
  { kernel: { store, project }, lists, guard }: Migrated,
  input: PlanInput,
): Promise<Plan> {
  const options = { ...input, onlineFrom: migrationSettings(project).onlineFrom };
  const migrations = await planMigrations(store, lists, options);
  const steps = migrations.flatMap((each) => each.steps);
  return {
    ok: steps.every((step) => canRun(step, options)),
    database: { dialect: store.dialect, name: guard.name, guarded: guard.reason !== null },
    migrations,
  };
}

function canRun(
  { verdict, compatible, blocks, rows }: PlanStep,
  { zeroDowntime = false, onlineFrom }: PlanInput & { readonly onlineFrom: number },
): boolean {
  if (verdict === 'lossy' || verdict === 'impossible') return false;
  return !zeroDowntime || (compatible && (blocks === 'nothing' || rows <= onlineFrom));
}

/** All that is pending as SQL. */
export async function allSql({ kernel, lists, misfits = [] }: Migrated): Promise<string> {
  const { store, project, root } = kernel;
  if (misfits.length > 0) throw new CatalogMismatch(misfits, root);
  const pending = await pendingSql(store, lists);
  return project.unmanaged ? `${pending}${await missingSeeds(store)}` : pending;
}

/**
 * The statement that makes the table of seeded rows; empty when there is one. In a database that
 * the server may change, the table is made when it is needed.
 */
async function missingSeeds({ db }: Store): Promise<string> {
  const { tables } = await readCatalog(catalogSource(db));
  return tables.some(({ name }) => name === SEEDS) ? '' : `-- seed\n${CREATE_SEEDS};\n`;
}
