import { type Kysely, sql } from 'kysely';
import {
  isSafe,
  type RowCheck,
  storedType,
  type TypeChange,
  type UndoValue,
} from '@twofold/runtime/store';
import type { ColumnDescription } from './alteration.ts';
import type { MigrationRun } from './migration-run.ts';

interface Recorded {
  readonly db: Kysely<any>;
  readonly table: string;
  readonly kind: 'add' | 'alter';
  readonly column: ColumnDescription;
  readonly change: TypeChange | null;
}

/**
 * Records the definition of a column, against which the undo checks the rows that exist then, and
 * the values that a change of its type would shorten.
 */
export function recordCheck(
  { drops, checks }: NonNullable<MigrationRun['recorded']>,
  { db, table, kind, column, change }: Recorded,
): void {
  if (change && !isSafe(change.from, change.to)) drops.push({ table, column: column.name });
  const type = storedType(column.type);
  if (type) checks.push({ ...describe(db, column), table, kind, type });
}

function describe(
  db: Kysely<any>,
  column: ColumnDescription,
): Omit<RowCheck, 'table' | 'kind' | 'type'> {
  const { name, from, required, unique, default: value, check, references } = column;
  const former = from === undefined ? undefined : storedType(from);
  return {
    name,
    required,
    unique,
    ...(former && { from: former }),
    ...('default' in column && { default: isPlain(value) ? value : null }),
    ...(check && { check: sql`${check}`.compile(db).sql }),
    ...(references && { references: `${references.table}.${references.references[0]}` }),
  };
}

function isPlain(value: unknown): value is UndoValue {
  return value === null || typeof value !== 'object';
}
