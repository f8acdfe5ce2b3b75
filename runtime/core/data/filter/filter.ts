import { isNothing, seenColumn, accessCondition } from '../access/condition-sql.ts';
import type { Filter } from '@twofold/schema';
import { not } from '../words/comparison.ts';
import { columnCompared, memberCompared, memberType, type Compared } from '../words/compared.ts';
import { relatedCondition, type FilterSite, type RelatedFilter } from './filter-relations.ts';
import { sql, type Sql } from '../sql/fragment.ts';
import { found } from '../model.ts';
import { assertReadable } from '../access/readable.ts';
import { and, type Scope, reference } from '../sql/scope.ts';
import { wordSql } from '../words/words.ts';
import {
  givenAt,
  itemsOf,
  logicalSql,
  wordsCondition,
  type LogicalWord,
} from './words-condition.ts';
import { failure } from '../../errors.ts';
import { refusal } from '../access/access.ts';
import { tallySql } from './tally.ts';

/** The row or the JSON object that a filter is about. */
interface Site {
  readonly call: number;
  readonly path: readonly (string | number)[];
  /** @throws AppError `FORBIDDEN` when the caller may not read it. */
  member(column: string): Compared;
  /** The JSON object in a column, or the object that is a member of another object. */
  object(column: string): Holder;
  related(filter: RelatedFilter, value: unknown, path: Site['path']): Sql | undefined;
  tally(filter: TallyFilter, value: unknown, path: Site['path']): Sql | undefined;
  /** The condition that the row or object does not exist. */
  nothing(): Sql;
}

type TallyFilter = Extract<Filter, { kind: 'tally' }>;

/**
 * The condition of a `where` input. Conditions are true or false, never null: a comparison with a
 * missing value is false, and its `not` is true.
 *
 * @throws AppError `FORBIDDEN` when it names a field that the caller may not read.
 */
export function filterCondition(
  scope: Scope,
  shapeId: string,
  value: unknown,
  site: FilterSite,
): Sql {
  return shapeCondition(scope, shapeId, value, rowSite(scope, site));
}

/** A row of a table. */
function rowSite(scope: Scope, { entity, alias, call, path }: FilterSite): Site {
  const column = (name: string) => {
    assertReadable(scope.rules, entity, name);
    return columnCompared(scope, entity, name, {
      value: seenColumn(scope, entity, name, alias),
      nothing: () => isNothing(scope, entity, name, alias),
    });
  };
  return {
    call,
    path,
    member: column,
    object: (name) => {
      const { value, nothing } = column(name);
      return { value, nothing, keys: [], type: found(entity.columns.get(name), name).scalar };
    },
    related: (filter, given, at) =>
      relatedCondition(scope, filter, given, { entity, alias, call, path: at }, filterCondition),
    tally: (filter, given, at) =>
      tallyCondition(scope, filter, given, { entity, alias, call, path: at }),
    nothing: () => sql`false`,
  };
}

/** A JSON object: the column that holds it, and the way to it there. */
interface Holder extends Pick<Compared, 'value' | 'nothing'> {
  readonly keys: readonly string[];
  readonly type: string;
}

function objectSite(scope: Scope, { value, nothing, keys, type }: Holder, site: Site): Site {
  const member = (name: string) =>
    memberCompared(scope, value, [...keys, name], memberType(scope.model, type, name));
  return {
    ...site,
    member,
    nothing,
    object: (name) => ({
      value,
      nothing: member(name).nothing,
      keys: [...keys, name],
      type: found(memberType(scope.model, type, name).object, `object ${type}.${name}`),
    }),
    related: () => undefined,
    tally: () => undefined,
  };
}

function shapeCondition(scope: Scope, shapeId: string, value: unknown, site: Site): Sql {
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
    case 'not':
      return value === null
        ? undefined
        : logicalCondition(scope, filter.kind, shapeId, value, site);
    case 'isNull':
      return value === null ? undefined : value === true ? site.nothing() : not(site.nothing());
    case 'equals':
      return wordSql(scope, site.member(filter.column), 'eq', givenAt(site, value));
    case 'operators':
      return wordsCondition(scope, site.member(filter.column), filter.operators, value, site);
    case 'object':
      return objectCondition(scope, filter, value, site);
    case 'tally':
      return site.tally(filter, value, site.path);
    case 'one':
    case 'many':
      return site.related(filter, value, site.path);
  }
}

function objectCondition(
  scope: Scope,
  { column, shape }: Extract<Filter, { kind: 'object' }>,
  value: unknown,
  site: Site,
): Sql {
  const holder = site.object(column);
  if (value === null) return holder.nothing();
  return shapeCondition(scope, shape, value, objectSite(scope, holder, site));
}

function logicalCondition(
  scope: Scope,
  word: LogicalWord,
  shapeId: string,
  value: unknown,
  site: Site,
): Sql {
  const conditions = itemsOf(value, site.path).map(([item, path]) =>
    shapeCondition(scope, shapeId, item, { ...site, path }),
  );
  return logicalSql(word, conditions);
}

/**
 * Compares a field with `@count` or `@exists`. In rows where the caller may not read it, it has no
 * value.
 *
 * @throws AppError when they may read it in no row.
 */
function tallyCondition(
  scope: Scope,
  { field: name, operators = [] }: Extract<Filter, { kind: 'tally' }>,
  value: unknown,
  site: FilterSite,
): Sql | undefined {
  const { entity, alias } = site;
  const ref = (column: string) => reference(entity, alias, column);
  const field = found(entity.fields.get(name), `field ${name}`);
  const { source } = field;
  if (source.kind !== 'tally') throw failure.invalid(`${name} cannot be filtered by`);
  const relation = found(entity.fields.get(source.relation), `field ${source.relation}`);
  const access = scope.rules.field(entity.entity, field, 'READ');
  if (access.kind === 'none') throw refusal(access.code);
  const readable = accessCondition(scope, entity.entity.name, access, alias);
  const number = tallySql(scope, entity.entity.name, { tally: source, relation }, { ref });
  const compared: Compared = {
    form: 'scalar',
    as: { type: source.of === 'count' ? 'integer' : 'boolean' },
    value: readable ? sql`(case when ${readable} then ${number} end)` : number,
    nothing: () => (readable ? not(readable) : sql`false`),
  };
  return operators.length === 0
    ? wordSql(scope, compared, 'eq', givenAt(site, value))
    : wordsCondition(scope, compared, operators, value, { call: site.call, path: site.path });
}
