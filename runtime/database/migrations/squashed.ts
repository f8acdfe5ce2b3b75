import type { Kysely } from 'kysely';
import { AppError } from '@twofold/runtime/errors';
import {
  hashOf,
  type Ledger,
  type Migration,
  noteApplied,
  noteUndone,
} from '@twofold/runtime/store';

/** A migration that replaced others, all of which are applied. */
export interface Squashed {
  readonly migration: Migration;
  readonly replaces: readonly string[];
}

/**
 * Migrations of the folder whose effect the database already has, because it applied all that they
 * replace.
 *
 * @throws AppError `MIGRATION_SQUASHED` when it applied only some of them.
 */
export function squashedBy({ applied }: Ledger, migrations: readonly Migration[]): Squashed[] {
  const names = new Set(applied.map(({ name }) => name));
  return migrations.flatMap((migration) => {
    const { replaces = [], name } = migration;
    const there = replaces.filter((each) => names.has(each));
    if (there.length === 0 || names.has(name)) return [];
    if (there.length === replaces.length) return [{ migration, replaces }];
    throw halfApplied(migration, there);
  });
}

function halfApplied({ name, replaces = [] }: Migration, there: readonly string[]): AppError {
  const others = replaces.filter((each) => !there.includes(each));
  return new AppError(
    500,
    'MIGRATION_SQUASHED',
    `${name} takes the place of ${replaces.join(', ')}, and this database has applied ${there.join(', ')} but not ${others.join(', ')}; nothing was done.\n   fix  go back to the commit before the squash, run "npm run migrate" there, and come back`,
    { extensions: { migration: name, migrations: others } },
  );
}

/** The ledger as it will be when squashed migrations are recorded. */
export function withSquashed(ledger: Ledger, squashed: readonly Squashed[]): Ledger {
  const gone = new Set(squashed.flatMap(({ replaces }) => replaces));
  const applied = ledger.applied.flatMap((row) => {
    const by = squashed.find(({ replaces }) => replaces[0] === row.name);
    if (by) return [{ ...row, name: by.migration.name, hash: hashOf(by.migration), undo: null }];
    return gone.has(row.name) ? [] : [row];
  });
  return { ...ledger, applied };
}

/** Records it as applied; nothing runs. It is one-way, because undoing it would undo them all. */
export async function noteSquashed(
  db: Kysely<any>,
  { migration, replaces }: Squashed,
): Promise<void> {
  for (const name of replaces) await noteUndone(db, name);
  await noteApplied(db, migration, null);
}
