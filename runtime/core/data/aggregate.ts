import { valueSql } from './fragment.ts';
import { tableName } from './scope.ts';
import { joinedCondition } from './key-conditions.ts';
import type { AggregateCondition, Field } from '@twofold/schema';
import { failure } from '../errors.ts';
import { binary } from './comparison.ts';
import { joinSql, sql, type Parameter, type Sql } from './fragment.ts';
import { keyType, type EntityModel } from './model.ts';
import { watched } from './long.ts';
import type { Planned } from './plan.ts';
import { conditionsSql, rowCondition } from './condition-sql.ts';
import { and, ofType, or, reference, where, type Scope } from './scope.ts';
import { stored } from './stored-as.ts';
import type { Source } from './source.ts';

type Asked = Extract<Planned, { kind: 'aggregate' }>;

/**
 * How many related rows there are, or whether there are any. Rows that the caller may not see do
 * not count.
 */
export function aggregateJson(
  scope: Scope,
  parent: string,
  { aggregate, relation }: Asked,
  source: Source,
): Sql {
  const entity = scope.model.entity(aggregate.entity);
  const alias = scope.alias();
  const access = scope.rules.entity(entity.entity, 'READ');
  const condition = and([
    watched(scope, entity, alias),
    relationReadable(scope, parent, relation, source),
    linkCondition(scope, relation, { entity, alias }, source),
    ofType(keyType(relation.source, parent), entity, alias),
    rowCondition(scope, entity.entity, access, alias),
    ...aggregate.where.map((each) => compare(scope, entity, each, alias)),
  ]);
  const from = sql`from ${tableName(entity.entity, scope.dialect)} ${alias}${where(condition)}`;
  return aggregate.of === 'count'
    ? sql`(select count(*) ${from})`
    : scope.json.boolean(sql`exists (select 1 ${from})`);
}

/** Where the caller may not read the relation, it has no rows. */
function relationReadable(scope: Scope, parent: string, field: Field, source: Source) {
  if (field.rules.length === 0) return undefined;
  const access = scope.rules.field(scope.model.entity(parent).entity, field, 'READ');
  if (access.kind === 'all') return undefined;
  if (access.kind === 'none') return sql`false`;
  return conditionsSql(scope, parent, access.conditions, (column) => source.ref(column));
}

function linkCondition(
  scope: Scope,
  { name: field, source }: Field,
  { entity, alias }: { readonly entity: EntityModel; readonly alias: string },
  parent: Source,
): Sql {
  const theirs = (column: string) => reference(entity, alias, column);
  if (source.kind === 'one')
    return source.key === 'own'
      ? sql`${theirs(source.to ?? 'id')} = ${parent.ref(source.column)}`
      : sql`${theirs(source.column)} = ${parent.ref(source.to ?? 'id')}`;
  if (source.kind !== 'many') throw failure.invalid(`${field} is not a relation`);
  const { via } = source;
  return via.kind === 'column'
    ? sql`${theirs(via.column)} = ${parent.ref(via.to ?? 'id')}`
    : joinedCondition(scope, via, theirs('id'), parent.ref('id'));
}

/** The author of the schema wrote the condition, so it may use fields that the caller may not read. */
function compare(
  scope: Scope,
  entity: EntityModel,
  { column: of, operator, value, caller }: AggregateCondition,
  alias: string,
): Sql {
  const column = sql`${reference(entity, alias, of)}`;
  const as = stored(scope.model, entity, of);
  const decimal = as.type === 'decimal';
  if (caller) {
    const id = valueSql(as, (part): Parameter => ({ from: 'caller', as: part }));
    // Without a caller both are null, which is not true: nothing matches.
    return operator === 'ne' || operator === 'notIn'
      ? sql`${column} <> ${id}`
      : sql`${column} = ${id}`;
  }
  if (operator === 'isNull') return sql`${column} is ${value === true ? '' : 'not '}null`;
  if (value === null) return sql`${column} is ${operator === 'eq' ? '' : 'not '}null`;
  const equal = (item: unknown) =>
    binary(scope, column, 'eq', sql`${{ from: 'value' as const, value: item, as }}`, decimal);
  if (operator === 'in') return or(listOf(value).map(equal));
  if (operator === 'notIn')
    return sql`(${joinSql([or(listOf(value).map(equal))], '')}) is not true`;
  return binary(scope, column, operator, sql`${{ from: 'value' as const, value, as }}`, decimal);
}

const listOf = (value: unknown): unknown[] => (Array.isArray(value) ? value : [value]);
