import type { Kysely } from 'kysely';
import { InternalError } from '@twofold/runtime/errors';
import { columnsOf, dialectOf, type TableChange } from '@twofold/runtime/store';
import { alterOnPostgres } from './alter-postgres.ts';
import { alterOnSqlite } from './alter-sqlite.ts';
import { columnsIn, describeColumn, type Alteration } from './alteration.ts';
import { asStep, beforeDrop, recorded } from './migration-run.ts';

/** Makes the changes of a table as one step. */
export async function makeTableChanges(
  db: Kysely<any>,
  table: string,
  stated: readonly TableChange[],
): Promise<void> {
  const changes = stated.map((change) => described(db, table, change));
  await asStep({ kind: 'alterTable', table, changes }, objectOf(table, changes), async () => {
    for (const change of changes)
      if (change.kind === 'drop') await beforeDrop({ table, column: change.column.name });
    const alter = dialectOf(db) === 'sqlite' ? alterOnSqlite : alterOnPostgres;
    await alter(db, table, await settled(db, table, changes));
  });
}

function described(db: Kysely<any>, table: string, change: TableChange): Alteration {
  if (!('name' in change)) return change;
  const { kind, name, type: given, build = (column) => column } = change;
  const type =
    typeof given === 'object' && 'to' in given
      ? { type: given.to, from: given.from }
      : { type: given };
  return { kind, column: describeColumn(db, { table, name, ...type, build }) };
}

/**
 * Two branches may add the same column: the second migration changes its definition.
 *
 * @throws InternalError when a change is about a column that the table does not have.
 */
async function settled(
  db: Kysely<any>,
  table: string,
  changes: readonly Alteration[],
): Promise<Alteration[]> {
  const present = await columnsOf(db, table);
  // Statements that are recorded on PostgreSQL do not run, so the catalog is behind them.
  if (dialectOf(db) === 'sqlite' || !recorded()) assertPresent(table, present, changes);
  return changes.map((change) =>
    change.kind === 'add' && present.has(change.column.name)
      ? { ...change, kind: 'alter' }
      : change,
  );
}

function assertPresent(
  table: string,
  present: ReadonlySet<string>,
  changes: readonly Alteration[],
): void {
  const made = new Set(present);
  for (const change of changes) {
    if (change.kind === 'add') made.add(change.column.name);
    const missing = columnsIn(change).find((name) => !made.has(name));
    if (missing !== undefined)
      throw new InternalError(
        present.size === 0
          ? `there is no table ${table}`
          : `there is no column ${table}.${missing} to change`,
      );
  }
}

const objectOf = (table: string, [first, ...others]: readonly Alteration[]): string =>
  !first || others.length > 0 ? table : `${table}.${columnsIn(first).join(', ')}`;
