import type { Comparison, FilterOperator, Operand } from '@twofold/schema';
import { claimOf } from './claims.ts';
import { columnCompared, memberCompared, type Compared } from '../words/compared.ts';
import { binary, not } from '../words/comparison.ts';
import { sql, valueSql, type Parameter, type Part, type Sql } from '../sql/fragment.ts';
import type { Given } from '../sql/given.ts';
import type { EntityModel } from '../model.ts';
import { or, type Scope } from '../sql/scope.ts';
import type { Stored } from '../sql/values.ts';
import { wordSql } from '../words/words.ts';

/** The SQL of one comparison of a condition, on a row whose columns `ref` names. */
export function comparisonSql(
  scope: Scope,
  entity: string,
  one: Comparison,
  ref: (column: string) => Part,
): Sql {
  const of = scope.model.entity(entity);
  const column = sql`${ref(one.column)}`;
  const compared = statedValue(scope, of, one, column);
  if (compared.form === 'scalar' && !one.insensitive)
    return compareSql(scope, compared.value, one.operator, one, compared.as);
  return wordSql(scope, compared, wordOf(scope, one), givenBy(scope, one), {
    fold: one.insensitive ?? false,
    way: one.path && constantGiven(one.path),
  });
}

/** What a condition compares: a column, or a member of the object that it holds. */
function statedValue(scope: Scope, of: EntityModel, one: Comparison, column: Sql): Compared {
  const { member } = one;
  const nothing = () => sql`${column} is null`;
  if (!member) return columnCompared(scope, of, one.column, { value: column, nothing });
  const { keys, type, list } = member;
  return memberCompared(scope, column, keys, { type, ...(list && { list }) });
}

/** A claim with a list means "any of them", so `eq` becomes `in`. */
function wordOf({ rules }: Scope, one: Comparison): FilterOperator {
  const isList = 'claim' in one && Array.isArray(claimOf(rules.claims, one.claim));
  if (!isList) return one.operator;
  if (one.operator === 'has') return 'hasSome';
  return one.operator === 'eq' ? 'in' : one.operator === 'ne' ? 'notIn' : one.operator;
}

const constantGiven = (value: unknown): Given => ({
  field: 'where',
  value,
  parameter: (as) => ({ from: 'value', value, as }),
});

/** The operand of a condition, in the form that the operators of filters take. */
function givenBy({ rules }: Scope, operand: Operand): Given {
  if ('value' in operand) return constantGiven(operand.value);
  if ('caller' in operand)
    return { field: 'where', value: true, parameter: (as) => ({ from: 'caller', as }) };
  const { claim } = operand;
  const value = claimOf(rules.claims, claim);
  return { field: 'where', value, parameter: (as) => ({ from: 'claim', claim, as }) };
}

/** A claim with several values means any of them. */
export function compareSql(
  scope: Scope,
  column: Sql,
  operator: FilterOperator,
  operand: Operand,
  as: Stored,
): Sql {
  if ('caller' in operand) return binary(scope, column, operator, callerSql(as), false);
  if ('claim' in operand) return claimSql(scope, column, operator, operand, as);
  const { value } = operand;
  if (operator === 'isNull') return sql`${column} is ${value === true ? '' : 'not '}null`;
  if (operator === 'in') return or(listOf(value).map((item) => equalSql(scope, column, item, as)));
  if (operator === 'notIn')
    return not(or(listOf(value).map((item) => equalSql(scope, column, item, as))));
  if (value === null) return sql`${column} is ${operator === 'eq' ? '' : 'not '}null`;
  return binary(scope, column, operator, constant(value, as), as.type === 'decimal');
}

const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : [value]);

const constant = (value: unknown, as: Stored) =>
  valueSql(as, (part) => ({ from: 'value', value, as: part }));

export const callerSql = (as: Stored) => valueSql(as, (part) => ({ from: 'caller', as: part }));

const equalSql = (scope: Scope, column: Sql, item: unknown, as: Stored): Sql =>
  item === null
    ? sql`${column} is null`
    : binary(scope, column, 'eq', constant(item, as), as.type === 'decimal');

function claimSql(
  scope: Scope,
  column: Sql,
  operator: FilterOperator,
  { claim }: { readonly claim: string },
  as: Stored,
): Sql {
  const isList = Array.isArray(claimOf(scope.rules.claims, claim));
  const parameter: Parameter = { from: 'claim', claim, as: { ...as, many: isList } };
  if (!isList) {
    const one = operator === 'in' ? 'eq' : operator === 'notIn' ? 'ne' : operator;
    return binary(scope, column, one, sql`${parameter}`, as.type === 'decimal');
  }
  const listed =
    scope.dialect === 'sqlite'
      ? sql`${column} in (select value from json_each(${parameter}))`
      : sql`${column} = any(${parameter})`;
  return operator === 'ne' || operator === 'notIn' ? not(listed) : listed;
}
