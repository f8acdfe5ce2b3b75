import { sql } from 'kysely';
import type { MigrationSettings } from '@twofold/schema';
import { applyAll, type ApplyOptions, migrationFailed } from '../apply-migrations.ts';
import type { Migration } from '../migration.ts';
import {
  assertRunnable,
  type ExploredMigration,
  exploreMigrations,
} from '../plan/plan-migrations.ts';
import type { FoundStep } from '../plan/plan-step.ts';
import { runsOnline } from '../plan/settle.ts';
import type { Store } from '../store.ts';
import { withLock } from './lock-attempts.ts';
import { forgetPartial, hasPartial } from './partial.ts';
import type { Preparation } from './preparation.ts';
import { prepareOnline, type PreparingOnline, takeBack } from './prepare-online.ts';

export interface ApplyPendingOptions extends ApplyOptions {
  readonly settings: MigrationSettings;
}

/**
 * Applies migrations: those that change a large table of PostgreSQL each by itself, with the parts
 * that read all rows made before; all others in one transaction.
 */
export async function applyPending(
  store: Store,
  migrations: readonly Migration[],
  options: ApplyPendingOptions,
): Promise<void> {
  const { settings } = options;
  const lockTimeout = settings.lockTimeout;
  const together = (group: readonly Migration[]) =>
    group.length === 0
      ? Promise.resolve()
      : withLock(group[0]!.name, () => applyAll(store, group, { ...options, lockTimeout }));
  const online = options.keep && (await mayRunOnline(store, migrations, settings));
  if (!online) return together(migrations);
  let group: Migration[] = [];
  assertRunnable(await exploreMigrations(store, migrations, exploring(options, false)));
  for (const migration of migrations) {
    const resumes = await hasPartial(store.db, migration.name);
    // Rows of migrations before this one may still change what it meets.
    const [explored] = await exploreMigrations(store, [migration], exploring(options, resumes));
    const preparations = preparationsOf(explored!, settings, resumes);
    if (preparations.length === 0 && !resumes) {
      group.push(migration);
      continue;
    }
    await together(group);
    group = [];
    await applyOnline({ store, migration, lockTimeout, options }, preparations);
  }
  await together(group);
}

const exploring = ({ allowLoss, settings }: ApplyPendingOptions, resumes: boolean) => ({
  allowLoss,
  onlineFrom: resumes ? 0 : settings.onlineFrom,
});

function preparationsOf(
  { found }: ExploredMigration,
  { onlineFrom }: MigrationSettings,
  resumes: boolean,
): Preparation[] {
  const from = { dialect: 'postgres', onlineFrom: resumes ? 0 : onlineFrom } as const;
  return found
    .filter((step: FoundStep) => runsOnline(step, from))
    .flatMap(({ preparations }) => preparations);
}

interface ApplyingOnline extends PreparingOnline {
  readonly options: ApplyPendingOptions;
}

async function applyOnline(
  applying: ApplyingOnline,
  preparations: readonly Preparation[],
): Promise<void> {
  const { store, migration, lockTimeout, options } = applying;
  const at: { now: Preparation | null } = { now: null };
  try {
    await prepareOnline({ ...applying, onStart: (each) => void (at.now = each) }, preparations);
  } catch (error) {
    if (isRefused(error)) throw error;
    // Rows that were written in the meantime are named like those that were there before.
    assertRunnable(await exploreMigrations(store, [migration], exploring(options, false)));
    throw await migrationFailed(store, { migration: migration.name, step: stepOf(explored, at.now), object: at.now?.object ?? null }, error);
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

const isRefused = (error: unknown) => (error as { code?: unknown }).code === 'MIGRATION_LOCKED';

/** The fewest bytes that a row of PostgreSQL takes. */
const ROW_BYTES = 28;

/** Whether any table is large enough, by its size alone, or a run was stopped before its end. */
async function mayRunOnline(
  store: Store,
  migrations: readonly Migration[],
  { onlineFrom }: MigrationSettings,
): Promise<boolean> {
  if (store.dialect !== 'postgres') return false;
  const { rows } = await sql`
    select 1 from pg_class where relkind = 'r' and relnamespace = current_schema()::regnamespace
      and pg_relation_size(oid) > ${onlineFrom * ROW_BYTES} limit 1`.execute(store.db);
  if (rows.length > 0) return true;
  for (const { name } of migrations) if (await hasPartial(store.db, name)) return true;
  return false;
}
