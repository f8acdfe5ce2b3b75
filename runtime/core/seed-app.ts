import type { App } from './app.ts';
import { boot, type BootOptions, prepareDatabase, reachingDatabase } from './boot.ts';
import type { SeedReport, SeedRow } from './seed/index.ts';

export interface SeedAppOptions extends BootOptions {
  /** Called after each row. */
  readonly progress?: (done: number, total: number) => void;
}

/**
 * Loads rows into a project's database without starting the server, for `generator seed`.
 * Migrations are applied as at a start: in production only with `MIGRATE=on`.
 *
 * @returns what was written or, when nothing was written, the findings for each row.
 * @throws ConfigError for invalid settings or pending migrations.
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
