import { type Kysely, sql } from 'kysely';
import type { Fold, TableForeignKey } from '@twofold/schema';
import { folded, quotedName } from '@twofold/runtime/store';
import type { ColumnDescription } from '../tables/alteration.ts';
import { readyKeyName, referenceSql } from '../tables/foreign-keys.ts';
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

/** What is needed to describe preparations. `db` only writes SQL. */
export interface Preparing {
  readonly db: Kysely<any>;
  /** The table and column, with the names in the migration. */
  readonly table: string;
  readonly column: string;
  /** Their names before the migration. */
  readonly origin: { readonly table: string; readonly column: string };
}

/** A new column without its constraints. These are separate preparations. */
export function prepareColumn(
  { db, table, origin }: Preparing,
  column: ColumnDescription,
): Preparation {
  const { name, type } = column;
  const added = db.schema.alterTable(origin.table).addColumn(name, type, (each) => {
    const filled = 'default' in column ? each.defaultTo(column.default) : each;
    return column.required ? filled.notNull() : filled;
  });
  return {
    does: 'add',
    table: origin.table,
    object: `${table}.${name}`,
    name,
    first: [added.compile().sql.replace(' add column ', ' add column if not exists ')],
    undo: `alter table ${quotedName(origin.table)} drop column if exists ${quotedName(name)}`,
  };
}

export function prepareUnique({ db, table, column, origin }: Preparing): Preparation {
  const name = readyName({ table, column, does: 'unique', definition: '' });
  return index(db, {
    does: 'unique',
    table: origin.table,
    object: `${table}.${column}`,
    name,
    parts: [sql.ref(origin.column)],
  });
}

export interface PreparedIndex {
  readonly name: string;
  readonly columns: readonly string[];
  readonly unique: boolean;
  readonly fold?: Fold | undefined;
}

export function prepareIndex(
  { db, table, origin }: Omit<Preparing, 'column'>,
  { name, columns, unique, fold }: PreparedIndex,
): Preparation {
  return index(db, {
    does: unique ? 'unique' : 'index',
    table: origin.table,
    object: columns.length === 1 ? `${table}.${columns[0]}` : name,
    name,
    parts: columns.map((column) =>
      fold ? sql`(${folded('postgres', fold, column)})` : sql.ref(column),
    ),
  });
}

interface Index extends Pick<Preparation, 'table' | 'object' | 'name'> {
  readonly does: 'unique' | 'index';
  readonly parts: readonly unknown[];
}

function index(db: Kysely<any>, { does, table, object, name, parts }: Index): Preparation {
  const kind = does === 'unique' ? sql`unique index` : sql`index`;
  const made = sql`create ${kind} concurrently ${sql.ref(name)} on ${sql.table(table)} (${sql.join(parts)})`;
  return {
    does,
    table,
    object,
    name,
    first: [],
    long: made.compile(db).sql,
    undo: `drop index if exists ${quotedName(name)}`,
  };
}

/** A NOT NULL constraint. `filled` is the default, as SQL, that rows without a value get first. */
export function prepareRequired(preparing: Preparing, filled: string | null): Preparation {
  const { table, column, origin } = preparing;
  const name = readyName({ table, column, does: 'require', definition: '' });
  const own = quotedName(origin.column);
  const set = `update ${quotedName(origin.table)} set ${own} = ${filled} where ctid = any (array(select ctid from ${quotedName(origin.table)} where ${own} is null limit 2000))`;
  return {
    ...constraint(preparing, 'require', { name, as: `check (${own} is not null)` }),
    ...(filled !== null && { fill: set }),
  };
}

export function prepareCheck(preparing: Preparing, condition: string): Preparation {
  const { table, column } = preparing;
  const name = readyName({ table, column, does: 'check', definition: condition });
  return constraint(preparing, 'check', { name, as: `check (${condition})` });
}

export interface PreparedReference {
  /** The target of the key, with its name in the migration: `authors.id`. */
  readonly references: string;
  /** The other table before the migration. */
  readonly target: string;
  readonly onDelete: string;
}

export function prepareReference(
  preparing: Preparing,
  { references, target, onDelete }: PreparedReference,
): Preparation {
  const { table, column, origin } = preparing;
  const definition = `${references} ${onDelete}`;
  const name = readyName({ table, column, does: 'reference', definition });
  const key = references.slice(references.lastIndexOf('.') + 1);
  const as = `foreign key (${quotedName(origin.column)}) references ${quotedName(target)} (${quotedName(key)}) on delete ${onDelete}`;
  return constraint(preparing, 'reference', { name, as });
}

/** A foreign key of several columns. */
export function prepareKey(table: string, key: TableForeignKey): Preparation {
  const column = key.columns.join(', ');
  return constraint({ table, column, origin: { table, column } }, 'reference', {
    name: readyKeyName(table, key),
    as: referenceSql(key),
  });
}

function constraint(
  { table, column, origin }: Omit<Preparing, 'db'>,
  does: 'require' | 'check' | 'reference',
  { name, as }: { readonly name: string; readonly as: string },
): Preparation {
  const alter = `alter table ${quotedName(origin.table)}`;
  return {
    does,
    table: origin.table,
    object: `${table}.${column}`,
    name,
    first: [`${alter} add constraint ${quotedName(name)} ${as} not valid`],
    long: `${alter} validate constraint ${quotedName(name)}`,
    undo: `${alter} drop constraint if exists ${quotedName(name)}`,
  };
}
