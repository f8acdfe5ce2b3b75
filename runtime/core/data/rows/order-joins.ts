import type { Field, One } from '@twofold/schema';
import { accessCondition, rowCondition } from '../access/condition-sql.ts';
import { sql, type Sql } from '../sql/fragment.ts';
import { linkCondition, type TableAlias } from '../sql/link-condition.ts';
import { found, keyType } from '../model.ts';
import { and, bare, ofType, reference, tableName, type Scope } from '../sql/scope.ts';

/** The related rows by which an order sorts, each joined once. */
export interface OrderJoins {
  /** ` left join …`, in the order in which they are needed. */
  readonly sql: Sql[];
  readonly places: Map<string, TableAlias>;
}

export const orderJoins = (): OrderJoins => ({ sql: [], places: new Map() });

/**
 * The row at the end of a path of to-one relations. A row that the caller may not see counts as
 * missing.
 */
export function joinedRow(
  scope: Scope,
  joins: OrderJoins,
  from: TableAlias,
  path: readonly string[],
): TableAlias {
  return path.reduce((at, step, index) => {
    const key = path.slice(0, index + 1).join('.');
    const place = joins.places.get(key) ?? join(scope, joins, at, step);
    joins.places.set(key, place);
    return place;
  }, from);
}

function join(scope: Scope, joins: OrderJoins, from: TableAlias, step: string): TableAlias {
  const field = found(from.entity.fields.get(step), `field ${step}`);
  const source = field.source as One;
  const entity = scope.model.entity(source.entity);
  const place = { entity, alias: scope.alias() };
  const access = scope.rules.field(from.entity.entity, field, 'READ');
  const readable = accessCondition(scope, from.entity.entity.name, access, from.alias);
  const condition =
    and([readable, joinCondition(scope, { field, source }, place, from)]) ?? sql`true`;
  joins.sql.push(
    sql` left join ${tableName(entity.entity, scope.dialect)} ${place.alias} on ${condition}`,
  );
  return place;
}

/** A field with a to-one relation. */
interface ToOne {
  readonly field: Field;
  readonly source: One;
}

function joinCondition(
  scope: Scope,
  { field, source }: ToOne,
  place: TableAlias,
  from: TableAlias,
): Sql {
  if (source.key === 'own' || place.entity.columns.get(source.column)?.unique)
    return linked(scope, field, place, from);
  // No unique key makes sure that only one row refers to this one. The subquery picks one, because
  // a join would repeat rows.
  const other = { entity: place.entity, alias: scope.alias() };
  const key = (at: TableAlias) => reference(at.entity, at.alias, 'id');
  const rows = sql`from ${tableName(place.entity.entity, scope.dialect)} ${other.alias} where ${linked(scope, field, other, from)}`;
  return sql`${key(place)} = (select ${bare(key(other))} ${rows} limit 1)`;
}

function linked(scope: Scope, field: Field, place: TableAlias, from: TableAlias): Sql {
  const { entity, alias } = place;
  const access = scope.rules.entity(entity.entity, 'READ');
  const own = (column: string) => reference(from.entity, from.alias, column);
  const link = linkCondition(scope, field, place, own);
  return (
    and([
      link,
      ofType(keyType(field.source, from.entity.entity.name), entity, alias),
      rowCondition(scope, entity.entity, access, alias),
    ]) ?? link
  );
}
