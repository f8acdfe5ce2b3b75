import type { Column, ColumnType } from '@twofold/schema';
import { AVERAGE_PLACES, EXACT } from '../../store/sqlite/exact-numbers.ts';
import { readableWhen, seenKey } from '../access/condition-sql.ts';
import { sql, type Sql } from '../sql/fragment.ts';
import { isDigits } from '../sql/json.ts';
import type { EntityModel } from '../model.ts';
import type { Figure, NumberType } from '../plan.ts';
import { and, keyColumns, marked, reference, type Scope } from '../sql/scope.ts';

/**
 * The form of a number. `integer` is whole, and on SQLite it fits 64 bits; `exact` may be larger or
 * have a fraction, and is text on SQLite and `numeric` on PostgreSQL; `column` is a value of the
 * column itself.
 */
export type Form = 'integer' | 'exact' | 'real' | 'column';

export interface FigureSql {
  readonly sql: Sql;
  readonly form: Form;
}

/** The rows whose columns are counted or added up. */
export interface Rows {
  readonly entity: EntityModel;
  readonly alias: string;
}

/**
 * A number over the values of a column. Rows where the caller may not see the value have none.
 *
 * @param as how the answer shows it: an average is a float or a decimal.
 */
export function figureSql(
  scope: Scope,
  rows: Rows,
  { of, column, as }: { readonly of: Figure; readonly column: string; readonly as: ColumnType },
): FigureSql {
  const { type } = rows.entity.column(column);
  const value = () => seenValue(scope, rows, column);
  switch (of) {
    case 'countDistinct':
      return { sql: sql`count(distinct ${distinctValue(scope, rows, column)})`, form: 'integer' };
    case 'sum':
      return sumSql(scope, value(), type);
    case 'avg':
      return averageSql(scope, value(), type, as);
    case 'min':
    case 'max':
      return extremeSql(scope, rows, of, column);
  }
}

/**
 * In which rows the caller sees a value that is counted or grouped by; undefined for all of them.
 * Unlike `readableWhen`, it also asks for the row that a foreign key refers to.
 */
export function figureSeenWhen(
  scope: Scope,
  { entity, alias }: Rows,
  column: string,
): Sql | undefined {
  const own = (of: string) => reference(entity, alias, of);
  const { references } = entity.column(column);
  const target = references && scope.model.entities.get(references.entity);
  const access = target && scope.rules.entity(target.entity, 'READ');
  const hides = target && (access?.kind !== 'all' || target.entity.softDelete !== undefined);
  return and([
    readableWhen(scope, entity, column, own),
    hides
      ? sql`${own(column)} in ${seenKey(scope, target, own(column), references?.to)}`
      : undefined,
  ]);
}

function seenValue(scope: Scope, rows: Rows, column: string, own?: Sql): Sql {
  const value = own ?? sql`${reference(rows.entity, rows.alias, column)}`;
  const visible = figureSeenWhen(scope, rows, column);
  return visible ? sql`case when ${visible} then ${value} end` : value;
}

/** A value by which SQL counts different values. A composite key gives one text. */
function distinctValue(scope: Scope, rows: Rows, column: string): Sql {
  return seenValue(scope, rows, column, comparable(scope, rows, column));
}

/** The value of a column in the form by which rows are grouped and groups are compared. */
function comparable(scope: Scope, { entity, alias }: Rows, column: string): Sql {
  const { type, parts } = entity.column(column);
  const at = (name: string) => reference(entity, alias, name);
  if (parts) return scope.json.key(keyColumns(entity, parts, at));
  const own = at(column);
  return scope.dialect === 'sqlite' && type === 'decimal'
    ? sql`${EXACT.plain}(${own})`
    : sql`${own}`;
}

function sumSql(scope: Scope, value: Sql, type: ColumnType): FigureSql {
  const { dialect, model } = scope;
  if (type === 'real') {
    scope.mayOverflow();
    return { sql: sql`sum(${value})`, form: 'real' };
  }
  if (dialect === 'postgres')
    return { sql: sql`sum(${value})`, form: type === 'decimal' ? 'exact' : 'integer' };
  if (type === 'decimal') return { sql: sql`${EXACT.sum}(${value})`, form: 'exact' };
  // In a table that another program made, a column of `Int` may hold larger numbers.
  if (type === 'integer' && !model.project.unmanaged)
    return { sql: sql`sum(${value})`, form: 'integer' };
  // SQLite's own sum is twice as fast, and fails beyond 64 bits: the statement is then made again.
  scope.mayOverflow();
  if (!scope.wide) return { sql: sql`cast(sum(${value}) as text)`, form: 'exact' };
  return {
    sql: sql`${EXACT.wide}(sum(${value} >> 32), sum(${value} & 4294967295))`,
    form: 'exact',
  };
}

function averageSql(scope: Scope, value: Sql, type: ColumnType, as: ColumnType): FigureSql {
  if (type === 'real') {
    scope.mayOverflow();
    return { sql: sql`avg(${value})`, form: 'real' };
  }
  const sum = sumSql(scope, value, type);
  if (as !== 'decimal')
    return { sql: sql`${toFloat(scope, sum)} / nullif(count(${value}), 0)`, form: 'real' };
  if (scope.dialect === 'sqlite')
    return { sql: sql`${EXACT.ratio}(${sum.sql}, count(${value}))`, form: 'exact' };
  return { sql: ratio(sum.sql, sql`count(${value})`), form: 'exact' };
}

/** The quotient of whole numbers is exact, so it is rounded once, half away from zero. */
function ratio(sum: Sql, count: Sql): Sql {
  const places = sql`scale((${sum})::numeric) + ${String(AVERAGE_PLACES)}`;
  const scaled = sql`abs((${sum})::numeric) * 2 * ('1e' || ${places})::numeric`;
  const whole = sql`div(${scaled} + ${count}, nullif(2 * ${count}, 0))`;
  return sql`trim_scale(sign((${sum})::numeric) * ${whole} * ('1e-' || (${places}))::numeric)`;
}

function toFloat({ dialect }: Scope, { sql: value, form }: FigureSql): Sql {
  if (dialect === 'postgres') return sql`(${value})::float8`;
  return form === 'exact' ? sql`${EXACT.float}(${value})` : sql`cast(${value} as real)`;
}

function extremeSql(scope: Scope, rows: Rows, of: 'min' | 'max', column: string): FigureSql {
  const { type, parts, key } = rows.entity.column(column);
  const own = parts ? comparable(scope, rows, column) : undefined;
  const value = seenValue(scope, rows, column, own);
  if (scope.dialect === 'sqlite' && type === 'decimal')
    return { sql: sql`${EXACT[of]}(${value})`, form: 'column' };
  // PostgreSQL has no least of the type `uuid`; its text has the same order.
  const isUuid = type === 'uuid' || (type === 'id' && (key ?? scope.model.ids) === 'uuid');
  const compared = scope.dialect === 'postgres' && isUuid ? sql`(${value})::text` : value;
  return { sql: sql`${of}(${compared})`, form: 'column' };
}

/** A number as the answer shows it, or the marker of one that the declared type cannot hold. */
export function shownSql(
  scope: Scope,
  { sql: value, form }: FigureSql,
  { scalar, as, required }: NumberType,
  column?: Column,
): Sql {
  const { value: shown, fits }: CheckedNumber =
    form === 'column' && column && column.scalar === scalar
      ? { value: column.parts ? value : scope.json.column(value, column) }
      : numberSql(scope, value, { form: formOf(form, column), as, scalar, of: column?.type });
  const nothing = required ? marked(scope, 'MISSING') : undefined;
  if (!fits) return nothing ? sql`coalesce(${scope.json.any(shown)}, ${nothing})` : shown;
  const otherwise = nothing ? sql` else ${nothing}` : '';
  return sql`case when ${fits} then ${scope.json.any(shown)} when ${value} is not null then ${marked(scope, 'OUT_OF_RANGE')}${otherwise} end`;
}

/** A count as the answer shows it. It is never null. */
export function shownCount(scope: Scope, value: Sql, { scalar, as }: NumberType): Sql {
  const { value: shown, fits } = numberSql(scope, value, { form: 'integer', as, scalar });
  if (!fits) return shown;
  return sql`case when ${fits} then ${scope.json.any(shown)} else ${marked(scope, 'OUT_OF_RANGE')} end`;
}

/** The form of a least or greatest value that is shown as another type than its column's. */
function formOf(form: Form, column: Column | undefined): Exclude<Form, 'column'> {
  if (form !== 'column') return form;
  return column?.type === 'decimal' ? 'exact' : 'integer';
}

interface Target {
  readonly form: Exclude<Form, 'column'>;
  readonly as: ColumnType;
  readonly scalar: string;
  /** The type of the column that the number is about; absent for a count of rows. */
  readonly of?: ColumnType | undefined;
}

/** A value, and the condition that the declared type holds it. */
interface CheckedNumber {
  readonly value: Sql;
  readonly fits?: Sql;
}

function numberSql(scope: Scope, value: Sql, { form, as, scalar, of }: Target): CheckedNumber {
  if (as === 'real') return floatSql(scope, value, form, of);
  if (form === 'real') return { value };
  if (as === 'decimal') return { value: asText(scope, value) };
  const isText = as === 'bigint' && isDigits({ type: as, scalar } as Column);
  if (isText) return of === 'decimal' ? digitsSql(scope, value) : { value: asText(scope, value) };
  const [least, most] = as === 'integer' ? INT : (RANGES[scalar] ?? LONG);
  return wholeSql(scope, value, form, sql`between ${least} and ${most}`);
}

const INT = ['-2147483648', '2147483647'] as const;
const LONG = ['-9223372036854775808', '9223372036854775807'] as const;
const RANGES: Readonly<Record<string, readonly [string, string]>> = {
  SafeInt: ['-9007199254740991', '9007199254740991'],
};

const asText = ({ dialect }: Scope, value: Sql): Sql =>
  dialect === 'sqlite' ? sql`cast(${value} as text)` : sql`(${value})::text`;

function floatSql(
  { dialect }: Scope,
  value: Sql,
  form: Target['form'],
  of?: ColumnType,
): CheckedNumber {
  if (dialect === 'sqlite') {
    if (form === 'integer') return { value: sql`cast(${value} as real)` };
    if (form === 'real' && of !== 'real') return { value };
    if (form === 'real') return { value, fits: sql`abs(${value}) <= 1.7976931348623157e308` };
    const float = sql`${EXACT.float}(${value})`;
    return { value: float, fits: sql`${float} is not null` };
  }
  // The database itself ends the statement when the sum of floats becomes too large.
  if (form === 'real') return { value };
  const float = sql`(${value})::float8`;
  return form === 'integer'
    ? { value: float }
    : { value: float, fits: sql`abs(${value}) < 1.7976931348623158e308::numeric` };
}

function digitsSql(scope: Scope, value: Sql): CheckedNumber {
  if (scope.dialect === 'postgres')
    return { value: sql`trunc(${value})::text`, fits: sql`${value} = trunc(${value})` };
  const digits = sql`${EXACT.digits}(${value})`;
  return { value: digits, fits: sql`${digits} is not null` };
}

function wholeSql({ dialect }: Scope, value: Sql, form: Target['form'], range: Sql): CheckedNumber {
  if (form === 'integer') return { value, fits: sql`${value} ${range}` };
  if (dialect === 'postgres')
    return {
      value: sql`trunc(${value})`,
      fits: sql`${value} = trunc(${value}) and ${value} ${range}`,
    };
  const whole = sql`${EXACT.integer}(${value})`;
  return { value: whole, fits: sql`${whole} ${range}` };
}
