import type { Catalog, CatalogIndex, CatalogTable } from '@twofold/database';
import { keyOf } from './column-type.ts';
import type { ReportItem } from '../imported.ts';
import { type Importing, isServed, objectOf } from './types.ts';

/**
 * Adds to the report everything that has no field: tables, keys, indexes, triggers and the rest.
 */
export function noteObjects(importing: Importing, left: readonly CatalogTable[]): void {
  const { items, catalog, types, joins, wishes } = importing;
  for (const { table, name, view } of types.values()) {
    items.push({ object: objectOf(table), kind: kindOf(table), status: 'kept', as: name });
    if (view && table.kind === 'table')
      items.push({
        object: `${objectOf(table)}.key`,
        kind: 'key',
        status: 'approximated',
        why: 'the table has no key, so its rows are only read',
      });
    noteTable(table, importing);
  }
  for (const table of joins) noteTable(table, importing);
  for (const table of left) items.push(leftItem(table, wishes.unwanted));
  noteTypes(importing, catalog);
}

const kindOf = ({ kind }: CatalogTable) => (kind === 'table' ? 'table' : kind);

function leftItem(table: CatalogTable, unwanted = 'left out by --only or --skip'): ReportItem {
  const why = table.partitionOf
    ? `a partition of ${objectOf(table.partitionOf)}`
    : table.extension === null && isServed(table)
      ? unwanted
      : table.extension === null
        ? 'a table of the server, or a virtual one'
        : `it belongs to the extension ${table.extension}`;
  const status = table.partitionOf ? 'kept' : 'closed';
  return { object: objectOf(table), kind: kindOf(table), status, why };
}

const DATABASE = 'the database goes on doing it';

function noteTable(table: CatalogTable, { items }: Importing): void {
  const note = (kind: string, name: string, rest: Omit<ReportItem, 'object' | 'kind'>) =>
    items.push({ object: `${objectOf(table)}.${name}`, kind, ...rest });
  if (table.primaryKey) note('key', table.primaryKey.name, { status: 'kept' });
  for (const { name, columns } of table.uniques)
    note('unique', name, { status: 'kept', as: columns.length === 1 ? '@unique' : '@index' });
  for (const index of table.indexes) note('index', index.name, indexStatus(index));
  for (const { name } of table.exclusions)
    note('exclusion', name ?? '', { status: 'notExpressible', why: DATABASE });
  for (const { name } of table.triggers)
    note('trigger', name, { status: 'notExpressible', why: DATABASE });
  for (const { name, roles } of table.policies)
    note('policy', name, {
      status: 'notExpressible',
      why: `it holds in the database for ${roles.join(', ')}; the rules of the API are your own`,
    });
}

function indexStatus({
  where,
  onExpressions,
  method,
}: CatalogIndex): Omit<ReportItem, 'object' | 'kind'> {
  if (where !== null) return { status: 'notExpressible', why: `a partial index: ${where}` };
  if (onExpressions) return { status: 'notExpressible', why: 'an index on an expression' };
  if (method !== 'btree')
    return { status: 'notExpressible', why: `an index of the kind ${method}` };
  return { status: 'kept', as: '@index' };
}

function noteTypes({ items, enumNames }: Importing, catalog: Catalog): void {
  const here = ({ schema }: { readonly schema: string }) => catalog.schemas.includes(schema);
  for (const each of catalog.enums) {
    const as = enumNames.get(keyOf(each));
    if (as !== undefined) items.push({ object: objectOf(each), kind: 'enum', status: 'kept', as });
    else if (here(each))
      items.push({
        object: objectOf(each),
        kind: 'enum',
        status: 'closed',
        why: 'no column has it',
      });
  }
  for (const each of catalog.domains.filter(here))
    items.push({ object: objectOf(each), kind: 'domain', status: 'kept', as: '@column(type:)' });
  for (const { ownedBy, ...each } of catalog.sequences)
    items.push({
      object: objectOf(each),
      kind: 'sequence',
      status: ownedBy ? 'kept' : 'notExpressible',
      ...(ownedBy ? { as: '@default(expr: DATABASE)' } : { why: 'no column owns it' }),
    });
  for (const { schema, name, kind, parameters, extension } of catalog.functions)
    if (extension === null)
      items.push({
        object: `${objectOf({ schema, name })}(${parameters})`,
        kind,
        status: 'notExpressible',
        why: 'call it from a function of your own',
      });
  for (const extension of new Set(catalog.functions.flatMap((each) => each.extension ?? [])))
    items.push({
      object: extension,
      kind: 'extension',
      status: 'kept',
      why: 'the database goes on having its functions',
    });
}
