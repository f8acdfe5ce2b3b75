import { type Kysely, sql } from 'kysely';
import { InternalError } from '../../errors.ts';
import { dialectOf } from '../tables/column-types.ts';
import { asStep } from '../tables/migration-run.ts';
import { isRecorded } from '../plan/recording.ts';
import { dropPostgresSearch, fillPostgres, ginIndex, postgresSearch } from './postgres-search.ts';
import type { SearchIndex } from './search-index.ts';
import { dropSqliteSearch, sqliteSearch } from './sqlite-search.ts';

/** An index of full-text search, with the key of its table. */
export interface SearchIndexOptions extends SearchIndex {
  /** The columns of the table's primary key. */
  readonly key: readonly string[];
}

/**
 * Makes the full-text index of a table: FTS5 on SQLite, a `tsvector` with GIN on PostgreSQL.
 * Triggers update it on every write, in the transaction of the write.
 *
 * @example await createSearchIndex(db, { name: 'twofold_search_posts', table: 'posts', key: ['id'], columns: ['title', 'body'], language: 'english' });
 */
export async function createSearchIndex(db: Kysely<any>, index: SearchIndexOptions): Promise<void> {
  const { name, table, columns, language, key } = index;
  const recorded = { name, columns, unique: false, search: { language, key } };
  if (isRecorded({ kind: 'createIndex', table, index: recorded })) return;
  await asStep(name, async () => {
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
  return rows.length === 1 && key.length === 1 && /^integer$/i.test(rows[0]!.type);
}

/**
 * Drops everything that `createSearchIndex` made. The rows of the table stay.
 *
 * @example await dropSearchIndex(db, { name: 'twofold_search_posts', table: 'posts' });
 */
export async function dropSearchIndex(
  db: Kysely<any>,
  index: Pick<SearchIndex, 'name' | 'table'>,
): Promise<void> {
  const { name, table } = index;
  if (isRecorded({ kind: 'dropIndex', table, index: { name, columns: [], unique: false } })) return;
  await asStep(index.name, async () => {
    const statements =
      dialectOf(db) === 'sqlite' ? dropSqliteSearch(index) : dropPostgresSearch(index);
    for (const statement of statements) await sql.raw(statement).execute(db);
  });
}
