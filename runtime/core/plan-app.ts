import { CatalogMismatch } from './adopted/misfit.ts';
import { linesOf } from './adopted/schema-lines.ts';
import { CREATE_SEEDS, SEEDS } from './seed/ledger.ts';
import { catalogSource, readCatalog } from './store/catalog/read-catalog.ts';
import type { Store } from './store/store.ts';
import type { App } from './app.ts';
import { boot, type BootOptions, guardOfDatabase, migrationsOf, reachingDatabase } from './boot.ts';
import { migrationSettings } from './store/migrations/migration-settings.ts';
import { pendingSql } from './store/plan/pending-sql.ts';
import { planMigrations } from './store/plan/plan-migrations.ts';
import type { Plan, PlanStep } from './store/plan/plan-step.ts';

export interface PlanAppOptions {
  readonly allowLoss?: readonly string[];
  readonly values?: boolean;
  readonly zeroDowntime?: boolean;
}

/**
 * What each pending migration of a project and of its modules would meet, for `generator migrate
 * plan`. It changes nothing.
 */
export async function planOfApp(
  app: App,
  options: PlanAppOptions = {},
  bootOptions?: BootOptions,
): Promise<Plan> {
  const { kernel, modules } = await boot(app, bootOptions);
  const { store } = kernel;
  try {
    return await reachingDatabase(kernel, async () => {
      const guard = await guardOfDatabase(kernel);
      const lists = await migrationsOf(app, modules);
      const { onlineFrom } = migrationSettings(app.project);
      const migrations = await planMigrations(store, lists, { ...options, onlineFrom });
      const steps = migrations.flatMap((each) => each.steps);
      return {
        ok: steps.every((step) => canRun(step, { ...options, onlineFrom })),
        database: { dialect: store.dialect, name: guard.name, guarded: guard.reason !== null },
        migrations,
      };
    });
  } finally {
    await store.close();
  }
}

function canRun(
  { verdict, compatible, blocks, rows }: PlanStep,
  { zeroDowntime = false, onlineFrom }: PlanAppOptions & { readonly onlineFrom: number },
): boolean {
  if (verdict === 'lossy' || verdict === 'impossible') return false;
  return !zeroDowntime || (compatible && (blocks === 'nothing' || rows <= onlineFrom));
}

/**
 * The statement that makes the table of seeded rows; empty when there is one. In a database that
 * the server may change, the table is made when it is needed.
 */
async function missingSeeds({ db }: Store): Promise<string> {
  const { tables } = await readCatalog(catalogSource(db));
  return tables.some(({ name }) => name === SEEDS) ? '' : `-- seed\n${CREATE_SEEDS};\n`;
}

/**
 * All that is pending as SQL, for `generator migrate sql`. It changes nothing.
 *
 * @throws CatalogMismatch because tables of accounts would not fit tables that the schema does not
 */
export async function sqlOfApp(app: App, bootOptions?: BootOptions): Promise<string> {
  const { kernel, modules, misfits = [] } = await boot(app, bootOptions);
  const { store } = kernel;
  try {
    if (misfits.length > 0) throw new CatalogMismatch(misfits, linesOf(kernel.root));
    return await reachingDatabase(kernel, async () => {
      const pending = await pendingSql(store, await migrationsOf(app, modules));
      const seeds = kernel.project.unmanaged ? await missingSeeds(store) : '';
      return `${pending}${seeds}`;
    });
  } finally {
    await store.close();
  }
}
