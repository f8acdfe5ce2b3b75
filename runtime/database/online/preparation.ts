import { type Kysely, type RawBuilder, sql } from 'kysely';
import type { TableForeignKey, TableIndex } from '@twofold/schema';
import {
  dropPostgresSearch,
  fillPostgres,
  folded,
  ginIndex,
  postgresSearch,
  quotedName,
  type SearchIndex,
} from '@twofold/runtime/store';
import type { PlannedColumn, PlannedTables } from '../plan/planned-tables.ts';
import type { ColumnDescription } from '../tables/alteration.ts';
import { checkText, defaultSql } from '../tables/column-values.ts';
import type { Does } from '../tables/effects.ts';
import { readyKeyName, referenceSql, targetOf } from '../tables/foreign-keys.ts';
import { readyName } from './ready.ts';

/**
 * A part of a migration that is made before the migration's transaction, without blocking reads or
 * writes. Names of tables and columns are those before the migration.
 */
export interface Preparation {
  readonly does: 'add' | 'require' | 'unique' | 'check' | 'reference' | 'index' | 'search';
  readonly table: string;
  /** `posts.rating`, as the migration names it. */
  readonly object: string;
  /** The name of the constraint, index or column. */
  readonly name: string;
  /** Statements of a moment, in one transaction. */
  readonly first: readonly string[];
  /**
   * A statement that fills rows without a value, a limited number at a time. It is repeated until
   * it changes no row.
   */
  readonly fill?: string;
  /** A statement that reads all rows, outside of a transaction. */
  readonly long?: string;
  /** A statement that removes the preparation, and does nothing when it does not exist. */
  readonly undo: string;
}

/** What is needed to prepare a step. `db` only writes SQL. */
interface At {
  readonly db: Kysely<any>;
  readonly tables: PlannedTables;
}

/** A column as the migration defines it, and the names of it and its table before the migration. */
interface Preparing extends At {
  readonly table: string;
  readonly column: ColumnDescription;
  readonly origin: { readonly table: string; readonly column: string };
}

/** The preparations for a new column and its constraints; none when its table is new too. */
export function prepareAdded(at: At, table: string, column: ColumnDescription): Preparation[] {
  const origin = at.tables.get(table)?.origin ?? null;
  const { name, type, required } = column;
  if (origin === null || (required && !('default' in column))) return [];
  const preparing = { ...at, table, column, origin: { table: origin, column: name } };
  const constraints = [];
  for (const does of ['unique', 'check', 'reference'] as const) {
    const made = CONSTRAINTS[does](preparing);
    // The column is prepared only if all of its constraints can be prepared.
    if (made === null) return [];
    constraints.push(...made);
  }
  const added = at.db.schema.alterTable(origin).addColumn(name, type, (each) => {
    const filled = 'default' in column ? each.defaultTo(column.default) : each;
    return required ? filled.notNull() : filled;
  });
  const whole: Preparation = {
    does: 'add',
    table: origin,
    object: `${table}.${name}`,
    name,
    first: [added.compile().sql.replace(' add column ', ' add column if not exists ')],
    undo: `alter table ${quotedName(origin)} drop column if exists ${quotedName(name)}`,
  };
  return [whole, ...constraints];
}

interface AlteredColumn {
  readonly does: Does;
  readonly before: PlannedColumn;
  readonly after: ColumnDescription;
}

/** A new constraint of a column; none when this migration also changes the column's values. */
export function prepareAltered(
  at: At,
  table: string,
  { does, before, after: column }: AlteredColumn,
): Preparation[] {
  const origin = at.tables.get(table)?.origin ?? null;
  if (origin === null || before.origin === null || !(does in CONSTRAINTS)) return [];
  const preparing = { ...at, table, column, origin: { table: origin, column: before.origin } };
  return CONSTRAINTS[does as keyof typeof CONSTRAINTS](preparing) ?? [];
}

/** How to prepare a constraint of a column; null when that is not possible before the migration. */
const CONSTRAINTS = {
  require: (preparing: Preparing) => {
    const { db, column, origin } = preparing;
    const [table, own] = [quotedName(origin.table), quotedName(origin.column)];
    const made = constraint(preparing, { does: 'require', as: `check (${own} is not null)` });
    if (!('default' in column)) return [made];
    const filled = defaultSql(db, column.default).compile(db).sql;
    const fill = `update ${table} set ${own} = ${filled} where ctid = any (array(select ctid from ${table} where ${own} is null limit 2000))`;
    return [{ ...made, fill }];
  },
  unique: (preparing: Preparing) => {
    const { db, table, column, origin } = preparing;
    if (!column.unique) return [];
    const name = readyName({ table, column: column.name, does: 'unique', definition: '' });
    const object = `${table}.${column.name}`;
    const of = { does: 'unique', table: origin.table, object, name } as const;
    return [index(db, of, [sql.ref(origin.column)])];
  },
  check: (preparing: Preparing) => {
    const { db, column, origin } = preparing;
    if (!column.check) return [];
    // The condition names the column.
    if (origin.column !== column.name) return null;
    const definition = checkText(db, column);
    return [constraint(preparing, { does: 'check', definition, as: `check (${definition})` })];
  },
  reference: (preparing: Preparing) => {
    const { tables, column, origin } = preparing;
    const { references } = column;
    if (!references) return [];
    const target = tables.get(references.table)?.origin ?? null;
    if (target === null) return null;
    const as = referenceSql({ ...references, columns: [origin.column], table: target });
    return [constraint(preparing, { does: 'reference', definition: targetOf(references), as })];
  },
} satisfies Readonly<Record<string, (preparing: Preparing) => Preparation[] | null>>;

interface Constraint {
  readonly does: 'require' | 'check' | 'reference';
  readonly as: string;
  readonly definition?: string;
}

function constraint(
  { table, column: { name }, origin }: Preparing,
  { does, as, definition = '' }: Constraint,
): Preparation {
  const of = { does, table: origin.table, object: `${table}.${name}` } as const;
  return unchecked({ ...of, name: readyName({ table, column: name, does, definition }) }, as);
}

type Named = Pick<Preparation, 'does' | 'table' | 'object' | 'name'>;

/** A constraint that is made without a look at the rows, and validated then. */
function unchecked(of: Named, as: string): Preparation {
  const alter = `alter table ${quotedName(of.table)}`;
  const name = quotedName(of.name);
  return {
    ...of,
    first: [`${alter} add constraint ${name} ${as} not valid`],
    long: `${alter} validate constraint ${name}`,
    undo: `${alter} drop constraint if exists ${name}`,
  };
}

function index(
  db: Kysely<any>,
  of: Named & { readonly does: 'unique' | 'index' },
  parts: readonly RawBuilder<unknown>[] | readonly ReturnType<typeof sql.ref>[],
): Preparation {
  const kind = of.does === 'unique' ? sql`unique index` : sql`index`;
  const made = sql`create ${kind} concurrently ${sql.ref(of.name)} on ${sql.table(of.table)} (${sql.join(parts)})`;
  const undo = `drop index if exists ${quotedName(of.name)}`;
  return { ...of, first: [], long: made.compile(db).sql, undo };
}

/**
 * The preparation of a foreign key. Both tables and all columns must exist before the migration,
 * with these names.
 */
export function prepareForeignKey(
  { tables }: Pick<At, 'tables'>,
  table: string,
  key: TableForeignKey,
): Preparation[] {
  if (!isSame(tables, table, key.columns) || !isSame(tables, key.table, key.references)) return [];
  const object = `${table}.${key.columns.join(', ')}`;
  const of = { does: 'reference', table, object, name: readyKeyName(table, key) } as const;
  return [unchecked(of, referenceSql(key))];
}

/** Whether the migration has not changed this table and the columns until then. */
function isSame(tables: PlannedTables, name: string, columns: readonly string[]): boolean {
  const planned = tables.get(name);
  return (
    planned?.origin === name &&
    columns.every((column) => planned.columns.get(column)?.origin === column)
  );
}

export function prepareCreatedIndex(
  { db, tables }: At,
  table: string,
  { name, columns, unique, fold }: TableIndex,
): Preparation[] {
  const planned = tables.get(table);
  const origins = columns.map((column) => planned?.columns.get(column)?.origin ?? null);
  if (!planned || planned.origin === null || columns.length === 0) return [];
  const known = origins.filter((origin) => origin !== null);
  if (known.length < origins.length) return [];
  const does = unique ? 'unique' : 'index';
  const object = columns.length === 1 ? `${table}.${columns[0]}` : name;
  const parts = known.map((column) =>
    fold ? sql`(${folded('postgres', fold, column)})` : sql`${sql.ref(column)}`,
  );
  return [index(db, { does, table: planned.origin, object, name }, parts)];
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
  if (!search || !isSame(tables, table, [...columns, ...search.key])) return [];
  return searchPreparations({ name, table, columns, language: search.language }, search.key);
}

/** How many rows are indexed in one transaction. */
const ROWS = 5000;

/**
 * Makes the index of a search without blocking writes: first the triggers, which index all rows
 * that change from then on, then the other rows in parts, then the index over their words.
 */
export function searchPreparations(search: SearchIndex, key: readonly string[]): Preparation[] {
  const { name, table } = search;
  const searched = { key, byNumber: false };
  const of = { table, object: `${table} (${search.columns.join(', ')})` };
  return [
    {
      ...of,
      does: 'search',
      name,
      first: postgresSearch(search, searched),
      fill: fillPostgres(search, searched, ROWS),
      undo: dropPostgresSearch(search).join('; '),
    },
    {
      ...of,
      does: 'index',
      table: name,
      name: `${name}_index`,
      first: [],
      long: ginIndex(search, 'concurrently '),
      undo: `drop index if exists ${quotedName(`${name}_index`)}`,
    },
  ];
}
