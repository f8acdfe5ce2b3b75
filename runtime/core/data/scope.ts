import type { Entity } from '@twofold/schema';
import type { Dialect } from '../store/store.ts';
import { refusal, type Access, type Rules } from './access.ts';
import { joinSql, literal, name, sql, type Parameter, type Part, type Sql } from './fragment.ts';
import { jsonOf, type Json } from './json.ts';
import type { EntityModel, Model } from './model.ts';
import type { Call, KeyType } from './plan.ts';
import { organizationsWith, type RowCondition, type RowConditions } from './row-condition.ts';
import { storedAs, type Stored } from './values.ts';

/**
 * Names that no field can have: the type of an object, and the row that user code gets as its
 * parent.
 */
export const TYPE_KEY = '$';
export const ROW_KEY = '$row';

/** What every part needs when a statement is written. */
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
  /** A table alias that nothing else uses. */
  alias(): string;
  /** Counts the relations in its conditions. @returns the count, including this one */
  relation(): number;
  /** Notes that the statement may take long, see `ReadStatement`. */
  watch(): void;
  readonly long: boolean;
}

export function createScope(
  options: Omit<Scope, 'json' | 'alias' | 'relation' | 'watch' | 'long'>,
): Scope {
  let aliases = 0;
  let relations = 0;
  let long = false;
  return {
    ...options,
    json: jsonOf[options.dialect],
    alias: () => `t${++aliases}`,
    relation: () => ++relations,
    watch: () => {
      long = true;
    },
    get long() {
      return long;
    },
  };
}

/** `t1."author_id"` */
export const reference = (alias: string, column: string): string => `${alias}.${name(column)}`;

/**
 * How values of `column` are stored. A key of an entity with global ids includes the entity's name.
 */
export function stored(
  model: Model,
  { entity, global, columns }: EntityModel,
  column: string,
): Stored {
  const found = columns.get(column);
  if (!found || column === 'id') return { type: 'id', ...(global && { global: entity.name }) };
  const target = found.references && model.entities.get(found.references.entity);
  return storedAs(found, target?.global ? target.entity.name : undefined);
}

/** A value in the arguments of node `call`. */
export const parameter = (
  call: number,
  path: readonly (string | number)[],
  as: Stored,
): Parameter => ({
  from: 'call',
  call,
  path,
  as,
});

/** Which rows the caller may see or change, before any filter; undefined when all. */
export function rowCondition(
  scope: Scope,
  entity: Entity,
  access: Access,
  alias: string,
): Sql | undefined {
  const live = entity.softDelete ? sql`${reference(alias, entity.softDelete)} is null` : undefined;
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
  return conditionsSql(scope, entity, access.conditions, (column) => reference(alias, column));
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

/** @param entity absent when the row is of a table that is no entity's. */
function conditionSql(
  scope: Scope,
  entity: string | undefined,
  condition: RowCondition,
  ref: (column: string) => Part,
): Sql {
  const { column } = condition;
  const as: Stored =
    entity === undefined ? KEY : stored(scope.model, scope.model.entity(entity), column);
  switch (condition.kind) {
    case 'caller':
      return sql`${ref(column)} = ${{ from: 'caller', as }}`;
    case 'organization':
      return organizationSql(scope, ref(column), condition.roles, as);
    case 'membership': {
      const { table, user, organization, roles } = condition;
      const named = roles.length === 0 ? '' : ` and role in (${roles.map(literal).join(', ')})`;
      return sql`${ref(column)} in (select ${name(organization)} from ${name(table)} where ${name(user)} = ${{ from: 'caller', as: KEY }}${named})`;
    }
    case 'within': {
      const alias = scope.alias();
      const inner = conditionSql(scope, condition.entity, condition.condition, (of) =>
        reference(alias, of),
      );
      return sql`${ref(column)} in (select ${reference(alias, condition.select)} from ${name(condition.table)} ${alias} where ${inner})`;
    }
  }
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
 * A column as the caller sees it. The key of a row that they may not see is null, as the relation
 * is in the answer, so that a comparison with it reveals nothing.
 *
 * @throws AppError when the caller may see no row of the other entity.
 */
export function seenColumn(
  scope: Scope,
  { columns }: EntityModel,
  column: string,
  alias: string,
): Sql {
  const own = reference(alias, column);
  const references = columns.get(column)?.references;
  const target = references && scope.model.entities.get(references.entity);
  return target ? seenKey(scope, target, own) : sql`${own}`;
}

/**
 * The key of a row of `entity`, or null when the caller may not see that row.
 *
 * @throws AppError when they may see no row.
 */
export function seenKey(scope: Scope, { entity }: EntityModel, key: string): Sql {
  const access = scope.rules.entity(entity, 'READ');
  if (access.kind === 'all') return sql`${key}`;
  if (access.kind === 'none') throw refusal(access.code);
  const other = scope.alias();
  const condition = and([
    sql`${reference(other, 'id')} = ${key}`,
    accessCondition(scope, entity.name, access, other),
  ]);
  return sql`(select ${reference(other, 'id')} from ${name(entity.table)} ${other}${where(condition)})`;
}

/** The marker object: the caller may not see the value, or a required value is missing. */
export function marked(scope: Scope, what: 'FORBIDDEN' | 'UNAUTHENTICATED' | 'MISSING'): Sql {
  return scope.json.constant(`{"${scope.marker}":"${what}"}`);
}

/** The condition that a key which may refer to several types refers to ours. */
export const ofType = (of: KeyType | undefined, alias: string): Sql | undefined =>
  of && sql`${reference(alias, of.column)} = ${literal(of.type)}`;

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
