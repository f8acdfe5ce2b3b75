import type { JoinKey } from '@twofold/schema';
import type { Dialect } from '../../store/store.ts';
import type { Rules } from '../access/access.ts';
import { valueSql, joinSql, literal, name, sql, type Sql } from './fragment.ts';
import { jsonOf, type Json, type KeyColumn } from './json.ts';
import type { EntityModel, Model } from '../model.ts';
import type { Call, KeyType } from '../plan.ts';
import type { Stored } from './values.ts';

/**
 * Keys that no field can have: one for the type of an object, one for the row that user code gets
 * as its parent.
 */
export const TYPE_KEY = '$';
export const ROW_KEY = '$row';

/** What every part of a statement needs while it is written. */
export interface Scope {
  readonly model: Model;
  readonly rules: Rules;
  readonly dialect: Dialect;
  readonly json: Json;
  readonly calls: readonly Call[];
  /**
   * Key of the object that stands for a refused or missing value. It is a random word, so that no
   * data looks like it.
   */
  readonly marker: string;
  /**
   * Whether the executor processes the result: it then needs type names, and the rows that user
   * code gets as parents.
   */
  readonly tree: boolean;
  /**
   * Reads one row beyond each page that nobody asked for. `marked`: a list that has this row is
   * replaced by a marker. `longer`: it keeps the row, and every object has the name of its type, see
   * `Pages`.
   */
  readonly pages?: 'marked' | 'longer' | undefined;
  /** A table alias that nothing else uses. */
  alias(): string;
  /**
   * Counts the relations that the statement's conditions follow. @returns the count, including this
   * one.
   */
  relation(): number;
  /** Counts the texts that are looked for within others. @returns the count, including this one */
  part(): number;
  /** Notes that the statement may take long, see `ReadStatement`. */
  watch(): void;
  readonly long: boolean;
  /** Whether sums may be larger than 64 bits, see `sumSql`. */
  readonly wide: boolean;
  /** Notes that the database may refuse a sum, because it is too large. */
  mayOverflow(): void;
  readonly overflows: boolean;
}

export function createScope(
  options: Pick<Scope, 'model' | 'rules' | 'dialect' | 'calls' | 'marker' | 'tree'> &
    Partial<Pick<Scope, 'wide' | 'pages'>>,
): Scope {
  let aliases = 0;
  let relations = 0;
  let parts = 0;
  let long = false;
  let overflows = false;
  return {
    wide: false,
    ...options,
    json: jsonOf[options.dialect],
    alias: () => `t${++aliases}`,
    relation: () => ++relations,
    part: () => ++parts,
    watch: () => {
      long = true;
    },
    get long() {
      return long;
    },
    mayOverflow: () => {
      overflows = true;
    },
    get overflows() {
      return overflows;
    },
  };
}

/** A column of an inner query, which has the names of the model: `t1."author_id"`. */
export const named = (alias: string, column: string): string => `${alias}.${name(column)}`;

/** The name of a column in the database, quoted. */
export const columnName = ({ columns }: EntityModel, column: string): string =>
  name(columns.get(column)?.stored ?? column);

/**
 * A column of the entity's table: `t1."author_id"`. A composite key is a row value: `(t1."country",
 * t1."code")`.
 */
export function reference(entity: EntityModel, alias: string, column: string): string {
  return rowOf(entity, column, (part) => `${alias}.${columnName(entity, part)}`);
}

/** Applies `one` to a column; for a composite key, to each of its parts. */
export function rowOf(
  entity: EntityModel,
  column: string,
  one: (column: string) => string,
): string {
  const parts = entity.partsOf(column);
  return parts.length === 1 ? one(parts[0]!) : `(${parts.map(one).join(', ')})`;
}

/** The name of a table in a statement. SQLite has no schemas. */
export function tableName(
  { table, schema }: { readonly table: string; readonly schema?: string },
  dialect: Dialect,
): string {
  return schema === undefined || dialect === 'sqlite'
    ? name(table)
    : `${name(schema)}.${name(table)}`;
}

/** The key of a row as callers know it, for `returning`: `"id"`, or the text of its parts. */
export function keyOfRow(
  { dialect }: { readonly dialect: Dialect },
  entity: EntityModel,
  alias: string,
): Sql {
  const id = entity.columns.get('id');
  if (!id?.parts && !id?.key && id?.default?.kind !== 'database')
    return sql`${reference(entity, alias, 'id')}`;
  const columns = keyColumns(entity, entity.key, (part) => reference(entity, alias, part));
  return jsonOf[dialect].key(columns);
}

/** The columns of a key, with what `at` calls them. */
export const keyColumns = (
  entity: EntityModel,
  parts: readonly string[],
  at: (part: string) => string,
): KeyColumn[] => parts.map((part) => ({ reference: at(part), column: entity.column(part) }));

/** A value in the arguments of node `call`. */
export const parameter = (call: number, path: readonly (string | number)[], as: Stored): Sql =>
  valueSql(as, (part) => ({ from: 'call', call, path, as: part }));

/** The columns of a key in a join table. */
export const joinColumns = (key: JoinKey): string =>
  typeof key === 'string' ? name(key) : `(${key.map(name).join(', ')})`;

/** Columns as a query lists them: without the parentheses of a row value. */
export const bare = (columns: string): string =>
  columns.startsWith('(') ? columns.slice(1, -1) : columns;

/**
 * The marker object. It stands for a value that the caller may not see, for a required value that
 * is missing, and for a number that its declared type cannot hold.
 */
export function marked(
  scope: Scope,
  what: 'FORBIDDEN' | 'UNAUTHENTICATED' | 'MISSING' | 'OUT_OF_RANGE' | 'CUT',
): Sql {
  return scope.json.constant(`{"${scope.marker}":"${what}"}`);
}

/** For a key that may refer to several types: the condition that it refers to ours. */
export const ofType = (
  of: KeyType | undefined,
  entity: EntityModel,
  alias: string,
): Sql | undefined => of && sql`${reference(entity, alias, of.column)} = ${literal(of.type)}`;

export function and(conditions: readonly (Sql | undefined)[]): Sql | undefined {
  const present = conditions.filter((condition) => condition !== undefined);
  if (present.length <= 1) return present[0];
  return joinSql(
    present.map((condition) => sql`(${condition})`),
    ' and ',
  );
}

export function or(conditions: readonly Sql[]): Sql {
  if (conditions.length === 0) return sql`false`;
  return conditions.length === 1 ? (conditions[0] as Sql) : sql`(${joinSql(conditions, ' or ')})`;
}

/** ` where …`, or nothing. */
export const where = (condition: Sql | undefined): Sql =>
  condition ? sql` where ${condition}` : sql``;

/** Values as `values` lists them: without the parentheses of a row value. */
export function bareSql(values: Sql): Sql {
  const [first] = values;
  if (first !== '(') return values;
  return values.slice(1, -1);
}
