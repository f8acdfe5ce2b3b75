import type { Kysely } from 'kysely';
import {
  dropPostgresSearch,
  fillPostgres,
  ginIndex,
  postgresSearch,
  quotedName,
  type SearchIndex,
} from '@twofold/runtime/store';
import type { TableForeignKey, TableIndex } from '@twofold/schema';
import {
  type Preparation,
  prepareCheck,
  prepareColumn,
  prepareIndex,
  prepareKey,
  prepareReference,
  prepareRequired,
  prepareUnique,
  type Preparing,
} from '../online/preparation.ts';
import type { ColumnDescription } from '../tables/alteration.ts';
import { defaultSql } from '../tables/row-checks.ts';
import { checkText } from './aspects.ts';
import type { Does } from '../tables/effects.ts';
import type { PlannedColumn, PlannedTables } from './planned-tables.ts';

/** What is needed to prepare a step. */
interface At {
  readonly db: Kysely<any>;
  readonly tables: PlannedTables;
}

/** The preparations for a new column and its constraints; none when its table is new too. */
export function prepareAdded(at: At, table: string, column: ColumnDescription): Preparation[] {
  const origin = at.tables.get(table)?.origin ?? null;
  if (origin === null || (column.required && !('default' in column))) return [];
  const preparing = {
    db: at.db,
    table,
    column: column.name,
    origin: { table: origin, column: column.name },
  };
  const constraints = CONSTRAINTS.map((does) => prepare(at, does, { preparing, column }));
  // The column is prepared only if all of its constraints can be prepared.
  if (constraints.includes(null)) return [];
  return [prepareColumn(preparing, column), ...constraints.flatMap((each) => each ?? [])];
}

const CONSTRAINTS = ['unique', 'check', 'reference'] as const;

interface AlteredColumn {
  readonly does: Does;
  readonly before: PlannedColumn;
  readonly after: ColumnDescription;
}

/** A new constraint of a column; none when this migration also changes the column's values. */
export function prepareAltered(
  at: At,
  table: string,
  { does, before, after }: AlteredColumn,
): Preparation[] {
  const origin = at.tables.get(table)?.origin ?? null;
  if (origin === null || before.origin === null) return [];
  const preparing = {
    db: at.db,
    table,
    column: after.name,
    origin: { table: origin, column: before.origin },
  };
  return prepare(at, does, { preparing, column: after }) ?? [];
}

interface Constrained {
  readonly preparing: Preparing;
  readonly column: ColumnDescription;
}

/** Null when a constraint cannot be prepared before the migration. */
function prepare(at: At, does: Does, { preparing, column }: Constrained): Preparation[] | null {
  const { db, origin } = preparing;
  switch (does) {
    case 'unique':
      return column.unique ? [prepareUnique(preparing)] : [];
    case 'require':
      return [
        prepareRequired(
          preparing,
          'default' in column ? defaultSql(db, column.default).compile(db).sql : null,
        ),
      ];
    case 'check':
      if (!column.check) return [];
      // The condition names the column.
      return origin.column === column.name
        ? [prepareCheck(preparing, checkText(db, column))]
        : null;
    case 'reference':
      return prepareOther(at, { preparing, column });
    default:
      return [];
  }
}

function prepareOther({ tables }: At, { preparing, column }: Constrained): Preparation[] | null {
  const { references, onDelete = 'no action' } = column;
  if (references === undefined) return [];
  const other = tables.get(references.slice(0, references.lastIndexOf('.')));
  if (!other || other.origin === null) return null;
  return [prepareReference(preparing, { references, target: other.origin, onDelete })];
}

/**
 * The preparation of a foreign key. Both tables and all columns must exist before the migration,
 * with these names.
 */
export function prepareForeignKey(
  { tables }: At,
  table: string,
  key: TableForeignKey,
): Preparation[] {
  const there = (name: string, columns: readonly string[]) => {
    const planned = tables.get(name);
    return (
      planned?.origin === name &&
      columns.every((column) => planned.columns.get(column)?.origin === column)
    );
  };
  return there(table, key.columns) && there(key.table, key.references)
    ? [prepareKey(table, key)]
    : [];
}

export function prepareCreatedIndex(
  { db, tables }: At,
  table: string,
  { name, columns, unique, fold }: TableIndex,
): Preparation[] {
  const planned = tables.get(table);
  const origins = columns.map((column) => planned?.columns.get(column)?.origin ?? null);
  if (!planned || planned.origin === null || columns.length === 0 || origins.includes(null))
    return [];
  const preparing = { db, table, origin: { table: planned.origin, column: '' } };
  return [prepareIndex(preparing, { name, columns: origins as string[], unique, fold })];
}

/**
 * The preparations of a search; none when its columns do not exist before the migration, or have
 * other names.
 */
export function prepareSearch(
  { tables }: Pick<At, 'tables'>,
  table: string,
  { name, columns, search }: TableIndex,
): Preparation[] {
  const planned = tables.get(table);
  const named = [...columns, ...(search?.key ?? [])];
  const same = named.every((column) => planned?.columns.get(column)?.origin === column);
  if (!search || planned?.origin !== table || !same) return [];
  return searchPreparations({ name, table, columns, language: search.language }, search.key);
}

/** How many rows are indexed in one transaction. */
const ROWS = 5000;

/**
 * Makes the index of a search without blocking writes: first the triggers, which index all rows
 * that change from then on, then the other rows in parts, then the index over their words.
 */
export function searchPreparations(index: SearchIndex, key: readonly string[]): Preparation[] {
  const { name, table } = index;
  const searched = { key, byNumber: false };
  const of = { table, object: `${table} (${index.columns.join(', ')})` };
  return [
    {
      ...of,
      does: 'search',
      name,
      first: postgresSearch(index, searched),
      fill: fillPostgres(index, searched, ROWS),
      undo: dropPostgresSearch(index).join('; '),
    },
    {
      ...of,
      does: 'index',
      table: name,
      name: `${name}_index`,
      first: [],
      long: ginIndex(index, 'concurrently '),
      undo: `drop index if exists ${quotedName(`${name}_index`)}`,
    },
  ];
}
