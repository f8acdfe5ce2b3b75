/** What of `@twofold/runtime/store` makes SQL alone, and opens no file and no database. */
export {
  dropPostgresSearch,
  fillPostgres,
  ginIndex,
  postgresSearch,
} from '../../../runtime/core/store/search/postgres-search.ts';
export { isOfSearch } from '../../../runtime/core/store/search/search-index.ts';
export {
  dropSqliteSearch,
  sqliteSearch,
} from '../../../runtime/core/store/search/sqlite-search.ts';
export * from '../../../runtime/core/store/tables/column-types.ts';
export { columnsOf } from '../../../runtime/core/store/tables/columns-of.ts';
export {
  convertOnPostgres,
  convertValue,
  isSafe,
} from '../../../runtime/core/store/tables/conversion.ts';
export { folded } from '../../../runtime/core/store/tables/folded.ts';
export { quotedName, quotedText } from '../../../runtime/core/store/tables/quoting.ts';
