import {
  type App,
  type Booted,
  type BootOptions,
  guardOfDatabase,
  type Misfit,
  prepareDatabase,
  reachingDatabase,
  withBooted,
} from '@twofold/runtime/kernel';
import { lostConnection } from '@twofold/runtime/store';
import { adoptDatabase } from './adopted/adopt-database.ts';
import { baseline, driftOf } from './migrations/baseline.ts';
import {
  type Confirmed,
  migrateAll,
  type MigrateInput,
  resetAll,
  type RevertInput,
  revertTo,
} from './migrations/commands.ts';
import type { Migrated } from './migrations/migrated.ts';
import { allSql, planAll, type PlanInput } from './plan/plan-migrations.ts';
import { migrationsOf, statusOf } from './prepare.ts';
import { type SeedOptions, type SeedRow, seedRows } from './seed/index.ts';
import { type BackupInput, backupRows, type BackupStream } from './transfer/backup.ts';
import {
  type CopyInput,
  copyRows,
  type MoveOptions,
  type RestoreInput,
  restoreRows,
  type RestoreStream,
} from './transfer/target.ts';

/** The database of a project, for commands. Each verb opens it, and closes it again. */
class Database {
  readonly #app: App;
  readonly #options: BootOptions;

  constructor(app: App, options: BootOptions) {
    this.#app = app;
    this.#options = options;
  }

  #reach<T>(work: (booted: Booted) => Promise<T>): Promise<T> {
    return withBooted(this.#app, this.#options, (booted) =>
      reachingDatabase(booted.kernel, () => work(booted)),
    );
  }

  #migrated<T>(
    work: (given: Migrated) => Promise<T>,
    read?: Parameters<typeof migrationsOf>[2],
  ): Promise<T> {
    return this.#reach(async (booted) => {
      const lists = await migrationsOf(this.#app, booted.modules, read);
      return work({ ...booted, lists, guard: await guardOfDatabase(booted.kernel) });
    });
  }

  /**
   * Applies every pending migration of the project and of its modules, as `migrate` does.
   *
   * @returns the names of the applied migrations, oldest first.
   * @throws AppError as `migrate`, and `DATABASE_GUARDED`, as all verbs that may lose values
   */
  migrate = (
    input: MigrateInput = {},
    { step }: { step?: Parameters<typeof migrateAll>[2] } = {},
  ) => this.#migrated((given) => migrateAll(given, input, step));
  /** What is applied, pending, changed since, or gone from the folder. */
  status = () =>
    this.#migrated(({ kernel, lists }) => statusOf(kernel.store, lists), { unreadable: 'listed' });
  /** Undoes the project's newest applied migration, or all down to and including one. */
  revert = (input: RevertInput = {}) => this.#migrated((given) => revertTo(given, input));
  /** Drops what migrations made and applies them all again. */
  reset = (input: Confirmed = {}) => this.#migrated((given) => resetAll(given, input));
  /** Records pending migrations as applied, if the catalog is what they would make. */
  baseline = () => this.#migrated(({ kernel, lists }) => baseline(kernel.store, lists));
  /** Where the catalog differs from what the applied migrations make. */
  drift = () => this.#migrated(({ kernel, lists }) => driftOf(kernel.store, lists));
  /** What each pending migration would meet. It changes nothing. */
  plan = (input: PlanInput = {}) => this.#migrated((given) => planAll(given, input));
  /** All that is pending as SQL. It changes nothing. @throws CatalogMismatch */
  sql = () => this.#migrated(allSql);
  /** Everything in which the schema and the catalog do not agree. It only reads. */
  misfits = () =>
    this.#reach(
      async ({ kernel: { project, store }, misfits }): Promise<readonly Misfit[]> =>
        misfits ?? (await adoptDatabase(project, store)).misfits,
    );
  /**
   * Loads rows. Migrations are applied as at a start: in production only with `MIGRATE=on`.
   *
   * @returns what was written or, when nothing was written, the findings for each row.
   * @throws ConfigError for invalid settings or pending migrations.
   */
  seed = (rows: readonly SeedRow[], { progress }: Pick<SeedOptions, 'progress'> = {}) =>
    withBooted(this.#app, this.#options, async (booted) => {
      const { kernel } = booted;
      await reachingDatabase(kernel, () => prepareDatabase(this.#app, booted));
      return seedRows(rows, {
        kernel,
        ...(this.#app.scalars && { scalars: this.#app.scalars }),
        ...(progress && { progress }),
      });
    });
  /**
   * Sends the rows of everything that a server owns, as they were at one moment. Servers may go
   * on writing.
   *
   * @throws ConfigError when there is no such database.
   */
  backup = (input: BackupInput, given: BackupStream) =>
    explained(backupRows(this.#app, input, { ...this.#options, ...given }));
  /**
   * Writes the rows of a backup and compares them there: all of them or none.
   *
   * @throws AppError `BACKUP_DAMAGED`, `BACKUP_AHEAD`, `TARGET_HAS_ROWS`, `TARGET_DIFFERS`,
   * `VALUE_NOT_HELD`
   */
  restore = (input: RestoreInput, given: RestoreStream) =>
    explained(restoreRows(this.#app, input, { ...this.#options, ...given }));
  /**
   * Copies all rows of one database to another, in the state of one moment: all of them or none.
   *
   * @throws as `restore` does
   */
  copy = (input: CopyInput, given: Pick<MoveOptions, 'progress'> = {}) =>
    explained(copyRows(this.#app, input, { ...this.#options, ...given }));
}

/** @example await openDatabase(app).migrate(); */
export const openDatabase = (app: App, options: BootOptions = {}): Database =>
  new Database(app, options);

/** A lost connection is reported with the address. */
const explained = <T>(moved: Promise<T>): Promise<T> =>
  moved.catch((error: unknown) => {
    throw lostConnection(error) ?? error;
  });
