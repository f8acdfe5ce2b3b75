import { FigureColumns, type Figures } from './figure-columns.ts';
import { shownCount, shownSql } from './figures.ts';
import { joinSql, literal, sql, type Sql } from '../sql/fragment.ts';
import type { Pair } from '../sql/json.ts';
import { type Listed, watched } from '../long.ts';
import type { EntityModel } from '../model.ts';
import type { Aggregated, AggregatePart, Figure, FigurePart } from '../plan.ts';
import { listCondition } from '../rows/rows.ts';
import { and, marked, tableName, TYPE_KEY, where, type Scope } from '../sql/scope.ts';
import { searchCondition } from '../search/search.ts';
import type { Source } from '../sql/source.ts';

/** Numbers over all rows that the filter lets through, as one JSON object. */
export function aggregateJson(
  scope: Scope,
  listed: Listed & Pick<Aggregated, 'type' | 'fields'>,
  parent?: Source,
): Sql {
  const [alias, outer] = [scope.alias(), scope.alias()];
  const entity = scope.model.entity(listed.entity);
  const columns = new FigureColumns(scope, { entity, alias });
  const object = figuresJson(scope, entity, listed, columns.at(outer));
  const selected = columns.selected();
  // Only `__typename` is selected, so no row is read.
  if (selected.length === 0) return object;
  const rows = rowsSql(scope, listed, alias, parent);
  return sql`(select ${object} from (select ${joinSql(selected, ', ')} from ${rows}) ${outer})`;
}

/** `posts t1 where …`: the rows that are counted. */
export function rowsSql(
  scope: Scope,
  listed: Listed & Pick<Aggregated, 'fields'>,
  alias: string,
  parent?: Source,
): Sql {
  const entity = scope.model.entity(listed.entity);
  const rows = and([
    searchCondition(scope, entity, listed.call, alias),
    listCondition(scope, listed, alias, parent),
  ]);
  const step = watched(scope, entity, alias);
  // A plain count of all rows is fast, see `countJson`, and needs no time limit.
  const bare = !rows && listed.fields.every(({ kind }) => kind === 'count' || kind === 'typename');
  const condition = bare ? undefined : and([step, rows]);
  return sql`${tableName(entity.entity, scope.dialect)} ${alias}${where(condition)}`;
}

/** The members of an aggregate, or of one group. */
export function figuresJson(
  scope: Scope,
  entity: EntityModel,
  { type, fields }: Pick<Aggregated, 'type' | 'fields'>,
  figures: Figures,
): Sql {
  return objectOf(
    scope,
    type,
    fields.map((part) => ({ key: part.key, value: partJson(scope, entity, part, figures) })),
  );
}

const objectOf = (scope: Scope, type: string, pairs: readonly Pair[]): Sql =>
  scope.json.object([
    ...(scope.tree ? [{ key: TYPE_KEY, value: sql`${literal(type)}` }] : []),
    ...pairs,
  ]);

function partJson(scope: Scope, entity: EntityModel, part: AggregatePart, figures: Figures): Sql {
  switch (part.kind) {
    case 'typename':
      return sql`${literal(part.value)}`;
    case 'count':
      return shownCount(scope, figures.count(), part);
    case 'figures':
      return objectOf(
        scope,
        part.type,
        part.fields.map((field) => ({
          key: field.key,
          value: figureJson(scope, entity, part.of, field, figures),
        })),
      );
    case 'groupKey':
      return objectOf(
        scope,
        part.type,
        part.fields.map((field) => ({
          key: field.planned.key,
          value: figures.key?.(field) ?? sql`null`,
        })),
      );
  }
}

function figureJson(
  scope: Scope,
  entity: EntityModel,
  of: Figure,
  part: FigurePart,
  figures: Figures,
): Sql {
  if (part.kind === 'typename') return sql`${literal(part.value)}`;
  if (part.kind === 'refused') return marked(scope, part.code);
  const figure = figures.figure(of, part.column, part.as);
  return of === 'countDistinct'
    ? shownCount(scope, figure.sql, part)
    : shownSql(scope, figure, part, entity.column(part.column));
}
