/**
 * The runtime's description of a database. The command line starts the runtime and never loads it,
 * so only types are imported here.
 */
export type {
  Catalog,
  CatalogColumn,
  CatalogForeignKey,
  CatalogIndex,
  CatalogTable,
  StorageClasses,
} from '../runtime/database/catalog/catalog.ts';
