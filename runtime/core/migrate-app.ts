import type { App } from './app.ts';
import { boot, type BootOptions, migrationsOf, reachingDatabase } from './boot.ts';
import {
  migrate,
  type MigrateOptions,
  type MigrationStatus,
  migrationStatus,
  revert,
} from './store/migrate.ts';
import type { Migration } from './store/migration.ts';
import type { Store } from './store/store.ts';

/**
 * Applies every pending migration of a project and of its modules without starting the server, for
 * `generator migrate up`.
 *
 * @returns the names of the applied migrations, oldest first.
 * @throws AppError `MIGRATION_CHANGED`, `MIGRATION_MISSING`, `ROWS_IN_THE_WAY`,
 * `MIGRATION_NEEDS_CONSENT`, `MIGRATION_FAILED`
 */
export function migrateApp(
  app: App,
  { allowLoss = [] }: MigrateOptions = {},
  options?: BootOptions,
): Promise<string[]> {
  return withMigrations(app, options, async (store, lists) => {
    const applied: string[] = [];
    for (const list of lists) applied.push(...(await migrate(store, list, { allowLoss })));
    return applied;
  });
}

/**
 * What is applied, pending, changed since, or gone from the folder, for `generator migrate status`.
 */
export function migrationsOfApp(app: App, options?: BootOptions): Promise<MigrationStatus> {
  return withMigrations(app, options, async (store, lists) => {
    const parts: MigrationStatus[] = [];
    for (const list of lists) parts.push(await migrationStatus(store, list));
    return {
      applied: parts.flatMap(({ applied }) => applied),
      pending: parts.flatMap(({ pending }) => pending),
      empty: parts.flatMap(({ empty }) => empty),
      changed: parts.flatMap(({ changed }) => changed),
      missing: parts.flatMap(({ missing }) => missing),
    };
  });
}

/**
 * Undoes the project's newest applied migration. @returns its name, or null when nothing is
 * applied.
 */
export function revertApp(app: App, options?: BootOptions): Promise<string | null> {
  return withMigrations(app, options, async (store, [own = []]) => revert(store, own));
}

async function withMigrations<T>(
  app: App,
  options: BootOptions | undefined,
  work: (store: Store, lists: readonly (readonly Migration[])[]) => Promise<T>,
): Promise<T> {
  const { kernel, modules } = await boot(app, options);
  try {
    return await reachingDatabase(kernel, async () =>
      work(kernel.store, await migrationsOf(app, modules)),
    );
  } finally {
    await kernel.store.close();
  }
}
