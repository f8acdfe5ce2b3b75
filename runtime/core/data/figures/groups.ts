import { isoTime } from '../sql/time-sql.ts';
import type { Column } from '@twofold/schema';
import { EXACT } from '../../store/sqlite/exact-numbers.ts';
import { figuresJson, rowsSql } from './aggregated.ts';
import { FigureColumns, type Figures } from './figure-columns.ts';
import { figureSeenWhen } from './figures.ts';
import { joinSql, sql, type Sql } from '../sql/fragment.ts';
import { havingSql } from './having.ts';
import type { EntityModel } from '../model.ts';
import type { Aggregated, GroupCall, GroupKey, GroupOrder, KeyPart, Planned } from '../plan.ts';
import { limit, ofPage } from '../rows/rows.ts';
import { marked, reference, where, type Scope } from '../sql/scope.ts';
import type { Source } from '../sql/source.ts';

/**
 * Writes a field of the key of a group. It is passed as a parameter, to avoid a cycle of imports.
 */
export type WriteField = (planned: Planned, source: Source) => Sql;

/**
 * Numbers over groups of rows as one JSON array. An inner query groups the rows and has a column
 * for each number that is shown, compared or ordered by; `having` is the `where` of the outer one.
 */
export function groupsJson(
  scope: Scope,
  groups: Aggregated,
  write: WriteField,
  parent?: Source,
): Sql {
  const entity = scope.model.entity(groups.entity);
  const call = scope.calls[groups.call]?.groups ?? { keys: [], order: [] };
  const rows = scope.alias();
  const [inner, outer] = [scope.alias(), scope.alias()];
  const query = new GroupQuery(scope, entity, call, rows);
  const shown = query.at(outer);
  const object = figuresJson(scope, entity, groups, {
    ...shown,
    key: (part) => keyJson(scope, query, part, { write, alias: outer }),
  });
  const condition = havingSql(scope, { entity, call: groups.call }, call.having, query.at(inner));
  const order = orderSql(scope, query, call, inner);
  const page = limit(scope, groups.call, scope.calls[groups.call]?.page, 0);
  const grouped = sql`select ${query.columns()} from ${rowsSql(scope, groups, rows, parent)} group by ${query.numbers()}`;
  const list = ofPage(scope, groups.call, scope.json.list(object));
  return sql`(select ${list} from (select * from (${grouped}) ${inner}${where(condition)}${order}${page}) ${outer})`;
}

/** A column of the inner query that rows are grouped by. */
interface Key extends GroupKey {
  readonly parts: readonly { readonly alias: string; readonly column: Column }[];
}

/** The columns of the query that groups the rows. */
class GroupQuery {
  readonly keys: readonly Key[];
  readonly #scope: Scope;
  readonly #rows: { readonly entity: EntityModel; readonly alias: string };
  readonly #figures: FigureColumns;

  constructor(scope: Scope, entity: EntityModel, { keys }: GroupCall, alias: string) {
    this.#scope = scope;
    this.#rows = { entity, alias };
    this.#figures = new FigureColumns(scope, this.#rows);
    let count = 0;
    this.keys = keys.map((key) => ({
      ...key,
      parts: entity
        .partsOf(key.column)
        .map((part) => ({ alias: `k${count++}`, column: entity.column(part) })),
    }));
  }

  /** The SQL of the numbers, when the query has the name `alias`. */
  at(alias: string): Figures {
    return this.#figures.at(alias);
  }

  typeOf(column: string): Column['type'] {
    return this.#rows.entity.column(column).type;
  }

  /** The columns of the query. Call it last: each use of a number adds one. */
  columns(): Sql {
    const keys = this.keys.flatMap((key) =>
      key.parts.map(({ alias, column }) => sql`${this.#keySql(key, column)} as ${alias}`),
    );
    return joinSql([...keys, ...this.#figures.selected()], ', ');
  }

  /** The keys as numbers for `group by`: the positions of their columns in the `select`. */
  numbers(): string {
    return this.keys
      .flatMap(({ parts }) => parts)
      .map((_, index) => String(index + 1))
      .join(', ');
  }

  #keySql({ column: name_, unit }: Key, column: Column): Sql {
    const { entity, alias } = this.#rows;
    const value = beginning(
      this.#scope,
      timeSql(sql`${reference(entity, alias, column.name)}`, column, unit),
      column,
      unit,
    );
    const visible = figureSeenWhen(this.#scope, this.#rows, name_);
    return visible ? sql`case when ${visible} then ${value} end` : value;
  }
}

/** The SQL of a time column. A table that another program made may store times in another form. */
const timeSql = (value: Sql, { timeForm, type }: Column, unit: GroupKey['unit']): Sql =>
  timeForm && unit ? isoTime(value, type === 'date' ? 'day' : 'time') : value;

/** The beginning of the hour, day, week, month or year in UTC; weeks begin on Monday. */
function beginning({ dialect }: Scope, value: Sql, { type }: Column, unit: GroupKey['unit']): Sql {
  if (dialect === 'postgres') {
    if (!unit) return type === 'decimal' ? sql`trim_scale(${value})` : value;
    return type === 'date'
      ? sql`date_trunc('${unit}', ${value}::timestamp)::date`
      : sql`date_trunc('${unit}', ${value}, 'UTC')`;
  }
  if (!unit) return type === 'decimal' ? sql`${EXACT.plain}(${value})` : value;
  if (unit === 'week')
    return sql`strftime('%Y-%m-%d${type === 'date' ? '' : MIDNIGHT}', ${value}, 'weekday 0', '-6 days')`;
  const [size, rest] = CUTS[unit];
  const end = type === 'date' ? rest.slice(0, 10 - size) : rest;
  return sql`substr(${value}, 1, ${String(size)}) || '${end}'`;
}

const MIDNIGHT = 'T00:00:00.000Z';

/** For each unit, how many characters of a time's text are kept, and what is added to them. */
const CUTS = {
  hour: [13, ':00:00.000Z'],
  day: [10, MIDNIGHT],
  month: [7, `-01${MIDNIGHT}`],
  year: [4, `-01-01${MIDNIGHT}`],
} as const;

interface KeyPlace {
  readonly write: WriteField;
  readonly alias: string;
}

function keyJson(
  scope: Scope,
  { keys }: GroupQuery,
  { planned, column, required }: KeyPart,
  { write, alias }: KeyPlace,
): Sql {
  const key = column === undefined ? undefined : keys.find((each) => each.column === column);
  const nothing = required ? marked(scope, 'MISSING') : sql`null`;
  if (column !== undefined && !key) return nothing;
  const names = (key?.parts ?? []).map((part) => `${alias}.${part.alias}`);
  const source: Source = {
    ref: (of) => {
      const at = key?.parts.findIndex((part) => part.column.name === of) ?? -1;
      if (at >= 0) return names[at]!;
      return names.length === 1 ? names[0]! : `(${names.join(', ')})`;
    },
  };
  const value = write(planned, source);
  if (!required || names.length === 0) return value;
  const isNull = names.map((each) => `${each} is null`).join(' or ');
  return sql`case when ${isNull} then ${nothing} else ${scope.json.any(value)} end`;
}

/** Groups are ordered by the arguments, then by the keys, so that no two groups are equal. */
function orderSql(scope: Scope, query: GroupQuery, { keys, order }: GroupCall, alias: string): Sql {
  const all: GroupOrder[] = [
    ...order,
    ...keys.map(({ column }): GroupOrder => ({ of: 'key', column, descending: false })),
  ];
  const terms = all.flatMap((each) =>
    sortKeys(scope, query, each, alias).map((key) => {
      const nulls = each.nulls ?? (each.descending ? 'first' : 'last');
      return sql`${key}${each.descending ? ' desc' : ''} nulls ${nulls}`;
    }),
  );
  return terms.length === 0 ? sql`` : sql` order by ${joinSql(terms, ', ')}`;
}

function sortKeys(
  scope: Scope,
  query: GroupQuery,
  each: GroupOrder,
  alias: string,
): readonly Sql[] {
  const { of, column = '' } = each;
  const exact = (value: Sql) =>
    scope.dialect === 'sqlite' ? sql`${EXACT.sortable}(${value})` : value;
  if (of === 'key') {
    const key = query.keys.find((one) => one.column === column);
    return (key?.parts ?? []).map((part) => {
      const value = sql`${alias}.${part.alias}`;
      return part.column.type === 'decimal' ? exact(value) : value;
    });
  }
  const figures = query.at(alias);
  if (of === 'count') return [figures.count()];
  const { sql: value, form } = figures.figure(of, column, 'real');
  const decimal = form === 'column' && query.typeOf(column) === 'decimal';
  return [form === 'exact' || decimal ? exact(value) : value];
}
