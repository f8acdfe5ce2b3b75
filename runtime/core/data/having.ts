import type { Column, ColumnType, FilterOperator } from '@twofold/schema';
import { failure } from '../errors.ts';
import { EXACT } from '../store/exact-numbers.ts';
import type { Figures } from './aggregated.ts';
import { binary, not } from './comparison.ts';
import type { FigureSql } from './figures.ts';
import { sql, type Sql } from './fragment.ts';
import { isAmong } from './key-conditions.ts';
import type { EntityModel } from './model.ts';
import type { Figure } from './plan.ts';
import { and, or, parameter, type Scope } from './scope.ts';
import { stored } from './stored-as.ts';

type Input = Readonly<Record<string, unknown>>;
type Path = readonly (string | number)[];

/** The entity of the rows, and the plan's node that has the arguments. */
interface Site {
  readonly entity: EntityModel;
  readonly call: number;
}

/**
 * The condition of a `having` input on the columns of groups. As in filters, a comparison with a
 * missing value is false, and its `not` is true.
 */
export function havingSql(
  scope: Scope,
  site: Site,
  value: unknown,
  figures: Figures,
): Sql | undefined {
  if (value === undefined || value === null) return undefined;
  return new Having(scope, site, figures).input(value, ['groups', 'having']);
}

class Having {
  readonly #scope: Scope;
  readonly #site: Site;
  readonly #figures: Figures;

  constructor(scope: Scope, site: Site, figures: Figures) {
    this.#scope = scope;
    this.#site = site;
    this.#figures = figures;
  }

  input(value: unknown, path: Path): Sql | undefined {
    return and(
      Object.entries(value as Input).map(([name, given]) =>
        given === undefined ? undefined : this.#member(name, given, [...path, name]),
      ),
    );
  }

  #member(name: string, given: unknown, path: Path): Sql | undefined {
    if (given === null) return undefined;
    if (name === 'and' || name === 'or' || name === 'not') {
      const all = this.#each(given, path).map((one) => one ?? sql`true`);
      if (name === 'and') return and(all) ?? sql`true`;
      return name === 'or' ? or(all.map((one) => sql`(${one})`)) : not(or(all));
    }
    if (name === 'count')
      return this.#words({ sql: this.#figures.count(), form: 'integer' }, given, path);
    return and(
      Object.entries(given as Input).map(([column, words]) =>
        words === undefined || words === null
          ? undefined
          : this.#figure(name as Figure, column, words as Input, [...path, column]),
      ),
    );
  }

  #each(given: unknown, path: Path): (Sql | undefined)[] {
    if (!Array.isArray(given)) return [this.input(given, path)];
    return given.flatMap((item, index) =>
      item === null ? [] : [this.input(item, [...path, index])],
    );
  }

  #figure(of: Figure, field: string, words: Input, path: Path): Sql | undefined {
    const column = columnOf(this.#site.entity, field);
    const { sql: value, form } = this.#figures.figure(of, column.name, 'real');
    const isFloat = form === 'column' && column.type === 'real';
    return this.#words({ sql: value, form: isFloat ? 'real' : form }, words, path, column);
  }

  #words(figure: FigureSql, words: unknown, path: Path, column?: Column): Sql | undefined {
    return and(
      Object.entries(words as Input).map(([operator, given]) =>
        given === undefined
          ? undefined
          : this.#compare(figure, operator as FilterOperator, given, [...path, operator], column),
      ),
    );
  }

  #compare(
    figure: FigureSql,
    operator: FilterOperator,
    given: unknown,
    path: Path,
    column: Column | undefined,
  ): Sql {
    const { sql: value } = figure;
    const isNull = sql`${value} is null`;
    if (operator === 'isNull') return given === true ? isNull : not(isNull);
    if (given === null) {
      if (operator === 'eq') return isNull;
      if (operator === 'ne') return not(isNull);
      const field = path.slice(1).join('.');
      throw failure.invalid(`${field} must not be null: write eq: null or ne: null`, {
        extensions: { field },
      });
    }
    const number = isNumber(figure, column);
    if (operator === 'in' || operator === 'notIn') {
      const listed = number
        ? this.#numberIn(figure, path)
        : this.#valueIn(value, path, column as Column);
      const some = (given as unknown[]).includes(null)
        ? sql`((${listed}) is true or ${isNull})`
        : listed;
      return operator === 'in' ? some : not(some);
    }
    return number
      ? this.#number(figure, operator, path)
      : binary(this.#scope, value, operator, this.#given(path, column as Column), false);
  }

  #given(path: Path, column: Column): Sql {
    const { scope, site } = { scope: this.#scope, site: this.#site };
    return parameter(site.call, path, stored(scope.model, site.entity, column.name));
  }

  /** Compares exactly: the value given may have a fraction, or be larger than 64 bits. */
  #number({ sql: value, form }: FigureSql, operator: FilterOperator, path: Path): Sql {
    const sign = SIGNS[operator];
    if (sign === undefined) throw failure.invalid(`${operator} does not compare numbers`);
    const given = parameter(this.#site.call, path, { type: 'text' });
    const compared =
      this.#scope.dialect === 'sqlite'
        ? sql`${EXACT.compare}(${value}, ${given}) ${sign} 0`
        : form === 'real'
          ? sql`${value} ${sign} ${given}::float8`
          : sql`(${value})::numeric ${sign} ${given}::numeric`;
    return operator === 'ne' ? sql`(${compared}) is not false` : compared;
  }

  #numberIn({ sql: value, form }: FigureSql, path: Path): Sql {
    const { call } = this.#site;
    const list = { from: 'call' as const, call, path, as: { type: 'text' as const, many: true } };
    if (this.#scope.dialect === 'sqlite')
      return sql`exists (select 1 from json_each(${list}) where ${EXACT.compare}(${value}, value) = 0)`;
    return form === 'real'
      ? sql`${value} = any(${list}::float8[])`
      : sql`(${value})::numeric = any(${list}::numeric[])`;
  }

  #valueIn(value: Sql, path: Path, column: Column): Sql {
    const { call, entity } = this.#site;
    return isAmong(this.#scope, value, stored(this.#scope.model, entity, column.name), (as) => ({
      from: 'call',
      call,
      path,
      as,
    }));
  }
}

const SIGNS: Partial<Record<FilterOperator, string>> = {
  eq: '=',
  ne: '<>',
  lt: '<',
  lte: '<=',
  gt: '>',
  gte: '>=',
};

const NUMBERS: readonly ColumnType[] = ['integer', 'bigint', 'decimal', 'real'];

const isNumber = ({ form }: FigureSql, column: Column | undefined): boolean =>
  form !== 'column' || (column !== undefined && NUMBERS.includes(column.type));

/** The column that a field of the entity is stored in. */
export function columnOf({ fields, column, entity }: EntityModel, field: string): Column {
  const source = fields.get(field)?.source;
  if (source?.kind === 'column') return column(source.column);
  if (source?.kind === 'one' && source.key === 'own') return column(source.column);
  throw failure.invalid(`${entity.name}.${field} has no value that can be compared`);
}
