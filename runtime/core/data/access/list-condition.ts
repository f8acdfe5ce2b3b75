import type { Condition, Field } from '@twofold/schema';
import { isAnswerable, usesCaller } from './claims.ts';
import { conditionsSql } from './condition-sql.ts';
import { sql, type Sql } from '../sql/fragment.ts';
import { reference, type Scope } from '../sql/scope.ts';

/**
 * The condition that `@list(where:)`, `@count` or `@exists` states for a row. If it compares with
 * the caller or a claim and there is none, no row meets it.
 */
export function statedCondition(
  scope: Scope,
  entity: string,
  condition: Condition,
  alias: string,
): Sql {
  const { model, rules } = scope;
  const stated = { entity, condition };
  const caller = rules.signedIn === false ? null : 0;
  if (!isAnswerable(model, stated, { caller, claims: rules.claims })) return sql`false`;
  const of = model.entity(entity);
  const met = conditionsSql(scope, entity, [[condition]], (column) => reference(of, alias, column));
  if (rules.signedIn !== null || !usesCaller(model, stated)) return met;
  return sql`cast(${{ from: 'caller', as: { type: 'text' } }} as text) is not null and (${met})`;
}

/** The condition of the relation's `@list(where:)`; undefined when the list shows all rows. */
export function shownBy(scope: Scope, { source }: Field, alias: string): Sql | undefined {
  const condition = source.kind === 'many' ? source.list.condition : undefined;
  return condition && source.kind === 'many'
    ? statedCondition(scope, source.entity, condition, alias)
    : undefined;
}
