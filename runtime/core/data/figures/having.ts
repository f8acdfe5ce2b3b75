import { OPERATORS } from '@twofold/schema';
import type { Column, ColumnType, FilterOperator, FilterWord } from '@twofold/schema';
import { failure } from '../../errors.ts';
import { EXACT } from '../../store/sqlite/exact-numbers.ts';
import type { Figures } from './figure-columns.ts';
import { noNull, not } from '../words/comparison.ts';
import type { Compared } from '../words/compared.ts';
import type { FigureSql } from './figures.ts';
import { sql, type Sql } from '../sql/fragment.ts';
import type { EntityModel } from '../model.ts';
import type { Figure } from '../plan.ts';
import { and, parameter, type Scope } from '../sql/scope.ts';
import { stored } from '../sql/stored-as.ts';
import {
  givenAt,
  isLogical,
  logicalSql,
  itemsOf,
  wordsCondition,
} from '../filter/words-condition.ts';

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
    if (isLogical(name))
      return logicalSql(
        name,
        itemsOf(given, path).map(([item, place]) => this.input(item, place) ?? sql`true`),
      );
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

  #figure(of: Figure, field: string, words: Input, path: Path): Sql | undefined {
    const column = columnOf(this.#site.entity, field);
    const { sql: value, form } = this.#figures.figure(of, column.name, 'real');
    const isFloat = form === 'column' && column.type === 'real';
    return this.#words({ sql: value, form: isFloat ? 'real' : form }, words, path, column);
  }

  #words(figure: FigureSql, words: unknown, path: Path, column?: Column): Sql | undefined {
    if (!isNumber(figure, column)) return this.#valueWords(figure.sql, words, path, column!);
    return and(
      Object.entries(words as Input).map(([word, given]) => {
        if (given === undefined) return undefined;
        const at = [...path, word];
        if (!isLogical(word)) return this.#compare(figure, word as FilterOperator, given, at);
        if (given === null) return undefined;
        const inner = itemsOf(given, at).map(
          ([item, place]) => this.#words(figure, item, place, column) ?? sql`true`,
        );
        return logicalSql(word, inner);
      }),
    );
  }

  /** A text or a time is compared with the operators of filters. */
  #valueWords(value: Sql, words: unknown, path: Path, column: Column): Sql | undefined {
    const { model } = this.#scope;
    const { entity, call } = this.#site;
    const compared: Compared = {
      form: 'scalar',
      value,
      as: stored(model, entity, column.name),
      nothing: () => sql`${value} is null`,
    };
    return wordsCondition(this.#scope, compared, WORDS, words, { call, path });
  }

  #compare(figure: FigureSql, word: FilterOperator, given: unknown, path: Path): Sql {
    const isNull = sql`${figure.sql} is null`;
    if (word === 'isNull') return given === true ? isNull : not(isNull);
    if (given === null) {
      if (word === 'eq') return isNull;
      if (word === 'ne') return not(isNull);
      throw noNull(givenAt({ call: this.#site.call, path }, given));
    }
    if (word !== 'in' && word !== 'notIn') return this.#number(figure, word, path);
    const listed = this.#numberIn(figure, path);
    const some = (given as unknown[]).includes(null)
      ? sql`((${listed}) is true or ${isNull})`
      : listed;
    return word === 'in' ? some : not(some);
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
}

/** The operators for a text or a time. The type of an input says which of them it has. */
const WORDS: readonly FilterWord[] = [...OPERATORS, 'mode', 'and', 'or', 'not'];

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
