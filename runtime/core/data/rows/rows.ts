import type { EntityModel } from '../model.ts';
import { refusal, type Access } from '../access/access.ts';
import { isNothing, rowCondition, seenBy, seenColumn } from '../access/condition-sql.ts';
import { filterCondition } from '../filter/filter.ts';
import { joinSql, name, sql, type Sql } from '../sql/fragment.ts';
import { isAmong, joinedCondition } from '../sql/link-condition.ts';
import { keyset } from './keyset.ts';
import { statedCondition } from '../access/list-condition.ts';
import { type Listed, isLong, watched, watchedInOrder } from '../long.ts';
import { wholeOrder } from './order.ts';
import { orderJoins } from './order-joins.ts';
import {
  isColumn,
  orderBy,
  orderIndex,
  orderName,
  orderTerms,
  querySort,
  sortKey,
  sortValue,
  tableSort,
  valueNames,
  valueSort,
  type Sort,
} from './order-sql.ts';
import type { Link, Order, Page, Rows } from '../plan.ts';
import {
  and,
  marked,
  named,
  ofType,
  parameter,
  reference,
  tableName,
  where,
  type Scope,
} from '../sql/scope.ts';
import { RANK, rankOf, searchCondition, searchedTable } from '../search/search.ts';
import { innerSource, type Source, type WriteObject } from '../sql/source.ts';
import { stored } from '../sql/stored-as.ts';

/** A list as one JSON array. */
export function rowsJson(scope: Scope, rows: Rows, write: WriteObject, parent?: Source): Sql {
  const joins: Sql[] = [];
  const used = new Set<string>();
  const alias = scope.alias();
  const entity = scope.model.entity(rows.entity);
  const object = write(rows.selection, innerSource(scope, entity, { alias, used, joins }));
  const query = pageQuery(scope, rows, () => [...used], parent);
  const list = ofPage(scope, rows.call, scope.json.list(object));
  return sql`(select ${list} from (${query}) ${alias}${joinSql(joins, '')})`;
}

/** A list over the rows of a page, or the marker when a page that nobody asked for has more. */
export function ofPage(scope: Scope, call: number, list: Sql, rows = sql`count(*)`): Sql {
  const page = scope.calls[call]?.page;
  return scope.pages === 'marked' && page?.told
    ? sql`case when ${rows} > ${String(page.limit)} then ${marked(scope, 'CUT')} else ${list} end`
    : list;
}

/**
 * The rows of a page, in order. `columns` is evaluated last, when every use of a column has been
 * noted. `more` is 1 when the query reads one row beyond the page, to know whether there is one.
 */
export function pageQuery(
  scope: Scope,
  listed: Listed,
  columns: () => readonly string[],
  parent?: Source,
  more: 0 | 1 = 0,
): Sql {
  const call = scope.calls[listed.call];
  const page = call?.page;
  const entity = scope.model.entity(listed.entity);
  const order = wholeOrder(scope.model, entity, call?.order ?? []);
  const backwards = page?.backwards ?? false;
  const selected = () =>
    selectedColumns(entity, columns(), backwards ? orderColumns(scope, entity, order) : []);
  const rows: PageRows = { listed, entity, order, selected, parent };
  const alias = scope.alias();
  const query = call?.distinct
    ? distinctRows(scope, rows, call.distinct)
    : everyRow(scope, rows, alias);
  const locking = call?.lock ? lockSql(scope, alias, call.lock) : '';
  const ordered = sql`${query}${limit(scope, listed.call, page, more)}${locking}`;
  if (!backwards || more === 1) return ordered;
  const outer = scope.alias();
  return sql`select * from (${ordered}) ${outer}${orderBy(scope, order, querySort(entity, outer), false)}`;
}

const LOCKS = { wait: '', skip: ' skip locked', fail: ' nowait' };

/** On SQLite the transaction has the one lock from its first statement on. */
const lockSql = ({ dialect }: Scope, alias: string, lock: keyof typeof LOCKS): string =>
  dialect === 'sqlite' ? '' : ` for update of ${alias}${LOCKS[lock]}`;

/** What the query of a page selects, and from where. */
interface PageRows {
  readonly listed: Listed;
  readonly entity: EntityModel;
  readonly order: readonly Order[];
  selected(): readonly string[];
  readonly parent: Source | undefined;
}

/** The rows of a table in the order that the caller asked for, after the cursor. */
function everyRow(
  scope: Scope,
  { listed, entity, order, selected, parent }: PageRows,
  alias: string,
): Sql {
  const page = scope.calls[listed.call]?.page;
  const joins = orderJoins();
  const sort = tableSort(scope, entity, alias, joins);
  const shown = selected();
  const ranked = order.some(({ rank }) => rank) || shown.includes(RANK);
  const table = searchedTable(scope, { entity, call: listed.call, alias, ranked });
  const condition = and([
    isLong(scope, listed) ? watchedInOrder(scope, entity, { alias, order }) : undefined,
    table.condition,
    listCondition(
      scope,
      listed,
      alias,
      parent,
      page && keyset(scope, page, { call: listed.call, order, sort }),
    ),
  ]);
  const by = orderBy(scope, order, sort, page?.backwards ?? false);
  const values = shown.map((column) => selectedValue(scope, sort, order, { alias, column }));
  return sql`select ${joinSql(values, ', ')} from ${table.from}${joinSql(joins.sql, '')}${where(condition)}${by}`;
}

/** A column of the table, or a value of the order, under its name in the query. */
function selectedValue(
  scope: Scope,
  sort: Sort,
  order: readonly Order[],
  { alias, column }: { readonly alias: string; readonly column: string },
): Sql {
  if (column === RANK) return sql`${rankOf(alias)}`;
  const index = orderIndex(column);
  return index === undefined
    ? sql`${asNamed(sort.entity, alias, column)}`
    : sql`${sortValue(scope, sort, order[index] as Order, index).value} as ${name(column)}`;
}

/**
 * The first row of each combination of the columns, in the order that the caller asked for, after
 * the cursor.
 */
function distinctRows(scope: Scope, rows: PageRows, distinct: readonly string[]): Sql {
  const { listed, entity, order, selected, parent } = rows;
  const alias = scope.alias();
  const outer = scope.alias();
  const page = scope.calls[listed.call]?.page;
  const joins = orderJoins();
  const sort = tableSort(scope, entity, alias, joins);
  const keys = distinctKeys(scope, sort, distinct);
  const terms = orderTerms(scope, order, sort, false);
  const shown = selected();
  const ranked = order.some(({ rank }) => rank) || shown.includes(RANK);
  const table = searchedTable(scope, { entity, call: listed.call, alias, ranked });
  const condition = and([
    watchedInOrder(scope, entity, { alias, order }),
    table.condition,
    listCondition(scope, listed, alias, parent),
  ]);
  const names = valueNames(scope, sort, order);
  const needed = new Set([...shown, ...names]);
  const values = [...needed].map((column) => selectedValue(scope, sort, order, { alias, column }));
  const from = sql`from ${table.from}${joinSql(joins.sql, '')}${where(condition)}`;
  const first = firstRows(scope, { keys, terms, values, from });
  const by = valueSort(entity, outer, names);
  const after = page && keyset(scope, page, { call: listed.call, order, sort: by });
  const isFirst = scope.dialect === 'sqlite' ? sql`${named(outer, FIRST)} = 1` : undefined;
  return sql`select ${shown.map((column) => named(outer, column)).join(', ')} from (${first}) ${outer}${where(and([isFirst, after]))}${orderBy(scope, order, by, page?.backwards ?? false)}`;
}

/**
 * The number of a row among those of its combination. No column of an entity can have this name.
 */
const FIRST = '$first';

interface First {
  readonly keys: readonly Sql[];
  readonly terms: readonly Sql[];
  readonly values: readonly Sql[];
  readonly from: Sql;
}

/** PostgreSQL drops the other rows itself, SQLite numbers them. */
function firstRows({ dialect }: Scope, { keys, terms, values, from }: First): Sql {
  const listed = (of: readonly Sql[]) => joinSql(of, ', ');
  const order = terms.length > 0 ? sql` order by ${listed(terms)}` : sql``;
  if (dialect === 'sqlite')
    return sql`select ${listed(values)}, row_number() over (partition by ${listed(keys)}${order}) as ${name(FIRST)} ${from}`;
  // PostgreSQL takes two equal expressions with parameters for different ones, so each gets a name.
  const names = keys.map((_, index) => sql`${name(`$key${index}`)}`);
  const keyed = keys.map((key, index) => sql`${key} as ${names[index]!}`);
  return sql`select distinct on (${listed(names)}) ${listed([...keyed, ...values])} ${from} order by ${listed([...names, ...terms])}`;
}

const distinctKeys = (scope: Scope, sort: Sort, distinct: readonly string[]): Sql[] =>
  distinct
    .flatMap((column) => sort.entity.partsOf(column))
    .map((column, index) => sortKey(scope, sort, { column, descending: false }, index).key);

/** A column of the table under its name in the model. */
function asNamed(entity: EntityModel, alias: string, column: string): string {
  const own = reference(entity, alias, column);
  return entity.columns.get(column)?.stored === undefined ? own : `${own} as ${name(column)}`;
}

/** The total number of rows. */
export function countJson(scope: Scope, listed: Listed, parent?: Source): Sql {
  const alias = scope.alias();
  const entity = scope.model.entity(listed.entity);
  const rows = and([
    searchCondition(scope, entity, listed.call, alias),
    listCondition(scope, listed, alias, parent),
  ]);
  const step = watched(scope, entity, alias);
  // SQLite counts a table without a condition by its pages. That is faster than any time limit, so
  // no step has to watch it.
  const condition = rows && and([step, rows]);
  const from = sql`from ${tableName(entity.entity, scope.dialect)} ${alias}${where(condition)}`;
  const distinct = scope.calls[listed.call]?.distinct;
  if (!distinct) return sql`(select count(*) ${from})`;
  const sort = tableSort(scope, entity, alias, orderJoins());
  const keys = distinctKeys(scope, sort, distinct);
  return sql`(select count(*) from (select distinct ${joinSql(keys, ', ')} ${from}) ${scope.alias()})`;
}

/** The condition of the rows that a list is about, before it is cut into pages. */
export function listCondition(
  scope: Scope,
  listed: Listed,
  alias: string,
  parent?: Source,
  page?: Sql,
): Sql | undefined {
  const entity = scope.model.entity(listed.entity);
  const filter = scope.calls[listed.call]?.where;
  const shape = listed.list.where?.shape;
  return and([
    listed.link && parent
      ? linkCondition(scope, { link: listed.link, entity }, alias, parent)
      : undefined,
    equalities(scope, listed.entity, listed.call, alias),
    scope.calls[listed.call]?.keys ? isAmongKeys(scope, listed, alias) : undefined,
    shape !== undefined && filter !== undefined
      ? filterCondition(scope, shape, filter, { entity, alias, call: listed.call, path: ['where'] })
      : undefined,
    rowCondition(scope, entity.entity, readAccess(scope, listed.entity, listed.access), alias),
    listed.list.condition && statedCondition(scope, listed.entity, listed.list.condition, alias),
    page,
  ]);
}

function isAmongKeys(scope: Scope, { call, entity: of }: Listed, alias: string): Sql {
  const entity = scope.model.entity(of);
  const { global: _global, ...as } = stored(scope.model, entity, 'id');
  return isAmong(scope, sql`${reference(entity, alias, 'id')}`, as, (part) => ({
    from: 'call',
    call,
    path: ['keys'],
    as: part,
  }));
}

/** The caller's rules for the entity, or the rules of the root field that replace them. */
export function readAccess(scope: Scope, entity: string, replaced?: Access): Access {
  if (replaced) return replaced;
  const access = scope.rules.entity(scope.model.entity(entity).entity, 'READ');
  if (access.kind === 'none') throw refusal(access.code);
  return access;
}

function linkCondition(
  scope: Scope,
  { link, entity }: { readonly link: Link; readonly entity: EntityModel },
  alias: string,
  parent: Source,
): Sql {
  if (link.kind === 'table')
    return joinedCondition(scope, link, reference(entity, alias, 'id'), parent.ref('id'));
  const key = sql`${reference(entity, alias, link.column)} = ${parent.ref(link.to ?? 'id')}`;
  return and([key, ofType(link.of, entity, alias)]) ?? key;
}

/** Arguments that filter by equality. Null matches rows without a value. */
export function equalities(
  scope: Scope,
  entityName: string,
  call: number,
  alias: string,
): Sql | undefined {
  const entity = scope.model.entity(entityName);
  return and(
    (scope.calls[call]?.equals ?? []).map(({ column, value }, index) =>
      value === null
        ? isNothing(scope, entity, column, alias)
        : sql`${seenColumn(scope, entity, column, alias)} = ${parameter(call, ['equals', index, 'value'], stored(scope.model, entity, column))}`,
    ),
  );
}

/** The columns by which the order of a page sorts, and the values of it that are no columns. */
function orderColumns(scope: Scope, entity: EntityModel, order: readonly Order[]): string[] {
  return order.flatMap((each, index) =>
    isColumn(each)
      ? [each.column, ...seenBy(scope, entity, each.column)].flatMap((one) => entity.partsOf(one))
      : [orderName(index)],
  );
}

/** A query selects at least one column. */
function selectedColumns(
  { key, entity }: EntityModel,
  used: readonly string[],
  order: readonly string[],
): string[] {
  const columns = [...used, ...order];
  return [...new Set(columns.length > 0 ? columns : [key[0] ?? entity.columns[0]!.name])];
}

export function limit(scope: Scope, call: number, page: Page | undefined, more: 0 | 1): Sql {
  if (!page) return sql``;
  // With a bare `?`, SQLite plans the statement again for each new value of `limit` or `offset`.
  const number = (path: string) =>
    sql`${scope.dialect === 'sqlite' ? '+' : ''}${parameter(call, ['page', path], { type: 'integer' })}`;
  const one = more === 1 || (scope.pages && page.told) ? ' + 1' : '';
  return sql` limit ${page.constant ? String(page.limit) : number('limit')}${one}${page.offset > 0 ? sql` offset ${number('offset')}` : ''}`;
}
