import type { App } from './app.ts';
import { appliedIn, leftIn, rootOf } from './database-of-app.ts';
import type { MoveOptions, RestoreReport } from './move-report.ts';
import { ownedBy } from './owned-tables.ts';
import { movedTables, openRowReader, tableRows } from './store/transfer/open-rows.ts';
import { intoTarget } from './target-of-app.ts';

export interface CopyInput {
  readonly from: string;
  readonly to: string;
  /** Whether the rows that are there are removed. */
  readonly replace?: boolean;
  /** The name of a guarded database, whose rows may be removed. */
  readonly confirm?: string;
}

export interface CopyReport extends RestoreReport {
  /** Views, functions and tables of others, which were not copied. */
  readonly left: readonly string[];
}

/**
 * Copies the rows of everything that a server owns from one database to another, for `generator db
 * copy`, as they were at one moment. All rows are written or none.
 *
 * @throws as `restoreApp` does
 */
export async function copyApp(
  app: App,
  { from, to, ...input }: CopyInput,
  options: MoveOptions = {},
): Promise<CopyReport> {
  const root = rootOf(app);
  const owned = await ownedBy(app, options);
  const reader = await openRowReader(from, root, owned.schemas);
  try {
    const migrations = await appliedIn(reader);
    const tables = movedTables(reader, owned.tables);
    const target = { app, url: to, root, owned, migrations, ...input, options };
    const report = await intoTarget(target, async function* () {
      for (const table of tables) yield tableRows(reader, table);
    });
    return { ...report, left: leftIn(reader.catalog, owned.tables) };
  } finally {
    await reader.close();
  }
}
