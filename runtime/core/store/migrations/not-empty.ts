import { AppError } from '../../errors.ts';
import { columnsOf } from '../tables/row-checks.ts';
import type { Ledger } from './ledger.ts';
import type { Migration } from './migration.ts';
import { recordMigration } from '../plan/record.ts';
import type { Store } from '../store.ts';

/**
 * Refuses migrations that would make a table that is there and that no migration of ours made.
 *
 * @throws AppError `DATABASE_NOT_EMPTY` with all such tables; nothing ran.
 */
export async function assertEmptyFor(
  { db, dialect }: Store,
  pending: readonly Migration[],
  ledger: Ledger,
): Promise<void> {
  const made = new Set(madeBefore(ledger));
  const there: string[] = [];
  for (const migration of pending)
    for (const step of await recordMigration(migration, dialect)) {
      if (step.kind === 'renameTable') made.add(step.to);
      if (step.kind === 'dropTable') made.add(step.table.name);
      if (step.kind !== 'createTable' || step.ifNotExists) continue;
      const { name } = step.table;
      if (made.has(name)) continue;
      made.add(name);
      if ((await columnsOf(db, name)).size > 0) there.push(name);
    }
  if (there.length === 0) return;
  const one = there.length === 1;
  throw new AppError(
    409,
    'DATABASE_NOT_EMPTY',
    `the database has ${one ? 'a table' : 'tables'} ${there.join(', ')} that no migration of this project made, and ${pending[0]!.name} would make ${one ? 'it' : 'them'}; nothing ran.\n   fix  to serve what is there: npm run generator -- import db; where ${one ? 'it is' : 'they are'} what the migrations make: npm run migrate -- baseline`,
    { extensions: { tables: there } },
  );
}

/** Tables that applied migrations have made, because their undo would drop these tables. */
function madeBefore({ applied }: Ledger): string[] {
  return applied.flatMap(({ undo }) =>
    (undo ?? []).flatMap(({ drops = [] }) =>
      drops.flatMap(({ table, column }) => (column === undefined ? [table] : [])),
    ),
  );
}
