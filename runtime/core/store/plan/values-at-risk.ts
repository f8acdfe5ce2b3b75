import { sql } from 'kysely';
import type { Finding } from '../tables/migration-run.ts';
import type { RowSource } from '../tables/row-checks.ts';

/**
 * The values of the rows that a finding names, one text for each key; `null` for no value. A table
 * that is dropped and a new column have none.
 */
export async function valuesAtRisk(
  { db, table, key, rows }: RowSource,
  { keys, object, does }: Finding,
): Promise<readonly string[]> {
  const columns = object === table ? [] : object.slice(table.length + 1).split(', ');
  if (columns.length === 0 || key.length === 0 || does === 'add') return keys.map(() => '');
  const keyText = joined(key, ':');
  const found = await sql<{ at: string; value: string }>`
    select ${keyText} as at, ${joined(columns, ', ')} as value from ${rows}
    where ${keyText} in (${sql.join(keys)})`.execute(db);
  const values = new Map(found.rows.map(({ at, value }) => [at, value]));
  return keys.map((each) => values.get(each) ?? 'null');
}

/** The values of columns as one text. */
function joined(columns: readonly string[], between: string) {
  return sql.join(
    columns.map((name) => sql`coalesce(cast(${sql.ref(name)} as text), 'null')`),
    sql` || ${sql.lit(between)} || `,
  );
}
