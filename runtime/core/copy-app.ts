import type { App } from './app.ts';
import { appliedIn, leftIn, rootOf } from './database-of-app.ts';
import type { MoveOptions, RestoreReport } from './move-report.ts';
import { ownedBy } from './owned-tables.ts';
import { movedTables, openRowReader, tableRows } from './store/transfer/open-rows.ts';
import { intoTarget } from './target-of-app.ts';

export interface CopyInput {
  readonly from: string;
  readonly to: string;
  /** Whether rows that are already in the target are removed first. */
  readonly replace?: boolean;
  /** The name of a guarded database, whose rows may be removed. */
  readonly confirm?: string;
}

export interface CopyReport extends RestoreReport {
  /** Views, functions and tables that other programs made. They were not copied. */
  readonly left: readonly string[];
}

/**
 * Copies all rows of a server from one database to another, for `generator db copy`, in the state
 * of one moment. All rows are written or none.
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
    return { ...report, left: leftIn(reader.catalog, owned) };
  } finally {
    await reader.close();
  }
}
