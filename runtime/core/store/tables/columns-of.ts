import { type Kysely, sql } from 'kysely';
import { dialectOf } from './column-types.ts';
import { quotedName } from './quoting.ts';

/** The columns of a table; none when there is no such table. */
export async function columnsOf(db: Kysely<any>, table: string): Promise<ReadonlySet<string>> {
  const { rows } = await (
    dialectOf(db) === 'sqlite'
      ? sql<{ name: string }>`select name from pragma_table_info(${table})`
      : sql<{ name: string }>`
        select attname as name from pg_attribute
        where attrelid = to_regclass(${quotedName(table)}) and attnum > 0 and not attisdropped`
  ).execute(db);
  return new Set(rows.map(({ name }) => name));
}
