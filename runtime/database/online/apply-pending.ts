import { sql } from 'kysely';
import type { MigrationSettings } from '@twofold/schema';
import { type Migration, prepareLedger, type Store } from '@twofold/runtime/store';
import { applyAll, type ApplyOptions, migrationFailed } from '../migrations/apply-migrations.ts';
import {
  assertRunnable,
  type ExploredMigration,
  exploreMigrations,
} from '../plan/plan-migrations.ts';
import { runsOnline } from '../plan/settle.ts';
import { withLock } from './lock-attempts.ts';
import { forgetPartial, hasPartial } from './partial.ts';
import type { Preparation } from './preparation.ts';
import { prepareOnline, takeBack } from './prepare-online.ts';

export interface ApplyPendingOptions extends ApplyOptions {
  readonly settings: MigrationSettings;
}

/**
 * Applies migrations. One that changes a large table of PostgreSQL runs alone, after its parts that
 * read all rows were prepared. All others run in one transaction.
 */
export async function applyPending(
  store: Store,
  migrations: readonly Migration[],
  options: ApplyPendingOptions,
): Promise<void> {
  const online = options.keep && (await mayRunOnline(store, migrations, options.settings));
  if (!online) return together(store, migrations, options);
  const explore = (list: readonly Migration[]) =>
    exploreMigrations(store, list, exploring(options));
  let rest = await explore(migrations);
  assertRunnable(rest);
  let group: Migration[] = [];
  for (let each = rest.shift(); each; each = rest.shift()) {
    const { migration } = each;
    const resumes = await hasPartial(store.db, migration.name);
    const preparations = preparationsOf(each, resumes ? 0 : options.settings.onlineFrom);
    if (preparations.length === 0 && !resumes) {
      group.push(migration);
      continue;
    }
    if (group.length > 0) await together(store, group, options);
    group = [];
    await applyOnline({ store, options, explored: each }, preparations);
    rest = await explore(rest.map((later) => later.migration));
  }
  if (group.length > 0) await together(store, group, options);
}

async function together(
  store: Store,
  group: readonly Migration[],
  options: ApplyPendingOptions,
): Promise<void> {
  const { lockTimeout } = options.settings;
  const work = () => applyAll(store, group, { ...options, lockTimeout });
  await withLock(group[0]?.name ?? 'the ledger', work);
}

const exploring = ({ allowLoss, settings }: ApplyPendingOptions) => ({
  allowLoss,
  onlineFrom: settings.onlineFrom,
});

function preparationsOf({ found }: ExploredMigration, onlineFrom: number): Preparation[] {
  return found
    .filter((step) => runsOnline(step, { dialect: 'postgres', onlineFrom }))
    .flatMap(({ preparations }) => preparations);
}

interface ApplyingOnline {
  readonly store: Store;
  readonly options: ApplyPendingOptions;
  readonly explored: ExploredMigration;
}

/** The names in `preparations` are those that the migrations before this one have left. */
async function applyOnline(
  { store, options, explored }: ApplyingOnline,
  preparations: readonly Preparation[],
): Promise<void> {
  const { migration } = explored;
  const { lockTimeout } = options.settings;
  await prepareLedger(store.db);
  const applying = { store, migration, lockTimeout, onPrepared: options.onPrepared };
  const at: { now: Preparation | null } = { now: null };
  try {
    await prepareOnline({ ...applying, onStart: (each) => void (at.now = each) }, preparations);
  } catch (error) {
    throw await refusal({ store, options, explored }, { at: at.now, error });
  }
  const prepared = new Set(preparations.map(({ name }) => name));
  const before: NonNullable<ApplyOptions['before']> = async (trx) => {
    await forgetPartial(trx, migration.name);
    await options.before?.(trx);
  };
  try {
    await withLock(migration.name, () =>
      applyAll(store, [migration], { ...options, lockTimeout, prepared, before }),
    );
  } catch (error) {
    await takeBack(applying);
    throw error;
  }
}

interface Failure {
  readonly at: Preparation | null;
  readonly error: unknown;
}

/**
 * The error for rows that prevent a step. Rows that were written in the meantime are reported like
 * earlier ones.
 */
async function refusal(
  { store, options, explored: { migration, found, steps } }: ApplyingOnline,
  { at, error }: Failure,
): Promise<unknown> {
  if ((error as { code?: unknown }).code === 'MIGRATION_LOCKED') return error;
  try {
    assertRunnable(await exploreMigrations(store, [migration], exploring(options)));
  } catch (rows) {
    return rows;
  }
  const step = found.findIndex(({ preparations }) =>
    preparations.some(({ name }) => name === at?.name),
  );
  const place = {
    migration: migration.name,
    step: steps[step]?.step ?? 1,
    object: at?.object ?? null,
  };
  return migrationFailed(store, place, error);
}

/** The fewest bytes that a row of PostgreSQL takes. */
const ROW_BYTES = 28;

/**
 * Whether a migration may have to run online: a table is large enough, or an earlier run was
 * interrupted.
 */
async function mayRunOnline(
  store: Store,
  migrations: readonly Migration[],
  { onlineFrom }: MigrationSettings,
): Promise<boolean> {
  if (store.dialect !== 'postgres' || migrations.length === 0) return false;
  const { rows } = await sql`
    select 1 from pg_class where relkind = 'r' and relnamespace = current_schema()::regnamespace
      and pg_relation_size(oid) > ${onlineFrom * ROW_BYTES} limit 1`.execute(store.db);
  if (rows.length > 0) return true;
  for (const { name } of migrations) if (await hasPartial(store.db, name)) return true;
  return false;
}
