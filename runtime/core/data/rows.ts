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
  const object = write(rows.selection, innerSource(scope, alias, used, joins));
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
  const order = call?.order ?? [];
  const alias = scope.alias();
  const backwards = page?.backwards ?? false;
  const condition = and([
    isLong(scope, listed) ? watched(scope, alias) : undefined,
    listCondition(scope, listed, alias, parent, page && keyset(scope, listed, order, page, alias)),
  ]);
  const selected = selectedColumns(
    columns(),
    backwards ? orderColumns(scope, listed.entity, order) : [],
  );
  const query = sql`select ${selected.map((column) => reference(alias, column)).join(', ')} from ${name(scope.model.entity(listed.entity).entity.table)} ${alias}${where(condition)} order by ${orderBy(scope, listed.entity, order, alias, backwards)}${limit(scope, listed.call, page, more)}`;
  if (!backwards || more === 1) return query;
  const outer = scope.alias();
  return sql`select * from (${query}) ${outer} order by ${orderBy(scope, listed.entity, order, outer, false)}`;
}

/** The total number of rows. */
export function countJson(scope: Scope, listed: Listed, parent?: Source): Sql {
  const alias = scope.alias();
  const rows = listCondition(scope, listed, alias, parent);
  const step = watched(scope, alias);
  // Without a condition SQLite counts pages, which is faster than any limit, so nothing has to end
  // it.
  const condition = rows && and([step, rows]);
  return sql`(select count(*) from ${name(scope.model.entity(listed.entity).entity.table)} ${alias}${where(condition)})`;
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
    listed.link && parent ? linkCondition(listed.link, alias, parent.ref('id')) : undefined,
    equalities(scope, listed.entity, listed.call, alias),
    scope.calls[listed.call]?.keys ? isAmongKeys(scope, listed, alias) : undefined,
    shape !== undefined && filter !== undefined
      ? filterCondition(scope, shape, filter, { entity, alias, call: listed.call, path: ['where'] })
      : undefined,
    rowCondition(scope, entity.entity, readAccess(scope, listed.entity, listed.access), alias),
    page,
  ]);
}

function isAmongKeys(scope: Scope, { call }: Listed, alias: string): Sql {
  const keys = parameter(call, ['keys'], { type: 'id', many: true });
  const id = reference(alias, 'id');
  return scope.dialect === 'sqlite'
    ? sql`${id} in (select value from json_each(${keys}))`
    : sql`${id} = any(${keys})`;
}

/** The caller's rules for the entity, or those of the root field that replace them. */
export function readAccess(scope: Scope, entity: string, replaced?: Access): Access {
  if (replaced) return replaced;
  const access = scope.rules.entity(scope.model.entity(entity).entity, 'READ');
  if (access.kind === 'none') throw refusal(access.code);
  return access;
}

function linkCondition(link: Link, alias: string, own: string): Sql {
  if (link.kind === 'column') {
    const key = sql`${reference(alias, link.column)} = ${own}`;
    return and([key, ofType(link.of, alias)]) ?? key;
  }
  return sql`${reference(alias, 'id')} in (select ${name(link.other)} from ${name(link.table)} where ${name(link.own)} = ${own})`;
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
        ? sql`${seenColumn(scope, entity, column, alias)} is null`
        : sql`${seenColumn(scope, entity, column, alias)} = ${parameter(call, ['equals', index, 'value'], stored(scope.model, entity, column))}`,
    ),
  );
}

/** The columns that the order of a page looks at. */
function orderColumns(scope: Scope, entity: string, order: readonly Order[]): string[] {
  const of = scope.model.entity(entity);
  return order.flatMap(({ column }) => [column, ...seenBy(scope, of, column)]);
}

const selectedColumns = (used: readonly string[], order: readonly string[]) => [
  ...new Set(used.length + order.length > 0 ? [...used, ...order] : ['id']),
];

export function limit(scope: Scope, call: number, page: Page | undefined, more: 0 | 1): Sql {
  if (!page) return sql``;
  // With a bare `?`, SQLite plans the whole statement again for every new value.
  const number = (path: string) =>
    sql`${scope.dialect === 'sqlite' ? '+' : ''}${parameter(call, ['page', path], { type: 'integer' })}`;
  return sql` limit ${page.constant ? String(page.limit) : number('limit')}${more === 1 ? ' + 1' : ''}${page.offset > 0 ? sql` offset ${number('offset')}` : ''}`;
}

/** Rows without a value come last, or first in descending order, on both databases. */
export function orderBy(
  scope: Scope,
  entityName: string,
  order: readonly Order[],
  alias: string,
  reversed: boolean,
): Sql {
  return joinSql(
    order.map(({ column, descending }) => {
      const down = descending !== reversed;
      const { key, nullable } = sortKey(scope, entityName, column, alias);
      const nulls =
        scope.dialect === 'sqlite' && nullable ? (down ? ' nulls first' : ' nulls last') : '';
      return sql`${key}${down ? ' desc' : ''}${nulls}`;
    }),
    ', ',
  );
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
function sortKey(scope: Scope, entityName: string, column: string, alias: string): SortKey {
  const entity = scope.model.entity(entityName);
  const own = reference(alias, column);
  const found = column === 'id' ? undefined : entity.column(column);
  const decimal = scope.dialect === 'sqlite' && found?.type === 'decimal';
  const value = decimal ? sql`cast(${own} as numeric)` : sql`${own}`;
  const seen = seenWhen(scope, entity, column, (of) => reference(alias, of));
  return {
    key: seen ? sql`case when ${seen} then ${value} end` : value,
    nullable: seen !== undefined || found?.required === false,
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
  const { key, nullable, decimal } = sortKey(scope, entity, column, cursor.alias);
  const plain = parameter(
    cursor.call,
    ['page', cursor.path, index],
    stored(scope.model, scope.model.entity(entity), column),
  );
  const at = decimal ? sql`cast(${plain} as numeric)` : sql`${plain}`;
  if (!last) return value === null ? sql`${key} is null` : sql`${key} = ${at}`;
  const down = descending !== cursor.reversed;
  if (value === null) return down ? sql`${key} is not null` : sql`false`;
  if (down) return sql`${key} < ${at}`;
  return nullable ? sql`(${key} > ${at} or ${key} is null)` : sql`${key} > ${at}`;
}
