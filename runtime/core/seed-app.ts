import type { App } from './app.ts';
import { boot, type BootOptions, prepareDatabase, reachingDatabase } from './boot.ts';
import type { SeedReport, SeedRow } from './seed/index.ts';

export interface SeedAppOptions extends BootOptions {
  /** Told after each row. */
  readonly progress?: (done: number, total: number) => void;
}

/**
 * Loads rows into a project's database, and starts nothing. What `generator seed` runs. Migrations are applied as a start
 * would: in production only with `MIGRATE=on`.
 *
 * @returns what was written, or, with nothing written, what is wrong with which row.
 * @throws ConfigError for settings that are wrong, or migrations that wait.
 */
export async function seedApp(
  app: App,
  rows: readonly SeedRow[],
  { progress, ...options }: SeedAppOptions = {},
): Promise<SeedReport> {
  const { seedRows } = await import('./seed/index.ts');
  const booted = await boot(app, options);
  try {
    await reachingDatabase(booted.kernel, () => prepareDatabase(app, booted));
    return await seedRows(rows, {
      kernel: booted.kernel,
      ...(app.scalars && { scalars: app.scalars }),
      ...(progress && { progress }),
    });
  } finally {
    await booted.kernel.store.close();
  }
}
