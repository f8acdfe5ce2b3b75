import type { EntityModel } from '../model.ts';
import { abstractJson } from './abstract.ts';
import { tallyJson } from '../filter/tally.ts';
import { aggregateJson } from '../figures/aggregated.ts';
import { connectionJson } from './connection.ts';
import { joinSql, literal, sql, type Sql } from '../sql/fragment.ts';
import { groupsJson } from '../figures/groups.ts';
import type { Pair } from '../sql/json.ts';
import { propertyOf } from '../model.ts';
import type { Aggregated, Planned, Selection } from '../plan.ts';
import { rowsJson } from '../rows/rows.ts';
import { conditionsSql, rowCondition } from '../access/condition-sql.ts';
import {
  keyColumns,
  tableName,
  and,
  marked,
  ofType,
  reference,
  ROW_KEY,
  TYPE_KEY,
  where,
  type Scope,
} from '../sql/scope.ts';
import { stored } from '../sql/stored-as.ts';
import { highlightJson, rankJson } from '../search/search.ts';
import { tableSource, type Source } from '../sql/source.ts';

/** One object of the answer. */
export function objectJson(scope: Scope, selection: Selection, source: Source): Sql {
  const pairs: Pair[] =
    scope.tree || scope.pages === 'longer'
      ? [{ key: TYPE_KEY, value: sql`${literal(selection.entity)}` }]
      : [];
  for (const field of selection.fields)
    pairs.push({ key: field.key, value: guarded(scope, selection.entity, field, source) });
  if (selection.row) pairs.push({ key: ROW_KEY, value: rowJson(scope, selection.entity, source) });
  return scope.json.object(pairs);
}

/**
 * A field that the caller may read only in some rows. In the other rows the answer has a marker in
 * its place.
 */
function guarded(scope: Scope, entity: string, field: Planned, source: Source): Sql {
  const value = fieldJson(scope, entity, field, source);
  if (!('only' in field) || !field.only) return value;
  return sql`case when ${conditionsSql(scope, entity, field.only, (column) => source.ref(column))} then ${scope.json.any(value)} else ${marked(scope, 'FORBIDDEN')} end`;
}

/** The whole row as user code sees it: names of fields, and ids in the form of the API. */
function rowJson(scope: Scope, entityName: string, source: Source): Sql {
  const entity = scope.model.entity(entityName);
  return scope.json.object(
    entity.entity.columns.flatMap((column) => {
      if (column.parts) return column.name === 'id' ? keyPair(scope, entity, source) : [];
      const value = scope.json.column(source.ref(column.name), column);
      return [{ key: propertyOf(entity, column), value }];
    }),
  );
}

/** The value of one field of `entity`. */
export function fieldJson(scope: Scope, entity: string, field: Planned, source: Source): Sql {
  const write = (selection: Selection, from: Source) => objectJson(scope, selection, from);
  switch (field.kind) {
    case 'column':
      return columnJson(scope, entity, field.column, source);
    case 'typename':
      return sql`${literal(field.value)}`;
    case 'refused':
      return marked(scope, field.code);
    case 'one':
      return oneJson(scope, field, source);
    case 'tally':
      return tallyJson(scope, entity, field, source);
    case 'rank':
      return rankJson(scope, field.call, (column) => source.ref(column));
    case 'highlight':
      return highlightJson(scope, scope.model.entity(entity), {
        call: field.call,
        text: source.ref(field.column),
      });
    case 'many':
      return rowsJson(scope, field, write, source);
    case 'aggregated':
      return aggregatedJson(scope, field, source);
    case 'connection':
      return connectionJson(scope, field, write, source);
    case 'abstract':
      return abstractJson(scope, field, write, source);
  }
}

/** Numbers over rows, or a list of them for groups of rows. */
export function aggregatedJson(scope: Scope, field: Aggregated, source?: Source): Sql {
  const write = (planned: Planned, from: Source) => fieldJson(scope, field.entity, planned, from);
  return field.grouped
    ? groupsJson(scope, field, write, source)
    : aggregateJson(scope, field, source);
}

/** The value of a column as the answer shows it. */
export function columnJson(scope: Scope, entityName: string, column: string, source: Source): Sql {
  const entity = scope.model.entity(entityName);
  const found = entity.column(column);
  const { global, parts } = stored(scope.model, entity, column);
  return found.parts
    ? keyJson(scope, entity, source, { column, prefix: parts?.[0]?.global ?? global })
    : scope.json.column(source.ref(column), found, global);
}

/** The text of a composite key; null when a part of the reference is null. */
function keyJson(
  scope: Scope,
  entity: EntityModel,
  source: Source,
  { column, prefix }: { readonly column: string; readonly prefix?: string | undefined },
): Sql {
  return scope.json.key(keyColumns(entity, entity.partsOf(column), source.ref), prefix);
}

const keyPair = (scope: Scope, entity: EntityModel, source: Source): Pair[] => [
  { key: 'id', value: keyJson(scope, entity, source, { column: 'id' }) },
];

/** SQLite joins at most 64 tables. */
const JOINS = 50;

function oneJson(scope: Scope, field: Extract<Planned, { kind: 'one' }>, source: Source): Sql {
  const model = scope.model.entity(field.selection.entity);
  const { entity } = model;
  const access = scope.rules.entity(entity, 'READ');
  const alias = scope.alias();
  const { key, column, to = 'id', of } = field.link;
  const link =
    key === 'own'
      ? sql`${reference(model, alias, to)} = ${source.ref(column)}`
      : sql`${reference(model, alias, column)} = ${source.ref(to)}`;
  const condition =
    and([link, ofType(of, model, alias), rowCondition(scope, entity, access, alias)]) ?? link;
  const absent = field.required
    ? marked(scope, access.kind === 'all' ? 'MISSING' : 'FORBIDDEN')
    : undefined;
  if (source.joins && source.joins.length < JOINS && key === 'own') {
    source.joins.push(sql` left join ${tableName(entity, scope.dialect)} ${alias} on ${condition}`);
    const object = objectJson(
      scope,
      field.selection,
      tableSource(scope, model, alias, source.joins),
    );
    const there = reference(model, alias, model.partsOf(to)[0]!);
    return sql`case when ${there} is not null then ${object}${absent ? sql` else ${absent}` : ''} end`;
  }
  const joins: Sql[] = [];
  const object = objectJson(scope, field.selection, tableSource(scope, model, alias, joins));
  const query = sql`(select ${object} from ${tableName(entity, scope.dialect)} ${alias}${joinSql(joins, '')}${where(condition)} limit 1)`;
  return absent ? sql`coalesce(${query}, ${absent})` : query;
}
