import type { App } from './app.ts';
import { boot, type BootOptions, guardOfDatabase, migrationsOf, reachingDatabase } from './boot.ts';
import { statusOf } from './migration-report.ts';
import type { Kernel } from './module.ts';
import { type Baseline, baseline, driftOf } from './store/migrations/baseline.ts';
import type { Drift } from './store/migrations/drift.ts';
import { assertConfirmed, type Guard } from './store/migrations/guard.ts';
import { readLedger } from './store/migrations/ledger.ts';
import {
  migrate,
  type MigrateOptions,
  migrationsToUndo,
  type MigrationStatus,
  revert,
} from './store/migrations/migrate.ts';
import { migrationSettings } from './store/migrations/migration-settings.ts';
import type { Migration } from './store/migrations/migration.ts';
import { exploreBefore } from './store/plan/plan-migrations.ts';
import { reportSteps, type StepDone } from './store/plan/report-steps.ts';
import { reset, tablesToReset } from './store/migrations/reset.ts';

export interface MigrateAppOptions extends Pick<MigrateOptions, 'allowLoss'> {
  /** Name of a guarded database, which may lose values. */
  readonly confirm?: string;
}

/**
 * Applies every pending migration of a project and of its modules without starting the server, for
 * `generator migrate up`.
 *
 * @returns the names of the applied migrations, oldest first.
 * @throws AppError `MIGRATION_CHANGED`, `MIGRATION_MISSING`, `ROWS_IN_THE_WAY`,
 * `MIGRATION_NEEDS_CONSENT`, `MIGRATION_FAILED`, `MIGRATION_DRAFT`, `DATABASE_GUARDED`
 */
export function migrateApp(
  app: App,
  { allowLoss = [], confirm }: MigrateAppOptions = {},
  options: BootOptions & { readonly step?: (done: StepDone | { rescued: string }) => void } = {},
): Promise<string[]> {
  return withMigrations(app, options, async ({ kernel: { store, root }, lists, guard }) => {
    if (allowLoss.length > 0)
      assertConfirmed(guard, confirm, `Values of ${allowLoss.join(', ')} may lose a part.`);
    const [own, ...modules] = lists;
    const note = (_done: string, rescued: string) => options.step?.({ rescued });
    const follow = { root, newest: false, gone: false, note };
    const drafts = guard.reason === null ? { follow } : { guarded: true };
    const settings = migrationSettings(app.project);
    const explored = await exploreBefore(store, lists, { ...settings, allowLoss });
    const reported = options.step ? reportSteps(explored, options.step) : {};
    const each = { settings, ...reported };
    const applied = await migrate(store, own, { allowLoss, ...each, ...drafts });
    for (const list of modules) applied.push(...(await migrate(store, list, each)));
    return applied;
  });
}

/**
 * What is applied, pending, changed since, or gone from the folder, for `generator migrate status`.
 */
export function migrationsOfApp(app: App, options?: BootOptions): Promise<MigrationStatus> {
  const listed = { ...options, unreadable: 'listed' } as const;
  return withMigrations(app, listed, ({ kernel: { store }, lists }) => statusOf(store, lists));
}

export interface RevertAppOptions {
  /** The oldest migration to undo; the newest one when absent. */
  readonly to?: string;
  /** Name of a guarded database, which may lose values. */
  readonly confirm?: string;
}

/** Migrations that were undone, and the files with the values that this dropped. */
export interface Reverted {
  /** Newest first. */
  readonly reverted: readonly string[];
  readonly rescued: readonly string[];
}

/**
 * Undoes the project's newest applied migration, or all down to and including one, for `generator
 * migrate down`.
 *
 * @throws AppError `DATABASE_GUARDED`, `MIGRATION_UNKNOWN`, `MIGRATION_ONE_WAY`,
 * `ROWS_IN_THE_WAY`, `MIGRATION_FAILED`
 */
export function revertApp(
  app: App,
  { to, confirm }: RevertAppOptions = {},
  options?: BootOptions,
): Promise<Reverted> {
  return withMigrations(app, options, async ({ kernel, lists: [own], guard }) => {
    const { store, root } = kernel;
    const undo = migrationsToUndo(await readLedger(store.db), to);
    const names = undo.map(({ name }) => name).join(', ');
    if (undo.length > 0) assertConfirmed(guard, confirm, `What ${names} made would go.`);
    const rescued: string[] = [];
    const reverted = await revert(store, own, {
      root,
      ...(to !== undefined && { to }),
      note: (_done, file) => void rescued.push(file),
    });
    return { reverted, rescued };
  });
}

export interface ResetAppOptions {
  /** Name of a guarded database, which may lose values. */
  readonly confirm?: string;
}

/** Migrations that were applied again, and the files with the earlier rows. */
export interface ResetDone {
  readonly applied: readonly string[];
  readonly rescued: readonly string[];
}

/**
 * Drops what migrations made and applies them all again, for `generator migrate reset`.
 *
 * @throws AppError `DATABASE_GUARDED`, `MIGRATION_FAILED`
 */
export function resetApp(
  app: App,
  { confirm }: ResetAppOptions = {},
  options?: BootOptions,
): Promise<ResetDone> {
  return withMigrations(app, options, async ({ kernel: { store, root }, lists, guard }) => {
    if (guard.reason !== null) {
      const tables = await tablesToReset(store, lists);
      assertConfirmed(guard, confirm, `All rows of ${tables.join(', ')} would go.`);
    }
    const rescued: string[] = [];
    const note = (_done: string, file: string) => void rescued.push(file);
    return { applied: await reset(store, lists, { root, note }), rescued };
  });
}

/**
 * Records pending migrations as applied, if the catalog is what they would make, for `generator
 * migrate baseline`.
 */
export function baselineApp(app: App, options?: BootOptions): Promise<Baseline> {
  return withMigrations(app, options, ({ kernel: { store }, lists }) => baseline(store, lists));
}

/** Where the catalog differs from what the applied migrations make. */
export function driftOfApp(app: App, options?: BootOptions): Promise<Drift[]> {
  return withMigrations(app, options, ({ kernel: { store }, lists }) => driftOf(store, lists));
}

interface WithMigrations {
  readonly kernel: Kernel;
  readonly lists: readonly [own: readonly Migration[], ...modules: (readonly Migration[])[]];
  readonly guard: Guard;
}

interface LoadOptions {
  /** Whether a migration that cannot be read is listed all the same. */
  readonly unreadable?: 'refused' | 'listed';
}

async function withMigrations<T>(
  app: App,
  { unreadable, ...options }: LoadOptions & BootOptions = {},
  work: (given: WithMigrations) => Promise<T>,
): Promise<T> {
  const { kernel, modules } = await boot(app, options);
  try {
    return await reachingDatabase(kernel, async () =>
      work({
        kernel,
        lists: await migrationsOf(app, modules, { ...(unreadable && { unreadable }) }),
        guard: await guardOfDatabase(kernel),
      }),
    );
  } finally {
    await kernel.store.close();
  }
}
