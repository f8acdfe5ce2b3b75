import { tableName } from './scope.ts';
import { isNothing } from './condition-sql.ts';
import { joinedCondition } from './key-conditions.ts';
import { isAmong } from './key-conditions.ts';
import type { Field, Filter, FilterOperator } from '@twofold/schema';
import { failure } from '../errors.ts';
import { refusal } from './access.ts';
import { binary, not } from './comparison.ts';
import { sql, type Sql } from './fragment.ts';
import { watched } from './long.ts';
import { aggregateCondition } from './aggregate-condition.ts';
import { shownBy } from './list-condition.ts';
import { found, keyType, type EntityModel } from './model.ts';
import { assertReadable } from './readable.ts';
import { conditionsSql, rowCondition, seenColumn } from './condition-sql.ts';
import { and, ofType, or, parameter, reference, where, type Scope } from './scope.ts';
import { stored } from './stored-as.ts';

/** The path of a `where` input in the arguments, and what it filters. */
interface Site {
  readonly entity: EntityModel;
  readonly alias: string;
  readonly call: number;
  readonly path: readonly (string | number)[];
}

/**
 * The condition of a `where` input. Conditions are true or false, never null: a comparison with a
 * missing value is false, and its `not` is true.
 *
 * @throws AppError `FORBIDDEN` when it names a field that the caller may not read.
 */
export function filterCondition(scope: Scope, shapeId: string, value: unknown, site: Site): Sql {
  const shape = found(scope.model.filters.get(shapeId), `filter ${shapeId}`);
  const input = value as Readonly<Record<string, unknown>>;
  const conditions = shape.filters
    .filter(({ name }) => input[name] !== undefined)
    .map((filter) =>
      one(scope, filter, shapeId, input[filter.name], {
        ...site,
        path: [...site.path, filter.name],
      }),
    );
  return and(conditions) ?? sql`true`;
}

function one(
  scope: Scope,
  filter: Filter,
  shapeId: string,
  value: unknown,
  site: Site,
): Sql | undefined {
  switch (filter.kind) {
    case 'and':
    case 'or':
      return value === null ? undefined : combine(scope, filter.kind, shapeId, value, site);
    case 'not':
      return value === null
        ? undefined
        : not(
            or(
              itemsWithSite(value, site).map(([item, at]) =>
                filterCondition(scope, shapeId, item, at),
              ),
            ),
          );
    case 'equals':
      return compare(scope, filter.column, 'eq', value, site);
    case 'operators':
      return value === null
        ? compare(scope, filter.column, 'eq', value, site)
        : operators(scope, filter, value as Record<string, unknown>, site);
    case 'aggregate':
      return aggregateCondition(scope, filter, value, site);
    case 'one':
    case 'many':
      return related(scope, filter, value, site);
  }
}

function combine(
  scope: Scope,
  kind: 'and' | 'or',
  shapeId: string,
  value: unknown,
  site: Site,
): Sql {
  const conditions = itemsWithSite(value, site).map(([item, at]) =>
    filterCondition(scope, shapeId, item, at),
  );
  return kind === 'or' ? or(conditions) : (and(conditions) ?? sql`true`);
}

/** The items of an input list with their paths, or the single object that some schemas declare. */
function itemsWithSite(value: unknown, site: Site): [unknown, Site][] {
  if (!Array.isArray(value)) return [[value, site]];
  return value.flatMap((item, index): [unknown, Site][] =>
    item === null ? [] : [[item, { ...site, path: [...site.path, index] }]],
  );
}

function operators(
  scope: Scope,
  filter: Extract<Filter, { kind: 'operators' }>,
  input: Record<string, unknown>,
  site: Site,
): Sql | undefined {
  return and(
    filter.operators
      .filter((operator) => input[operator] !== undefined)
      .map((operator) =>
        compare(scope, filter.column, operator, input[operator], {
          ...site,
          path: [...site.path, operator],
        }),
      ),
  );
}

function compare(
  scope: Scope,
  columnName: string,
  operator: FilterOperator,
  value: unknown,
  site: Site,
): Sql | undefined {
  assertReadable(scope.rules, site.entity, columnName);
  const as = stored(scope.model, site.entity, columnName);
  const column = seenColumn(scope, site.entity, columnName, site.alias);
  const nothing = () => isNothing(scope, site.entity, columnName, site.alias);
  if (value === null) return isNull(nothing, operator, site);
  if (operator === 'isNull') return value === true ? nothing() : not(nothing());
  if (operator === 'in' || operator === 'notIn')
    return isIn(scope, column, operator, value, site, columnName);
  return binary(
    scope,
    column,
    operator,
    sql`${parameter(site.call, site.path, as)}`,
    as.type === 'decimal',
  );
}

/**
 * Compares with null, which only `eq` and `ne` allow. @throws AppError `BAD_USER_INPUT` otherwise
 */
function isNull(nothing: () => Sql, operator: FilterOperator, { path }: Site): Sql {
  if (operator === 'eq') return nothing();
  if (operator === 'ne') return not(nothing());
  const field = path.slice(1).join('.');
  throw failure.invalid(`${field} must not be null: write eq: null or ne: null`, {
    extensions: { field },
  });
}

function isIn(
  scope: Scope,
  column: Sql,
  operator: 'in' | 'notIn',
  value: unknown,
  site: Site,
  columnName: string,
): Sql {
  const { call, path, entity, alias } = site;
  const as = stored(scope.model, entity, columnName);
  const listed = isAmong(scope, column, as, (part) => ({ from: 'call', call, path, as: part }));
  const withNull = (value as unknown[]).includes(null)
    ? sql`(${listed}) is true or ${isNothing(scope, entity, columnName, alias)}`
    : listed;
  return operator === 'in' ? sql`(${withNull})` : not(withNull);
}

/** A filter does not see rows that the caller may not see. */
function related(
  scope: Scope,
  filter: Extract<Filter, { kind: 'one' | 'many' }>,
  value: unknown,
  site: Site,
): Sql | undefined {
  const field = found(
    site.entity.fields.get(filter.field),
    `field ${site.entity.entity.name}.${filter.field}`,
  );
  const access = scope.rules.field(site.entity.entity, field, 'READ');
  if (access.kind === 'none') throw refusal(access.code);
  const readable =
    access.kind === 'rows'
      ? conditionsSql(scope, site.entity.entity.name, access.conditions, (column) =>
          reference(site.entity, site.alias, column),
        )
      : undefined;
  const to: Relation = { field, readable };
  if (filter.kind === 'one')
    return value === null
      ? not(exists(scope, to, undefined, site))
      : exists(scope, to, nested(scope, filter.shape, value, site), site);
  if (value === null) return undefined;
  const input = value as Record<string, unknown>;
  return and(
    filter.quantifiers
      .filter((quantifier) => input[quantifier] !== undefined && input[quantifier] !== null)
      .map((quantifier) =>
        quantified(
          scope,
          quantifier,
          to,
          nested(scope, filter.shape, input[quantifier], {
            ...site,
            path: [...site.path, quantifier],
          }),
          site,
        ),
      ),
  );
}

/** A relation, which has no rows where the caller may not read its field. */
interface Relation {
  readonly field: Field;
  readonly readable: Sql | undefined;
}

type Inner = (alias: string, entity: EntityModel) => Sql;

function nested(scope: Scope, shape: string, value: unknown, site: Site): Inner {
  return (alias, entity) => filterCondition(scope, shape, value, { ...site, alias, entity });
}

function quantified(
  scope: Scope,
  quantifier: 'some' | 'every' | 'none',
  relation: Relation,
  inner: Inner,
  site: Site,
): Sql {
  if (quantifier === 'some') return exists(scope, relation, inner, site);
  const counter: Inner =
    quantifier === 'every' ? (alias, entity) => not(inner(alias, entity)) : inner;
  const any = exists(scope, relation, counter, site);
  return relation.readable ? not(any) : sql`not ${any}`;
}

function exists(
  scope: Scope,
  { field, readable }: Relation,
  inner: Inner | undefined,
  { alias: outer, entity: parent }: Site,
): Sql {
  const { source } = field;
  if (source.kind !== 'one' && source.kind !== 'many')
    throw failure.invalid(`${field.name} cannot be filtered by`);
  const entity = scope.model.entity(source.entity);
  const access = scope.rules.entity(entity.entity, 'READ');
  if (access.kind === 'none') throw refusal(access.code);
  const alias = scope.alias();
  const condition = and([
    watched(scope, entity, alias),
    linkCondition(scope, source, { entity, alias }, { entity: parent, alias: outer }),
    ofType(keyType(source, parent.entity.name), entity, alias),
    rowCondition(scope, entity.entity, access, alias),
    shownBy(scope, field, alias),
    inner?.(alias, entity),
  ]);
  const rows = sql`exists (select 1 from ${tableName(entity.entity, scope.dialect)} ${alias}${where(condition)})`;
  const there =
    scope.relation() > MAX_JOINED_CONDITIONS && scope.dialect === 'postgres'
      ? sql`(${rows} is true)`
      : rows;
  return and([readable, there]) ?? there;
}

/**
 * PostgreSQL turns `exists` conditions into joins and plans all their orders: twenty take half a
 * second, sixty take minutes. It does not do so for a condition that is compared with `true`.
 */
const MAX_JOINED_CONDITIONS = 4;

/** A table of the query. */
interface Place {
  readonly entity: EntityModel;
  readonly alias: string;
}

function linkCondition(
  scope: Scope,
  source: Extract<Field['source'], { kind: 'one' | 'many' }>,
  { entity, alias }: Place,
  outer: Place,
): Sql {
  const theirs = (column: string) => reference(entity, alias, column);
  const own = (column: string) => reference(outer.entity, outer.alias, column);
  if (source.kind === 'one')
    return source.key === 'own'
      ? sql`${theirs(source.to ?? 'id')} = ${own(source.column)}`
      : sql`${theirs(source.column)} = ${own(source.to ?? 'id')}`;
  const { via } = source;
  return via.kind === 'column'
    ? sql`${theirs(via.column)} = ${own(via.to ?? 'id')}`
    : joinedCondition(scope, via, theirs('id'), own('id'));
}
