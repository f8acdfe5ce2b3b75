import { createHash } from 'node:crypto';
import { type Kysely, sql } from 'kysely';
import { quotedName } from '@twofold/runtime/store';

/** A constraint or index that was made before the transaction of its migration. */
export interface Ready {
  readonly table: string;
  readonly column: string;
  readonly does: 'require' | 'unique' | 'check' | 'reference';
  /** The definition: the condition of a check, or the target of a foreign key. */
  readonly definition: string;
}

const PREFIX = 'twofold_ready_';

export function isReadyName(name: string | null): boolean {
  return name?.startsWith(PREFIX) ?? false;
}

/**
 * The name of a preparation until the migration takes it over. It is a hash, because a name that is
 * built from others may exceed the 63 bytes of PostgreSQL, which cuts it.
 */
export function readyName({ table, column, does, definition }: Ready): string {
  const hash = createHash('sha256').update(JSON.stringify([table, column, does, definition]));
  return `${PREFIX}${does}_${hash.digest('hex').slice(0, 16)}`;
}

/**
 * Whether this constraint or index exists and was checked against all rows. `table` is its present
 * name.
 */
export async function isReady(db: Kysely<any>, table: string, name: string): Promise<boolean> {
  const { rows } = await sql<{ ready: boolean }>`
    select convalidated as ready from pg_constraint
    where conname = ${name} and conrelid = to_regclass(${quotedName(table)})
    union all
    select i.indisvalid as ready from pg_index i join pg_class c on c.oid = i.indexrelid
    where c.relname = ${name} and i.indrelid = to_regclass(${quotedName(table)})`.execute(db);
  return rows.length > 0 && rows.every(({ ready }) => ready);
}
