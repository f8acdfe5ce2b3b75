import type { Column } from '@twofold/schema';
import { tallySql } from '../filter/tally.ts';
import { conditionsSql, sortValueSeenWhen } from '../access/condition-sql.ts';
import { joinSql, sql, type Sql } from '../sql/fragment.ts';
import { found, type EntityModel } from '../model.ts';
import { endOf } from './order.ts';
import { joinedRow, type OrderJoins } from './order-joins.ts';
import type { Order } from '../plan.ts';
import { named, reference, rowOf, type Scope } from '../sql/scope.ts';
import { rankOf } from '../search/search.ts';
import { stored } from '../sql/stored-as.ts';
import type { Stored } from '../sql/values.ts';

/** Gives the SQL of the values by which rows are sorted. */
export interface Sort {
  readonly entity: EntityModel;
  ref(column: string): string;
  /** The value of the order with this number, when that value is not a column of the row. */
  computed(order: Order, index: number): Sql;
}

/** Sorts rows of a table. Related rows by which the order sorts are added to `joins`. */
export function tableSort(
  scope: Scope,
  entity: EntityModel,
  alias: string,
  joins: OrderJoins,
): Sort {
  return {
    entity,
    ref: (column) => reference(entity, alias, column),
    computed: (order) => computedValue(scope, { entity, alias }, order, joins),
  };
}

/** Sorts rows of an inner query, which has the names of the model and the computed values. */
export const querySort = (entity: EntityModel, alias: string): Sort => ({
  entity,
  ref: (column) => rowOf(entity, column, (part) => named(alias, part)),
  computed: (_, index) => sql`${named(alias, orderName(index))}`,
});

/** Sorts rows of an inner query that has every value of the order under a name of its own. */
export const valueSort = (entity: EntityModel, alias: string, names: readonly string[]): Sort => ({
  entity,
  ref: (column) => (names.includes(column) ? named(alias, column) : ''),
  computed: (_, index) => sql`${named(alias, names[index]!)}`,
});

/**
 * The names of the values of an order in an inner query. A column's own name is used only where the
 * caller sees the column in every row.
 */
export const valueNames = (
  scope: Scope,
  { entity, ref }: Sort,
  order: readonly Order[],
): readonly string[] =>
  order.map((each, index) =>
    isColumn(each) && !sortValueSeenWhen(scope, entity, each.column, ref)
      ? each.column
      : orderName(index),
  );

/** The name of a value of the order in an inner query. No column of an entity can have it. */
export const orderName = (index: number): string => `$order${index}`;

/** Reads the number out of a name that `orderName` made; undefined for the name of a column. */
export function orderIndex(column: string): number | undefined {
  const [, digits] = /^\$order(\d+)$/.exec(column) ?? [];
  return digits === undefined ? undefined : Number(digits);
}

/** Whether an order compares a column of the row itself. */
export const isColumn = ({ path, tally, rank }: Order): boolean =>
  path === undefined && tally === undefined && !rank;

/** What is needed to compare the values of an order. */
export interface Comparable {
  readonly as: Stored;
  /** Absent when the value is a number of rows, or whether there are any rows. */
  readonly column?: { readonly entity: EntityModel; readonly column: Column };
  /**
   * Whether values are decimals, which SQLite keeps as text and which must be compared as numbers.
   */
  readonly decimal: boolean;
}

/** How the values at the end of an order's path are compared. */
export function comparable(scope: Scope, entity: EntityModel, order: Order): Comparable {
  if (order.rank) return { as: { type: 'integer' }, decimal: false };
  const at = endOf(scope.model, entity, order.path);
  if (order.tally !== undefined) {
    const { source } = found(at.fields.get(order.tally), `field ${order.tally}`);
    const exists = source.kind === 'tally' && source.of === 'exists';
    return { as: { type: exists ? 'boolean' : 'integer' }, decimal: false };
  }
  const column = at.column(order.column);
  return {
    as: stored(scope.model, at, order.column),
    column: { entity: at, column },
    decimal: scope.dialect === 'sqlite' && column.type === 'decimal',
  };
}

/** The SQL by which rows are compared, and what is known of its values. */
interface SortKey {
  readonly key: Sql;
  readonly nullable: boolean;
}

/** Compares by a value. A value that the caller may not see counts as null. */
export function sortKey(scope: Scope, sort: Sort, order: Order, index: number): SortKey {
  const { value, nullable } = sortValue(scope, sort, order, index);
  return { key: inOrderForm(comparable(scope, sort.entity, order), value), nullable };
}

/**
 * The form of a value in which an order compares it, in rows and in cursors alike: SQLite keeps
 * decimals as text, which does not sort like numbers.
 */
export const inOrderForm = ({ decimal }: Comparable, value: Sql): Sql =>
  decimal ? sql`cast(${value} as numeric)` : value;

/** The value of an order as it is stored, null where the caller may not see it. */
export function sortValue(
  scope: Scope,
  sort: Sort,
  order: Order,
  index: number,
): { readonly value: Sql; readonly nullable: boolean } {
  const own = isColumn(order) ? sort.ref(order.column) : '';
  if (own === '')
    return {
      value: sort.computed(order, index),
      nullable: !order.rank && !isAlwaysThere(scope, sort.entity, order),
    };
  const seen = sortValueSeenWhen(scope, sort.entity, order.column, sort.ref);
  return {
    value: seen ? sql`case when ${seen} then ${own} end` : sql`${own}`,
    nullable: seen !== undefined || !sort.entity.column(order.column).required,
  };
}

/**
 * Whether every row has a value that the caller sees. SQLite compares faster where it need not look
 * for nulls.
 */
function isAlwaysThere(
  { model, rules }: Scope,
  entity: EntityModel,
  { path = [], column, tally }: Order,
): boolean {
  const isSeen = (at: EntityModel, name: string) => {
    const field = at.fields.get(name);
    return field !== undefined && rules.field(at.entity, field, 'READ').kind === 'all';
  };
  let at = entity;
  for (const step of path) {
    const source = at.fields.get(step)?.source;
    if (source?.kind !== 'one' || source.key !== 'own' || !isSeen(at, step)) return false;
    if (!at.columns.get(source.column)?.required || model.project.unmanaged) return false;
    at = model.entity(source.entity);
    if (at.entity.softDelete || rules.entity(at.entity, 'READ').kind !== 'all') return false;
  }
  if (tally !== undefined) return isSeen(at, tally);
  const { required, references, field } = at.column(column);
  return required && !references && (field === undefined || isSeen(at, field));
}

/** A column of a related row, or how many related rows there are. */
function computedValue(
  scope: Scope,
  from: { readonly entity: EntityModel; readonly alias: string },
  order: Order,
  joins: OrderJoins,
): Sql {
  const { path = [], tally, rank } = order;
  if (rank) return sql`${rankOf(from.alias)}`;
  const { entity, alias } = joinedRow(scope, joins, from, path);
  const ref = (column: string) => reference(entity, alias, column);
  if (tally === undefined) {
    const seen = sortValueSeenWhen(scope, entity, order.column, ref);
    return seen ? sql`case when ${seen} then ${ref(order.column)} end` : sql`${ref(order.column)}`;
  }
  const value = tallyValue(scope, entity, tally, ref);
  const there = entity.key[0];
  return path.length > 0 && there !== undefined
    ? sql`case when ${ref(there)} is not null then ${value} end`
    : value;
}

function tallyValue(
  scope: Scope,
  entity: EntityModel,
  name: string,
  ref: (column: string) => string,
): Sql {
  const field = found(entity.fields.get(name), `field ${name}`);
  const { source } = field;
  const counted =
    source.kind === 'tally'
      ? {
          tally: source,
          relation: found(entity.fields.get(source.relation), `field ${source.relation}`),
        }
      : {
          tally: { of: 'count' as const, entity: source.kind === 'many' ? source.entity : '' },
          relation: field,
        };
  const value = tallySql(scope, entity.entity.name, { ...counted, isWatched: true }, { ref });
  return readableValue(scope, entity, { field, ref, value });
}

interface Readable {
  readonly field: Parameters<Scope['rules']['field']>[1];
  readonly ref: (column: string) => string;
  readonly value: Sql;
}

/**
 * The number of a field that the caller may read only in some rows. In the other rows it is null.
 */
function readableValue(scope: Scope, { entity }: EntityModel, { field, ref, value }: Readable) {
  const access = scope.rules.field(entity, field, 'READ');
  return field.source.kind === 'tally' && access.kind === 'rows'
    ? sql`case when ${conditionsSql(scope, entity.name, access.conditions, ref)} then ${value} end`
    : value;
}

/**
 * Rows without a value come last, or first in descending order, unless the order says otherwise.
 */
export function orderBy(scope: Scope, order: readonly Order[], sort: Sort, reversed: boolean): Sql {
  if (order.length === 0) return sql``;
  return sql` order by ${joinSql(orderTerms(scope, order, sort, reversed), ', ')}`;
}

export function orderTerms(
  scope: Scope,
  order: readonly Order[],
  sort: Sort,
  reversed: boolean,
): Sql[] {
  return order.map((each, index) => {
    const { key, nullable } = sortKey(scope, sort, each, index);
    const down = each.descending !== reversed;
    const first = nullsFirst(each) !== reversed;
    // `nulls first` is written only where the database's default differs: PostgreSQL takes null as
    // the highest value, SQLite as the lowest.
    const said = nullable && (scope.dialect === 'sqlite' || first !== down);
    return sql`${key}${down ? ' desc' : ''}${said ? ` nulls ${first ? 'first' : 'last'}` : ''}`;
  });
}

export const nullsFirst = ({ nulls, descending }: Order): boolean =>
  nulls ? nulls === 'first' : descending;
