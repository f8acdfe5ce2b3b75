import { CompiledQuery, type Kysely } from 'kysely';
import { dialectOf } from '@twofold/runtime/store';
import type { Catalog, CatalogSource } from './catalog.ts';
import { readPostgres } from './postgres.ts';
import { readSqlite } from './sqlite.ts';

export interface CatalogOptions {
  /**
   * The schemas of PostgreSQL to read; those of the search path when absent. SQLite has only
   * `main`.
   */
  readonly schemas?: readonly string[];
}

/**
 * Reads the catalog of the database. It needs at most 13 statements, however many tables there are.
 *
 * @example
 * const { tables } = await readCatalog(catalogSource(store.db), { schemas: ['public'] });
 */
export function readCatalog(
  source: CatalogSource,
  { schemas }: CatalogOptions = {},
): Promise<Catalog> {
  return source.dialect === 'sqlite' ? readSqlite(source) : readPostgres(source, schemas);
}

/** Reads through Kysely: a store's `db`, or a transaction. */
export function catalogSource(db: Kysely<any>): CatalogSource {
  return {
    dialect: dialectOf(db),
    rows: async (sql, parameters) =>
      (await db.executeQuery<Record<string, unknown>>(CompiledQuery.raw(sql, [...parameters])))
        .rows,
  };
}
