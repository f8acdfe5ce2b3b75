import type { FilterOperator } from '@twofold/schema';
import { failure } from '../../errors.ts';
import { JSON_WORD } from '../../store/sqlite/json-words.ts';
import { binary, foldedSql, not } from './comparison.ts';
import type { Compared } from './compared.ts';
import { sql, type Sql } from '../sql/fragment.ts';
import type { Scope } from '../sql/scope.ts';
import type { Stored } from '../sql/values.ts';
import type { Beside, Given } from '../sql/given.ts';

const JSON_TEXT: Stored = { type: 'json' };
const PATH: Stored = { type: 'text', many: true };

/**
 * The SQL of one operator for JSON, or for a value inside it. Types must match: `"1"` is not `1`,
 * and values of different types have no order. If the path does not exist, or null is there, there
 * is no value.
 */
export function jsonWord(
  scope: Scope,
  compared: Compared,
  word: FilterOperator,
  given: Given,
  beside: Beside,
): Sql {
  const { value } = given;
  const write = scope.dialect === 'sqlite' ? sqliteWord : postgresWord;
  const plain = (of: FilterOperator) => write(scope, compared.value, of, given, beside);
  if (word === 'isNull') return value === true ? plain('isNull') : not(plain('isNull'));
  if (word === 'ne') return not(value === null ? plain('isNull') : plain('eq'));
  if (value === null) return plain('isNull');
  assertFits(word, given);
  if (word !== 'in' && word !== 'notIn') return plain(word);
  const listed = (value as unknown[]).includes(null)
    ? sql`(${plain('in')}) is true or ${plain('isNull')}`
    : plain('in');
  return word === 'in' ? sql`(${listed})` : not(listed);
}

const ORDER = new Set<FilterOperator>(['lt', 'lte', 'gt', 'gte']);
const ORDERED = new Set(['string', 'number', 'bigint']);

/** @throws AppError `BAD_USER_INPUT` for a value that has no order, or that is no list. */
function assertFits(word: FilterOperator, { field, value }: Given): void {
  const refuse = (why: string) => failure.invalid(`${field} ${why}`, { extensions: { field } });
  if (ORDER.has(word) && !ORDERED.has(typeof value)) throw refuse('must be a text or a number');
  const isList = word === 'in' || word === 'notIn' || word === 'hasSome' || word === 'hasEvery';
  if (isList && !Array.isArray(value)) throw refuse('must be a list');
}

function sqliteWord(
  _scope: Scope,
  document: Sql,
  word: FilterOperator,
  given: Given,
  { fold, way }: Beside,
): Sql {
  const operand = word === 'isNull' ? sql`null` : sql`${given.parameter(JSON_TEXT)}`;
  const path = way ? sql`${way.parameter(PATH)}` : sql`null`;
  return sql`${JSON_WORD}('${word}', ${document}, ${path}, ${operand}, ${fold ? '1' : '0'}) = 1`;
}

function postgresWord(
  scope: Scope,
  document: Sql,
  word: FilterOperator,
  given: Given,
  { fold = false, way }: Beside,
): Sql {
  const found = way ? sql`(${document} #> ${way.parameter(PATH)}::text[])` : document;
  const value = sql`nullif(${found}, 'null'::jsonb)`;
  const wanted = sql`(${given.parameter(JSON_TEXT)}::jsonb)`;
  const inCase = (text: Sql) => (fold ? foldedSql(scope, text) : text);
  if (word === 'isNull') return sql`${value} is null`;
  if (ORDER.has(word)) return orderSql(scope, value, word, wanted, inCase);
  switch (word) {
    case 'contains':
    case 'startsWith':
    case 'endsWith':
      return binary(scope, inCase(textOf(value)), word, inCase(textOf(wanted)), false);
    case 'in':
      return isAnyOf(scope, value, sql`jsonb_array_elements(${wanted})`, fold);
    case 'eq':
      return isSame(scope, value, wanted, fold);
    default:
      return listSql(scope, value, word, { given, wanted, fold });
  }
}

/** The text of a JSON string; null for any other value. */
const textOf = (json: Sql): Sql =>
  sql`(case when jsonb_typeof(${json}) = 'string' then ${json} #>> '{}' end)`;

const numberOf = (json: Sql): Sql =>
  sql`(case when jsonb_typeof(${json}) = 'number' then (${json} #>> '{}')::numeric end)`;

function orderSql(
  scope: Scope,
  value: Sql,
  word: FilterOperator,
  wanted: Sql,
  inCase: (text: Sql) => Sql,
): Sql {
  const by = (of: (json: Sql) => Sql) => binary(scope, of(value), word, of(wanted), false);
  return sql`(${by(numberOf)} or ${by((json) => inCase(textOf(json)))})`;
}

/**
 * Whether two values are equal. With `fold`, texts are equal whatever the case of their letters.
 */
const isSame = (scope: Scope, a: Sql, b: Sql, fold: boolean): Sql =>
  fold
    ? sql`(${a} = ${b} or (jsonb_typeof(${a}) in ('string', 'array') and ${foldedSql(scope, a)} = ${foldedSql(scope, b)}))`
    : sql`${a} = ${b}`;

/** Whether a value is one of the rows of `list`. */
const isAnyOf = (scope: Scope, value: Sql, list: Sql, fold: boolean): Sql =>
  sql`exists (select 1 from ${list} as given(item) where ${isSame(scope, value, sql`given.item`, fold)})`;

interface ArrayComparison {
  readonly given: Given;
  readonly wanted: Sql;
  readonly fold: boolean;
}

/** The SQL of one operator for a JSON array. */
function listSql(
  scope: Scope,
  value: Sql,
  word: FilterOperator,
  { given, wanted, fold }: ArrayComparison,
): Sql {
  const isArray = sql`jsonb_typeof(${value}) = 'array'`;
  const items = sql`jsonb_array_elements(case when ${isArray} then ${value} else '[]' end)`;
  const among = (item: Sql, of: Sql) => isAnyOf(scope, item, of, fold);
  const each = sql`jsonb_array_elements(${wanted}) as own(item)`;
  switch (word) {
    case 'has':
      return among(wanted, items);
    case 'hasSome':
      return sql`exists (select 1 from ${each} where ${among(sql`own.item`, items)})`;
    case 'hasEvery':
      return sql`${isArray} and not exists (select 1 from ${each} where not ${among(sql`own.item`, items)})`;
    default:
      return sql`${isArray} and ${value} ${given.value === true ? '=' : '<>'} '[]'::jsonb`;
  }
}
