import { first } from '@twofold/schema';
import { type Kysely, sql } from 'kysely';
import { InternalError } from '@twofold/runtime/errors';
import {
  dialectOf,
  dropPostgresSearch,
  dropSqliteSearch,
  fillPostgres,
  ginIndex,
  postgresSearch,
  type SearchIndex,
  type SearchIndexOptions,
  sqliteSearch,
} from '@twofold/runtime/store';
import { asStep } from './migration-run.ts';

export async function createSearchIndex(db: Kysely<any>, index: SearchIndexOptions): Promise<void> {
  const { name, table, columns, language, key } = index;
  const told = { name, columns, unique: false, search: { language, key } };
  await asStep({ kind: 'createIndex', table, index: told }, name, async () => {
    if (dialectOf(db) === 'postgres' && (await isThere(db, name))) return;
    const searched = { key, byNumber: await isByNumber(db, index) };
    const statements =
      dialectOf(db) === 'sqlite'
        ? sqliteSearch(index, searched)
        : [...postgresSearch(index, searched), fillPostgres(index, searched), ginIndex(index)];
    for (const statement of statements) await sql.raw(statement).execute(db);
  });
}

/** Whether the index was made online, before the transaction of the migration. */
async function isThere(db: Kysely<any>, name: string): Promise<boolean> {
  const { rows } = await sql`select 1 from pg_index i join pg_class c on c.oid = i.indexrelid
    where c.oid = to_regclass(${`"${name}_index"`}) and i.indisvalid`.execute(db);
  return rows.length > 0;
}

/** Whether the key is declared as SQLite's number of a row. */
async function isByNumber(
  db: Kysely<any>,
  { table, key }: Pick<SearchIndexOptions, 'table' | 'key'>,
): Promise<boolean> {
  if (dialectOf(db) === 'postgres') return false;
  const { rows } = await sql<{ name: string; type: string; pk: number }>`
    select name, type, pk from pragma_table_info(${table}) where pk > 0`.execute(db);
  if (rows.length === 0) throw new InternalError(`there is no table ${table} with a key`);
  return rows.length === 1 && key.length === 1 && /^integer$/i.test(first(rows).type);
}

export async function dropSearchIndex(
  db: Kysely<any>,
  index: Pick<SearchIndex, 'name' | 'table'>,
): Promise<void> {
  const { name, table } = index;
  const told = { name, columns: [], unique: false };
  await asStep({ kind: 'dropIndex', table, index: told }, name, async () => {
    const statements =
      dialectOf(db) === 'sqlite' ? dropSqliteSearch(index) : dropPostgresSearch(index);
    for (const statement of statements) await sql.raw(statement).execute(db);
  });
}
