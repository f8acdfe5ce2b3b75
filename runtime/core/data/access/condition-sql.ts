import type {
  JoinKey,
  Condition,
  Entity,
  Related,
  RelatedCount,
  RelatedLink,
} from '@twofold/schema';
import { refusal, type Access } from './access.ts';
import { callerSql, compareSql, comparisonSql } from './comparison-sql.ts';
import { not } from '../words/comparison.ts';
import { literal, name, sql, type Parameter, type Part, type Sql } from '../sql/fragment.ts';
import { fieldOfColumn, type EntityModel } from '../model.ts';
import {
  columnsOf,
  organizationsWith,
  type Belonging,
  type RowCondition,
  type RowConditions,
} from './row-condition.ts';
import {
  tableName,
  joinColumns,
  bare,
  and,
  or,
  reference,
  where,
  type Scope,
} from '../sql/scope.ts';
import { stored } from '../sql/stored-as.ts';
import type { Stored } from '../sql/values.ts';

/** Which rows the caller may see or change, before any filter; undefined when all. */
export function rowCondition(
  scope: Scope,
  entity: Entity,
  access: Access,
  alias: string,
): Sql | undefined {
  const model = scope.model.entity(entity.name);
  const live = entity.softDelete
    ? sql`${reference(model, alias, entity.softDelete)} is null`
    : undefined;
  return and([live, accessCondition(scope, entity.name, access, alias)]);
}

export function accessCondition(
  scope: Scope,
  entity: string,
  access: Access,
  alias: string,
): Sql | undefined {
  if (access.kind === 'all') return undefined;
  if (access.kind === 'none') return sql`false`;
  return conditionsSql(scope, entity, access.conditions, rowRef(scope.model.entity(entity), alias));
}

/** The SQL of conditions on a row whose columns `ref` names. */
export function conditionsSql(
  scope: Scope,
  entity: string,
  conditions: RowConditions,
  ref: (column: string) => Part,
): Sql {
  return (
    and(conditions.map((any) => or(any.map((one) => conditionSql(scope, entity, one, ref))))) ??
    sql`true`
  );
}

/** Names a column of the row that a condition is about. */
export type Ref = (column: string) => Part;

/** Names the columns of a row of the entity's table. */
const rowRef = (entity: EntityModel, alias: string) => (column: string) =>
  reference(entity, alias, column);

function conditionSql(scope: Scope, entity: string, condition: RowCondition, ref: Ref): Sql {
  switch (condition.kind) {
    case 'caller':
    case 'organization':
    case 'membership':
    case 'within':
      return belongingSql(scope, entity, condition, ref);
    case 'both':
      return (
        and([
          or(condition.who.map((one) => conditionSql(scope, entity, one, ref))),
          conditionSql(scope, entity, condition.where, ref),
        ]) ?? sql`true`
      );
    default:
      return statedSql(scope, entity, condition, ref);
  }
}

/** @param entity absent when the row is of a table that is no entity's. */
function belongingSql(
  scope: Scope,
  entity: string | undefined,
  condition: Belonging,
  ref: Ref,
): Sql {
  const { column } = condition;
  const as: Stored =
    entity === undefined ? KEY : stored(scope.model, scope.model.entity(entity), column);
  switch (condition.kind) {
    case 'caller':
      return sql`${ref(column)} = ${callerSql(as)}`;
    case 'organization':
      return organizationSql(scope, ref(column), condition.roles, as);
    case 'membership': {
      const { table, user, organization, roles } = condition;
      const named = roles.length === 0 ? '' : ` and role in (${roles.map(literal).join(', ')})`;
      return sql`${ref(column)} in (select ${name(organization)} from ${name(table)} where ${name(user)} = ${{ from: 'caller', as: KEY }}${named})`;
    }
    case 'within': {
      const alias = scope.alias();
      const { entity: of, table, select } = condition;
      const within = of === undefined ? undefined : scope.model.entity(of);
      const row = within ? rowRef(within, alias) : (each: string) => `${alias}.${name(each)}`;
      const inner = belongingSql(scope, of, condition.condition, row);
      const from = within ? tableName(within.entity, scope.dialect) : name(table);
      return sql`${ref(column)} in (select ${bare(row(select))} from ${from} ${alias} where ${inner})`;
    }
  }
}

/** A condition of the schema. Where a value is missing it is false, and its `not` is true. */
function statedSql(scope: Scope, entity: string, condition: Condition, ref: Ref): Sql {
  const inner = (of: Condition) => statedSql(scope, entity, of, ref);
  switch (condition.kind) {
    case 'all':
      return and(condition.of.map(inner)) ?? sql`true`;
    case 'any':
      return or(condition.of.map((of) => sql`(${inner(of)})`));
    case 'not':
      return not(inner(condition.of));
    case 'compare':
      return comparisonSql(scope, entity, condition, ref);
    case 'related':
      return relatedSql(scope, condition, ref);
    case 'count':
      return countSql(scope, condition, ref);
  }
}

/** Rows that are removed softly count as removed: they meet no condition. */
function relatedSql(scope: Scope, { quantifier, entity, link, of }: Related, ref: Ref): Sql {
  const byKey =
    quantifier !== 'every' && ((of.kind === 'compare' && of.column === 'id') || isMetByKey(of));
  const needsKey = quantifier === 'some' && isMetByKey(of);
  const some = (inner: (of: Ref) => Sql) =>
    someSql(scope, { entity, link, byKey, needsKey, inner }, ref);
  const plain = (row: Ref) => statedSql(scope, entity, of, row);
  if (quantifier === 'some') return some(plain);
  return not(some(quantifier === 'none' ? plain : (row) => not(plain(row))));
}

interface Some {
  readonly entity: string;
  readonly link: RelatedLink;
  /** Whether `inner` looks at nothing but the key of the related row. */
  readonly byKey: boolean;
  /** Whether a row without a key does not meet `inner`. */
  readonly needsKey: boolean;
  inner(row: Ref): Sql;
}

/**
 * Whether a condition looks at nothing but the key of a row, and is false without one. A foreign key
 * to the row then says as much as the row itself, and the table need not be read.
 */
function isMetByKey(of: Condition): boolean {
  switch (of.kind) {
    case 'compare':
      return of.column === 'id' && of.operator === 'eq' && !('value' in of && of.value === null);
    case 'all':
      return of.of.length > 0 && of.of.every(isMetByKey);
    case 'any':
      return of.of.every(isMetByKey);
    case 'related':
      return of.quantifier === 'some' && of.link.kind !== 'own' && !('to' in of.link);
    default:
      return false;
  }
}

function someSql(scope: Scope, { entity: of, link, byKey, needsKey, inner }: Some, ref: Ref): Sql {
  const model = scope.model.entity(of);
  const { entity } = model;
  const alias = scope.alias();
  const row = rowRef(model, alias);
  const live = entity.softDelete && sql`${row(entity.softDelete)} is null`;
  const rows = (selected: string, type?: Sql) =>
    sql`(select ${bare(row(selected))} from ${tableName(entity, scope.dialect)} ${alias}${where(and([type, live || undefined, inner(row)]))})`;
  if (link.kind === 'own' && needsKey && link.to === undefined && isKept(scope, entity))
    return inner(() => ref(link.column));
  if (link.kind === 'own') return sql`${ref(link.column)} in ${rows(link.to ?? 'id')}`;
  if (link.kind === 'other')
    return sql`${ref(link.to ?? 'id')} in ${rows(link.column, link.type && sql`${row(link.type.column)} = ${literal(link.type.name)}`)}`;
  const join = scope.alias();
  const at = (key: JoinKey) =>
    typeof key === 'string'
      ? `${join}.${name(key)}`
      : `(${key.map((each) => `${join}.${name(each)}`).join(', ')})`;
  const far = at(link.other);
  const joined = byKey && !live ? inner(() => far) : sql`${far} in ${rows('id')}`;
  return sql`${ref('id')} in (select ${bare(at(link.own))} from ${tableName(link, scope.dialect)} ${join} where ${joined})`;
}

/**
 * Whether the row of each foreign key exists. It may not in views and in tables that other programs
 * change.
 */
const isKept = ({ model }: Scope, { softDelete, view }: Entity): boolean =>
  !softDelete && !view && !model.project.unmanaged;

function countSql(
  scope: Scope,
  { entity: of, link, operator, value }: RelatedCount,
  ref: Ref,
): Sql {
  const model = scope.model.entity(of);
  const { entity } = model;
  const alias = scope.alias();
  const row = rowRef(model, alias);
  const live = entity.softDelete && sql`${row(entity.softDelete)} is null`;
  const linked =
    link.kind === 'own'
      ? sql`${row(link.to ?? 'id')} = ${ref(link.column)}`
      : link.kind === 'other'
        ? and([
            sql`${row(link.column)} = ${ref(link.to ?? 'id')}`,
            link.type && sql`${row(link.type.column)} = ${literal(link.type.name)}`,
          ])
        : sql`${row('id')} in (select ${bare(joinColumns(link.other))} from ${tableName(link, scope.dialect)} where ${joinColumns(link.own)} = ${ref('id')})`;
  const count = sql`(select count(*) from ${tableName(entity, scope.dialect)} ${alias}${where(and([linked, live || undefined]))})`;
  return compareSql(scope, count, operator, { value }, { type: 'integer' });
}

const KEY: Stored = { type: 'id' };

/** With one organization the index of the key also gives the order of the rows. */
function organizationSql(
  { rules, dialect }: Scope,
  column: Part,
  roles: readonly string[],
  as: Stored,
): Sql {
  const { length } = organizationsWith(rules.organizations, roles);
  if (length === 0) return sql`false`;
  if (length === 1) return sql`${column} = ${{ from: 'organizations', roles, as }}`;
  const list: Parameter = { from: 'organizations', roles, as: { ...as, many: true } };
  return dialect === 'sqlite'
    ? sql`${column} in (select value from json_each(${list}))`
    : sql`${column} = any(${list})`;
}

/**
 * A column as the caller sees it: null where they may not read its field, and for the key of a row
 * that they may not see, as the relation is null in the answer. So a comparison with it, an order
 * by it and a cursor over it reveal nothing.
 *
 * @throws AppError when the caller may see no row of the other entity.
 */
export function seenColumn(scope: Scope, entity: EntityModel, column: string, alias: string): Sql {
  const own = reference(entity, alias, column);
  const target = referred(scope, entity, column);
  const to = entity.columns.get(column)?.references?.to;
  const seen = target ? seenKey(scope, target, own, to) : sql`${own}`;
  const readable = readableWhen(scope, entity, column, rowRef(entity, alias));
  if (!readable) return seen;
  // A row value cannot be the result of `case`, so a subquery returns it.
  return own.startsWith('(')
    ? sql`(select ${bare(own)} where ${readable} and ${own} = ${seen})`
    : sql`case when ${readable} then ${seen} end`;
}

/**
 * The condition that a column is null for the caller, or that they cannot see the row that it
 * refers to.
 */
export function isNothing(scope: Scope, entity: EntityModel, column: string, alias: string): Sql {
  const seen = seenColumn(scope, entity, column, alias);
  if (entity.partsOf(column).length === 1) return sql`${seen} is null`;
  const own = reference(entity, alias, column);
  return sql`(${own} = ${seen}) is not true`;
}

/** The entity whose key the column holds. */
function referred({ model }: Scope, { columns }: EntityModel, column: string) {
  const references = columns.get(column)?.references;
  return references && model.entities.get(references.entity);
}

/** In which rows the caller may read the field of a column; undefined for all of them. */
export function readableWhen(
  scope: Scope,
  entity: EntityModel,
  column: string,
  ref: Ref,
): Sql | undefined {
  const field = fieldOfColumn(entity, column);
  const access = field && scope.rules.field(entity.entity, field, 'READ');
  if (!access || access.kind === 'all') return undefined;
  if (access.kind === 'none') return sql`false`;
  return conditionsSql(scope, entity.entity.name, access.conditions, ref);
}

/**
 * In which rows the caller sees a value by which rows are ordered; undefined for all of them. Unlike
 * `readableWhen`, it also asks for the row that a foreign key refers to. The key of the row itself is
 * part of every order, so it counts as seen.
 */
export function sortValueSeenWhen(
  scope: Scope,
  entity: EntityModel,
  column: string,
  ref: Ref,
): Sql | undefined {
  if (entity.key.includes(column)) return undefined;
  const target = referred(scope, entity, column);
  const access = target && scope.rules.entity(target.entity, 'READ');
  const hides = target && access && (access.kind !== 'all' || target.entity.softDelete);
  return and([
    readableWhen(scope, entity, column, ref),
    hides && access.kind === 'none'
      ? sql`false`
      : hides
        ? sql`${seenKey(scope, target, ref(column), entity.columns.get(column)?.references?.to)} is not null`
        : undefined,
  ]);
}

/** The columns of a row that `sortValueSeenWhen` looks at. */
export function seenBy({ rules }: Scope, entity: EntityModel, column: string): readonly string[] {
  const field = fieldOfColumn(entity, column);
  const access = field && rules.field(entity.entity, field, 'READ');
  return access?.kind === 'rows' ? columnsOf(access.conditions) : [];
}

/**
 * The key of a row of `entity`, or null when the caller may not see that row, or it is removed softly.
 *
 * @throws AppError when they may see no row.
 */
export function seenKey(scope: Scope, of: EntityModel, key: Part, to = 'id'): Sql {
  const { entity } = of;
  const access = scope.rules.entity(entity, 'READ');
  if (access.kind === 'all' && !entity.softDelete) return sql`${key}`;
  if (access.kind === 'none') throw refusal(access.code);
  const other = scope.alias();
  const condition = and([
    sql`${reference(of, other, to)} = ${key}`,
    rowCondition(scope, entity, access, other),
  ]);
  return sql`(select ${bare(reference(of, other, to))} from ${tableName(entity, scope.dialect)} ${other}${where(condition)})`;
}
