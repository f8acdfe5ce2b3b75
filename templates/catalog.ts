/**
 * What the runtime says of a database. The command line starts the runtime and never loads it, so
 * only the types come here.
 */
export type {
  Catalog,
  CatalogColumn,
  CatalogForeignKey,
  CatalogIndex,
  CatalogTable,
} from '../runtime/core/store/catalog/catalog.ts';
