/**
 * `@twofold/runtime/store`: the parts of the store on which `@twofold/database` builds. A project's
 * own code imports `@twofold/runtime`.
 */
export { databaseAddress } from './address.ts';
export { assertConfirmed, type Guard } from './migrations/guard.ts';
export * from './migrations/ledger.ts';
export { type MigrationFile, migrationFiles } from './migrations/migration-files.ts';
export type { Migration } from './migrations/migration.ts';
export { openStore } from './open-store.ts';
export { addressOf } from './postgres/address.ts';
export { clientOf } from './postgres/connecting.ts';
export {
  dropPostgresSearch,
  fillPostgres,
  ginIndex,
  postgresSearch,
} from './search/postgres-search.ts';
export { isOfSearch, type SearchIndex, type SearchIndexOptions } from './search/search-index.ts';
export { dropSqliteSearch, sqliteSearch } from './search/sqlite-search.ts';
export { openSqlite, type SqliteConnection } from './sqlite/sqlite-connection.ts';
export { sqliteStore } from './sqlite/sqlite-store.ts';
export type { Dialect, Query, Store } from './store.ts';
export type { TableChange } from './tables/altering.ts';
export * from './tables/column-types.ts';
export { columnsOf } from './tables/columns-of.ts';
export { convertOnPostgres, convertValue, isSafe, type TypeChange } from './tables/conversion.ts';
export { folded, type FoldedIndex } from './tables/folded.ts';
export { quotedName, quotedText } from './tables/quoting.ts';
export type * from './tables/undo-statement.ts';
export { lostConnection, unreachable } from './unreachable.ts';
