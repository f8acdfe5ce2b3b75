import { linkCondition } from '../sql/link-condition.ts';
import type { Field, Filter } from '@twofold/schema';
import { failure } from '../../errors.ts';
import { refusal } from '../access/access.ts';
import { not } from '../words/comparison.ts';
import type { Compared } from '../words/compared.ts';
import { accessCondition, rowCondition } from '../access/condition-sql.ts';
import { sql, type Sql } from '../sql/fragment.ts';
import { shownBy } from '../access/list-condition.ts';
import { watched } from '../long.ts';
import { found, keyType, type EntityModel } from '../model.ts';
import { tableName, and, ofType, reference, where, type Scope } from '../sql/scope.ts';
import { itemsOf, logicalSql, wordsCondition, type LogicalWord } from './words-condition.ts';

/** The path of a `where` input in the arguments, and what it filters. */
export interface FilterSite {
  readonly entity: EntityModel;
  readonly alias: string;
  readonly call: number;
  readonly path: readonly (string | number)[];
}

export type RelatedFilter = Extract<Filter, { kind: 'one' | 'many' }>;

type Condition = (scope: Scope, shapeId: string, value: unknown, site: FilterSite) => Sql;

/**
 * The condition that related rows meet a filter. It does not see rows that the caller may not see.
 *
 * @param condition the condition of a filter on one related row.
 */
export function relatedCondition(
  scope: Scope,
  filter: RelatedFilter,
  value: unknown,
  site: FilterSite,
  condition: Condition,
): Sql | undefined {
  const relation = relationOf(scope, filter, site);
  const following: Following = { scope, relation, condition, site };
  return filter.kind === 'one'
    ? ofOne(following, filter, value, site.path)
    : value === null
      ? undefined
      : ofMany(following, filter, value, site.path);
}

/** A relation that a filter follows from one row. */
interface Following {
  readonly scope: Scope;
  readonly relation: Relation;
  readonly condition: Condition;
  readonly site: FilterSite;
}

/** A relation, which has no rows where the caller may not read its field. */
interface Relation {
  readonly field: Field;
  readonly readable: Sql | undefined;
}

function relationOf(scope: Scope, filter: RelatedFilter, { entity, alias }: FilterSite): Relation {
  const { name } = entity.entity;
  const field = found(entity.fields.get(filter.field), `field ${name}.${filter.field}`);
  const access = scope.rules.field(entity.entity, field, 'READ');
  if (access.kind === 'none') throw refusal(access.code);
  return { field, readable: accessCondition(scope, name, access, alias) };
}

type Path = FilterSite['path'];

type Inner = (alias: string, entity: EntityModel) => Sql;

function nested({ scope, condition, site }: Following, shape: string, value: unknown, path: Path) {
  const inner: Inner = (alias, entity) =>
    condition(scope, shape, value, { ...site, path, alias, entity });
  return inner;
}

/** Filters by the row of a to-one relation. `null` and `isNull: true` mean that there is no row. */
function ofOne(following: Following, filter: RelatedFilter, value: unknown, path: Path): Sql {
  const { scope, relation, site } = following;
  if (value === null) return not(exists(scope, relation, undefined, site));
  const parts = asksWhether(value) ? logicalApart(value as Input) : [['', value] as const];
  const conditions = parts.map(([word, part]) => {
    if (word === '')
      return exists(scope, relation, nested(following, filter.shape, part, path), site);
    if (word === 'isNull') {
      const there = exists(scope, relation, undefined, site);
      return part === true ? not(there) : there;
    }
    const inner = itemsOf(part, [...path, word]).map(([item, at]) =>
      ofOne(following, filter, item, at),
    );
    return logicalSql(word, inner);
  });
  return and(conditions) ?? sql`true`;
}

type Input = Readonly<Record<string, unknown>>;

/**
 * Whether the input asks whether there is a related row. Conditions on the row itself cannot say
 * that, because they need a row.
 */
function asksWhether(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false;
  if (Array.isArray(value)) return value.some(asksWhether);
  const { isNull, and: all, or: any, not: none } = value as Input;
  return (isNull !== undefined && isNull !== null) || [all, any, none].some(asksWhether);
}

type Part = readonly ['' | 'isNull' | LogicalWord, unknown];

/** Splits an input: `and`, `or`, `not` and `isNull` apart from its conditions on the row. */
function logicalApart({ isNull, and: all, or: any, not: none, ...rest }: Input): Part[] {
  const parts: Part[] = [
    ['isNull', isNull],
    ['and', all],
    ['or', any],
    ['not', none],
  ];
  const given = parts.filter(([, value]) => value !== undefined && value !== null);
  const isPlain = Object.values(rest).some((value) => value !== undefined);
  return isPlain ? [['', rest], ...given] : given;
}

function ofMany(
  following: Following,
  filter: Extract<Filter, { kind: 'many' }>,
  value: unknown,
  path: Path,
): Sql | undefined {
  const { scope, relation, site } = following;
  const input = value as Input;
  const given = (word: string) => input[word] !== undefined && input[word] !== null;
  const quantified = filter.quantifiers.filter(given).map((quantifier) => {
    const inner = nested(following, filter.shape, input[quantifier], [...path, quantifier]);
    return quantifiedSql(following, quantifier, inner);
  });
  const joined = (filter.groups ?? []).filter(given).map((word) =>
    logicalSql(
      word,
      itemsOf(input[word], [...path, word]).map(
        ([item, at]) => ofMany(following, filter, item, at) ?? sql`true`,
      ),
    ),
  );
  const counted =
    filter.count && given('count')
      ? wordsCondition(scope, counting(scope, relation, site), filter.count, input['count'], {
          call: site.call,
          path: [...path, 'count'],
        })
      : undefined;
  return and([...quantified, ...joined, counted]);
}

function quantifiedSql(
  { scope, relation, site }: Following,
  quantifier: 'some' | 'every' | 'none',
  inner: Inner,
): Sql {
  if (quantifier === 'some') return exists(scope, relation, inner, site);
  const counter: Inner =
    quantifier === 'every' ? (alias, entity) => not(inner(alias, entity)) : inner;
  const any = exists(scope, relation, counter, site);
  return relation.readable ? not(any) : sql`not ${any}`;
}

/** The number of related rows that the caller may see. */
function counting(scope: Scope, relation: Relation, site: FilterSite): Compared {
  const rows = relatedRows(scope, relation.field, undefined, site);
  const count = sql`(select count(*) ${rows})`;
  const { readable } = relation;
  return {
    form: 'scalar',
    value: readable ? sql`(case when ${readable} then ${count} else 0 end)` : count,
    as: { type: 'integer' },
    nothing: () => sql`false`,
  };
}

function exists(
  scope: Scope,
  { field, readable }: Relation,
  inner: Inner | undefined,
  site: FilterSite,
): Sql {
  const rows = sql`exists (select 1 ${relatedRows(scope, field, inner, site)})`;
  const there =
    scope.relation() > MAX_JOINED_CONDITIONS && scope.dialect === 'postgres'
      ? sql`(${rows} is true)`
      : rows;
  return and([readable, there]) ?? there;
}

/** ` from … where …` of the related rows that the caller may see. */
function relatedRows(
  scope: Scope,
  field: Field,
  inner: Inner | undefined,
  { alias: outer, entity: parent }: FilterSite,
): Sql {
  const { source } = field;
  if (source.kind !== 'one' && source.kind !== 'many')
    throw failure.invalid(`${field.name} cannot be filtered by`);
  const entity = scope.model.entity(source.entity);
  const access = scope.rules.entity(entity.entity, 'READ');
  if (access.kind === 'none') throw refusal(access.code);
  const alias = scope.alias();
  const condition = and([
    watched(scope, entity, alias),
    linkCondition(scope, field, { entity, alias }, (column) => reference(parent, outer, column)),
    ofType(keyType(source, parent.entity.name), entity, alias),
    rowCondition(scope, entity.entity, access, alias),
    shownBy(scope, field, alias),
    inner?.(alias, entity),
  ]);
  return sql`from ${tableName(entity.entity, scope.dialect)} ${alias}${where(condition)}`;
}

/**
 * PostgreSQL turns `exists` conditions into joins and plans all their orders: twenty take half a
 * second, sixty take minutes. It does not do so for a condition that is compared with `true`.
 */
const MAX_JOINED_CONDITIONS = 4;
