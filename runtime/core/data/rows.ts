import { tableName } from './scope.ts';
import { rowOf } from './scope.ts';
import { named } from './scope.ts';
import { isNothing } from './condition-sql.ts';
import { isAmong, joinedCondition } from './key-conditions.ts';
import type { Stored } from './values.ts';
import type { EntityModel } from './model.ts';
import { refusal, type Access } from './access.ts';
import { filterCondition } from './filter.ts';
import { joinSql, name, sql, type Sql } from './fragment.ts';
import type { Link, Order, Page, Rows } from './plan.ts';
import { rowCondition, seenBy, seenColumn, seenWhen } from './condition-sql.ts';
import { and, ofType, parameter, reference, where, type Scope } from './scope.ts';
import { stored } from './stored-as.ts';
import { isLong, watched } from './long.ts';
import { innerSource, type Source, type WriteObject } from './source.ts';
import type { Listed } from './listed.ts';

/** A list as one JSON array. */
export function rowsJson(scope: Scope, rows: Rows, write: WriteObject, parent?: Source): Sql {
  const joins: Sql[] = [];
  const used = new Set<string>();
  const alias = scope.alias();
  const entity = scope.model.entity(rows.entity);
  const object = write(rows.selection, innerSource(scope, entity, { alias, used, joins }));
  const query = pageQuery(scope, rows, () => [...used], parent);
  return sql`(select ${scope.json.list(object)} from (${query}) ${alias}${joinSql(joins, '')})`;
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
  const order = wholeOrder(entity, call?.order ?? []);
  const alias = scope.alias();
  const backwards = page?.backwards ?? false;
  const condition = and([
    isLong(scope, listed) ? watched(scope, entity, alias) : undefined,
    listCondition(scope, listed, alias, parent, page && keyset(scope, listed, order, page, alias)),
  ]);
  const selected = selectedColumns(
    entity,
    columns(),
    backwards ? orderColumns(scope, entity, order) : [],
  ).map((column) => asNamed(entity, alias, column));
  const by = orderBy(scope, order, { entity, ref: atTable(entity, alias) }, backwards);
  const query = sql`select ${selected.join(', ')} from ${tableName(entity.entity, scope.dialect)} ${alias}${where(condition)}${by}${limit(scope, listed.call, page, more)}`;
  if (!backwards || more === 1) return query;
  const outer = scope.alias();
  return sql`select * from (${query}) ${outer}${orderBy(scope, order, { entity, ref: atQuery(entity, outer) }, false)}`;
}

/** A column of the table under its name in the model. */
function asNamed(entity: EntityModel, alias: string, column: string): string {
  const own = reference(entity, alias, column);
  return entity.columns.get(column)?.stored === undefined ? own : `${own} as ${name(column)}`;
}

/** The order with each key of several as its columns. */
function wholeOrder(entity: EntityModel, order: readonly Order[]): readonly Order[] {
  return order.flatMap((each) =>
    entity.partsOf(each.column).map((column) => ({ column, descending: each.descending })),
  );
}

/** The total number of rows. */
export function countJson(scope: Scope, listed: Listed, parent?: Source): Sql {
  const alias = scope.alias();
  const entity = scope.model.entity(listed.entity);
  const rows = listCondition(scope, listed, alias, parent);
  const step = watched(scope, entity, alias);
  // Without a condition SQLite counts pages, which is faster than any limit, so nothing has to end
  // it.
  const condition = rows && and([step, rows]);
  return sql`(select count(*) from ${tableName(entity.entity, scope.dialect)} ${alias}${where(condition)})`;
}

function listCondition(
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

/** The caller's rules for the entity, or those of the root field that replace them. */
export function readAccess(scope: Scope, entity: string, replaced?: Access): Access {
  if (replaced) return replaced;
  const access = scope.rules.entity(scope.model.entity(entity).entity, 'READ');
  if (access.kind === 'none') throw refusal(access.code);
  return access;
}

interface Linking {
  readonly link: Link;
  readonly entity: EntityModel;
}

function linkCondition(
  scope: Scope,
  { link, entity }: Linking,
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

/** The columns that the order of a page looks at. */
function orderColumns(scope: Scope, entity: EntityModel, order: readonly Order[]): string[] {
  return order.flatMap(({ column }) =>
    [column, ...seenBy(scope, entity, column)].flatMap((each) => entity.partsOf(each)),
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
  // With a bare `?`, SQLite plans the whole statement again for every new value.
  const number = (path: string) =>
    sql`${scope.dialect === 'sqlite' ? '+' : ''}${parameter(call, ['page', path], { type: 'integer' })}`;
  return sql` limit ${page.constant ? String(page.limit) : number('limit')}${more === 1 ? ' + 1' : ''}${page.offset > 0 ? sql` offset ${number('offset')}` : ''}`;
}

/** The columns that rows are ordered by, and how the query names them. */
interface Sort {
  readonly entity: EntityModel;
  ref(column: string): string;
}

const atTable = (entity: EntityModel, alias: string) => (column: string) =>
  reference(entity, alias, column);

/** An inner query has the names of the model. */
const atQuery = (entity: EntityModel, alias: string) => (column: string) =>
  rowOf(entity, column, (part) => named(alias, part));

/** Rows without a value come last, or first in descending order, on both databases. */
export function orderBy(scope: Scope, order: readonly Order[], sort: Sort, reversed: boolean): Sql {
  if (order.length === 0) return sql``;
  const terms = order.map(({ column, descending }) => {
    const down = descending !== reversed;
    const { key, nullable } = sortKey(scope, sort, column);
    const nulls =
      scope.dialect === 'sqlite' && nullable ? (down ? ' nulls first' : ' nulls last') : '';
    return sql`${key}${down ? ' desc' : ''}${nulls}`;
  });
  return sql` order by ${joinSql(terms, ', ')}`;
}

/** What rows are compared by. */
interface SortKey {
  readonly key: Sql;
  readonly nullable: boolean;
  /** Whether values are compared as numbers, which are kept as text. */
  readonly decimal: boolean;
}

/**
 * SQLite keeps decimals as text, which does not sort like numbers. A value that the caller may not
 * see is none.
 */
function sortKey(scope: Scope, { entity, ref }: Sort, column: string): SortKey {
  const own = ref(column);
  const { type, required } = entity.column(column);
  const decimal = scope.dialect === 'sqlite' && type === 'decimal';
  const value = decimal ? sql`cast(${own} as numeric)` : sql`${own}`;
  const seen = seenWhen(scope, entity, column, ref);
  return {
    key: seen ? sql`case when ${seen} then ${value} end` : value,
    nullable: seen !== undefined || !required,
    decimal,
  };
}

/** The condition for rows after (or before) the row of a cursor. */
function keyset(
  scope: Scope,
  { entity, call }: Listed,
  order: readonly Order[],
  page: Page,
  alias: string,
): Sql | undefined {
  const side = (path: 'after' | 'before') =>
    page[path] &&
    beyond(scope, entity, order, page[path], { call, path, alias, reversed: path === 'before' });
  return and([side('after'), side('before')]);
}

/** Cursors hold the values of columns: a key of several stands in them as its parts. */
const cursorValue = ({ part: _part, ...as }: Stored): Stored => as;

interface Cursor {
  readonly call: number;
  readonly path: 'after' | 'before';
  readonly alias: string;
  readonly reversed: boolean;
}

/** `a > 1 or (a = 1 and b > 2)`, with nulls at the end where the order puts them. */
function beyond(
  scope: Scope,
  entity: string,
  order: readonly Order[],
  values: readonly unknown[],
  cursor: Cursor,
): Sql {
  const terms = order.map(
    (_, last) =>
      and(
        order
          .slice(0, last + 1)
          .map((term, index) =>
            step(scope, entity, term, values[index], index, index === last, cursor),
          ),
      ) ?? sql`true`,
  );
  return sql`(${joinSql(
    terms.map((term) => sql`(${term})`),
    ' or ',
  )})`;
}

function step(
  scope: Scope,
  entity: string,
  { column, descending }: Order,
  value: unknown,
  index: number,
  last: boolean,
  cursor: Cursor,
): Sql {
  const model = scope.model.entity(entity);
  const sort = { entity: model, ref: atTable(model, cursor.alias) };
  const { key, nullable, decimal } = sortKey(scope, sort, column);
  const plain = parameter(
    cursor.call,
    ['page', cursor.path, index],
    cursorValue(stored(scope.model, model, column)),
  );
  const at = decimal ? sql`cast(${plain} as numeric)` : sql`${plain}`;
  if (!last) return value === null ? sql`${key} is null` : sql`${key} = ${at}`;
  const down = descending !== cursor.reversed;
  if (value === null) return down ? sql`${key} is not null` : sql`false`;
  if (down) return sql`${key} < ${at}`;
  return nullable ? sql`(${key} > ${at} or ${key} is null)` : sql`${key} > ${at}`;
}
