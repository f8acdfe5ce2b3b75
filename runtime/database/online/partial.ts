import { type Kysely, sql } from 'kysely';
import { hashOf, LEDGER, type Migration, readLedger } from '@twofold/runtime/store';

/** A migration with preparations that is not applied yet, as the ledger records it. */
export interface Partial {
  readonly hash: string;
  /** The number of preparations that are done. */
  readonly steps: number;
  /** The statements that take back all of them, and the one that was being made. */
  readonly undo: readonly string[];
}

/** The state of a migration's preparations; null when nothing was prepared. */
export async function readPartial(db: Kysely<any>, name: string): Promise<Partial | null> {
  const row = await db
    .selectFrom(LEDGER)
    .select(['hash', 'steps', 'undo'])
    .where('name', '=', name)
    .where('steps', 'is not', null)
    .executeTakeFirst();
  if (!row) return null;
  const undo = JSON.parse(String(row['undo'])) as readonly { readonly sql: string }[];
  return {
    hash: String(row['hash']),
    steps: Number(row['steps']),
    undo: undo.map((each) => each.sql),
  };
}

export async function hasPartial(db: Kysely<any>, name: string): Promise<boolean> {
  const { applied } = await readLedger(db);
  return applied.some((row) => row.name === name && row.steps !== null);
}

export async function notePartial(
  db: Kysely<any>,
  migration: Pick<Migration, 'name' | 'text'>,
  { steps, undo }: Pick<Partial, 'steps' | 'undo'>,
): Promise<void> {
  const values = { steps, undo: JSON.stringify(undo.map((text) => ({ sql: text }))) };
  await db
    .insertInto(LEDGER)
    .values({
      name: migration.name,
      hash: hashOf(migration),
      applied_at: sql`${new Date().toISOString()}`,
      ...values,
    })
    .onConflict((conflict) => conflict.column('name').doUpdateSet(values))
    .execute();
}

export async function forgetPartial(db: Kysely<any>, name: string): Promise<void> {
  await db.deleteFrom(LEDGER).where('name', '=', name).where('steps', 'is not', null).execute();
}
