import type { One } from '@twofold/schema';
import { conditionsSql, rowCondition } from './condition-sql.ts';
import { sql, type Sql } from './fragment.ts';
import { found, keyType, type EntityModel } from './model.ts';
import { and, bare, ofType, reference, tableName, type Scope } from './scope.ts';

/** A table of a query. */
export interface Place {
  readonly entity: EntityModel;
  readonly alias: string;
}

/** The rows that an order looks at beside the ordered ones, each joined once. */
export interface OrderJoins {
  /** ` left join …`, in the order in which they are needed. */
  readonly sql: Sql[];
  readonly places: Map<string, Place>;
}

export const orderJoins = (): OrderJoins => ({ sql: [], places: new Map() });

/**
 * The row that a path of to-one relations leads to. A row that the caller may not see is not there.
 */
export function joinedRow(
  scope: Scope,
  joins: OrderJoins,
  from: Place,
  path: readonly string[],
): Place {
  return path.reduce((at, step, index) => {
    const key = path.slice(0, index + 1).join('.');
    const place = joins.places.get(key) ?? join(scope, joins, at, step);
    joins.places.set(key, place);
    return place;
  }, from);
}

function join(scope: Scope, joins: OrderJoins, from: Place, step: string): Place {
  const field = found(from.entity.fields.get(step), `field ${step}`);
  const source = field.source as One;
  const entity = scope.model.entity(source.entity);
  const place = { entity, alias: scope.alias() };
  const access = scope.rules.field(from.entity.entity, field, 'READ');
  const readable =
    access.kind === 'rows'
      ? conditionsSql(scope, from.entity.entity.name, access.conditions, (column) =>
          reference(from.entity, from.alias, column),
        )
      : undefined;
  const condition = and([readable, linkCondition(scope, source, place, from)]) ?? sql`true`;
  joins.sql.push(
    sql` left join ${tableName(entity.entity, scope.dialect)} ${place.alias} on ${condition}`,
  );
  return place;
}

function linkCondition(scope: Scope, source: One, place: Place, from: Place): Sql | undefined {
  if (source.key === 'own' || place.entity.columns.get(source.column)?.unique)
    return linked(scope, source, place, from);
  // Nothing makes sure that only one row refers to this one, and a join must not repeat rows.
  const other = { entity: place.entity, alias: scope.alias() };
  const key = (at: Place) => reference(at.entity, at.alias, 'id');
  const rows = sql`from ${tableName(place.entity.entity, scope.dialect)} ${other.alias} where ${linked(scope, source, other, from)}`;
  return sql`${key(place)} = (select ${bare(key(other))} ${rows} limit 1)`;
}

function linked(scope: Scope, source: One, { entity, alias }: Place, from: Place): Sql {
  const { key, column, to = 'id' } = source;
  const theirs = (name: string) => reference(entity, alias, name);
  const own = (name: string) => reference(from.entity, from.alias, name);
  const link =
    key === 'own' ? sql`${theirs(to)} = ${own(column)}` : sql`${theirs(column)} = ${own(to)}`;
  const access = scope.rules.entity(entity.entity, 'READ');
  return (
    and([
      link,
      ofType(keyType(source, from.entity.entity.name), entity, alias),
      rowCondition(scope, entity.entity, access, alias),
    ]) ?? link
  );
}
