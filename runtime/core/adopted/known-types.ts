import { canonicalType, fitsDatabaseType, type Column, type KeyKind } from '@twofold/schema';
import type { CatalogColumn } from '../store/catalog/catalog.ts';
import type { Dialect } from '../store/store.ts';

/**
 * Whether values of the database's column can be served as the model's. A type that `@column(type:)`
 * names has to be that one. SQLite keeps any value in any column, so that every type fits there.
 *
 * @example fitsType(column, found, 'postgres')
 */
export function fitsType(column: Column, found: CatalogColumn, dialect: Dialect): boolean {
  if (dialect === 'sqlite') return true;
  const { type, list, key, references, databaseType } = column;
  // What refers to a key may be of another type of the same kind: text to varchar(30).
  if (databaseType !== undefined && !references) return isSameType(databaseType, found);
  const isKey = key !== undefined || references !== undefined;
  if (found.typeKind === 'array') return type === 'json' && list;
  if (found.typeKind === 'enum') return type === 'text';
  if (found.typeKind === 'domain') return true;
  return fitsDatabaseType({ type: isKey ? 'id' : type, list }, found.typeName.name) === true;
}

/** Whether the schema names the type that the column has: without its schema and parameters. */
function isSameType(written: string, { type, typeName, typeKind }: CatalogColumn): boolean {
  const own = `${typeName.name}${typeKind === 'array' ? '[]' : ''}`;
  return [canonicalType(type), canonicalType(own)].includes(canonicalType(written));
}

const WHOLE: ReadonlySet<string> = new Set(['smallint', 'integer', 'bigint', 'numeric']);

/** How the values of a key are written. */
export function keyKindOf(found: CatalogColumn, dialect: Dialect): KeyKind {
  if (dialect === 'sqlite') return /int/i.test(found.type) ? 'integer' : 'text';
  const name = canonicalType(found.typeName.name);
  if (name === 'uuid') return 'uuid';
  return WHOLE.has(name) ? 'integer' : 'text';
}
