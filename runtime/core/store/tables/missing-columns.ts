import { sql } from 'kysely';
import type { Table } from '@twofold/schema';
import { AppError } from '../../errors.ts';
import type { Store } from '../store.ts';

/**
 * Refuses to serve tables that the database does not have: a migration that was not committed would
 * otherwise fail with "no such column" at the first query.
 *
 * @throws AppError `MIGRATION_STEP_MISSING` with every missing table and column.
 */
export async function assertTables(store: Store, tables: readonly Table[]): Promise<void> {
  const present = await readColumns(store);
  const missing = tables.flatMap(({ name, columns }) =>
    present.has(name)
      ? columns.flatMap((column) =>
          present.get(name)!.has(column.name) ? [] : [`${name}.${column.name}`],
        )
      : [name],
  );
  if (missing.length === 0) return;
  throw new AppError(
    500,
    'MIGRATION_STEP_MISSING',
    `the database lacks ${missing.join(', ')}, and no migration in migrations/ makes ${missing.length === 1 ? 'it' : 'them'}.\n   fix  restore the file that is missing (git status and git log -- migrations show it), or run "npm run generate", which writes what is missing, and commit it`,
    { extensions: { missing } },
  );
}

async function readColumns({ db, dialect }: Store): Promise<Map<string, Set<string>>> {
  const { rows } = await (
    dialect === 'sqlite'
      ? sql<{ table: string; column: string }>`
        select m.name as "table", c.name as "column" from sqlite_master m, pragma_table_info(m.name) c where m.type in ('table', 'view')`
      : sql<{ table: string; column: string }>`
        select table_name as "table", column_name as "column" from information_schema.columns where table_schema = any (current_schemas(false))`
  ).execute(db);
  const columns = new Map<string, Set<string>>();
  for (const { table, column } of rows)
    (columns.get(table) ?? columns.set(table, new Set()).get(table)!).add(column);
  return columns;
}
