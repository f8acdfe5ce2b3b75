import type { FilterOperator } from '@twofold/schema';
import { failure } from '../../errors.ts';
import { binary, containsSql, foldedSql, LONGEST_PART, noNull, not } from './comparison.ts';
import type { Compared } from './compared.ts';
import { sql, valueSql, type Sql, type Part } from '../sql/fragment.ts';
import type { Beside, Given } from '../sql/given.ts';
import { jsonWord } from './json-words.ts';
import { isAmong } from '../sql/link-condition.ts';
import type { Scope } from '../sql/scope.ts';
import type { Stored } from '../sql/values.ts';

/**
 * The SQL of one operator for a list of scalars or enums. If there is no list, the result is
 * unknown.
 */
function listWord(scope: Scope, compared: Compared, word: FilterOperator, given: Given): Sql {
  if (word === 'ne') return not(listWord(scope, compared, 'eq', given));
  if (word !== 'eq') assertNoNull(given);
  const { value, as } = compared;
  if (scope.dialect === 'sqlite') return sqliteWord(value, word, given);
  return as.databaseType?.endsWith('[]')
    ? arrayWord(value, word, given, as)
    : jsonbWord(value, word, given);
}

/** @throws AppError `BAD_USER_INPUT` when one of the values is null. */
function assertNoNull({ field, value }: Given): void {
  if (!Array.isArray(value) || !value.includes(null)) return;
  throw failure.invalid(`${field} must not hold null`, { extensions: { field } });
}

const JSON_TEXT: Stored = { type: 'json' };

/** Booleans are the numbers 0 and 1 in `json_each`. */
const itemOf = (value: unknown): Stored => ({
  type: typeof value === 'boolean' ? 'boolean' : 'text',
});

function sqliteWord(list: Sql, word: FilterOperator, given: Given): Sql {
  const items = (of: Part) => sql`select value from json_each(${of})`;
  switch (word) {
    case 'has':
      return unlessNull(list, sql`${given.parameter(itemOf(given.value))} in (${items(list)})`);
    case 'hasSome':
      return sql`exists (select 1 from json_each(${list}) where value in (${items(given.parameter(JSON_TEXT))}))`;
    case 'hasEvery':
      return sql`${list} is not null and not exists (select 1 from json_each(${given.parameter(JSON_TEXT)}) given where not exists (select 1 from json_each(${list}) own where own.value = given.value))`;
    case 'isEmpty':
      return sql`json_array_length(${list}) ${given.value === true ? '=' : '>'} 0`;
    case 'eq':
      return sql`json_array_length(${list}) = json_array_length(${given.parameter(JSON_TEXT)}) and not exists (select 1 from json_each(${list}) own join json_each(${given.parameter(JSON_TEXT)}) given on given.key = own.key where given.value is not own.value)`;
    default:
      throw noWord(word, given);
  }
}

const unlessNull = (list: Sql, condition: Sql) => sql`${list} is not null and ${condition}`;

function jsonbWord(list: Sql, word: FilterOperator, given: Given): Sql {
  const json = sql`${given.parameter(JSON_TEXT)}::jsonb`;
  switch (word) {
    case 'has':
    case 'hasEvery':
      return sql`${list} @> ${json}`;
    case 'hasSome':
      return sql`exists (select 1 from jsonb_array_elements(${json}) as given(item) where ${list} @> given.item)`;
    case 'isEmpty':
      return sql`${list} ${given.value === true ? '=' : '<>'} '[]'::jsonb`;
    case 'eq':
      return sql`${list} = ${json}`;
    default:
      throw noWord(word, given);
  }
}

/** An array of PostgreSQL, in a table that another program made. */
function arrayWord(list: Sql, word: FilterOperator, given: Given, as: Stored): Sql {
  const array = given.parameter(as);
  switch (word) {
    case 'has':
      return sql`${given.parameter({ type: 'text' })} = any(${list})`;
    case 'hasSome':
      return sql`${list} && ${array}`;
    case 'hasEvery':
      return sql`${list} @> ${array}`;
    case 'isEmpty':
      return sql`cardinality(${list}) ${given.value === true ? '=' : '>'} 0`;
    case 'eq':
      return sql`${list} = ${array}`;
    default:
      throw noWord(word, given);
  }
}

const noWord = (word: FilterOperator, { field }: Given) =>
  failure.invalid(`${field}: ${word} is not about a list`, { extensions: { field } });

const OF_LISTS = new Set<FilterOperator>(['has', 'hasSome', 'hasEvery', 'isEmpty']);

/**
 * The condition that a value meets one operator.
 *
 * @throws AppError `BAD_USER_INPUT` for a word that takes no null, or not this kind of value.
 */
export function wordSql(
  scope: Scope,
  compared: Compared,
  word: FilterOperator,
  given: Given,
  beside: Beside = {},
): Sql {
  const { form } = compared;
  if (word === 'contains') assertPart(given);
  if (given.value === null && word !== 'eq' && word !== 'ne') throw noNull(given);
  if (form === 'json') return jsonWord(scope, compared, word, given, beside);
  if (word === 'isNull' || given.value === null) return nullWord(compared, word, given);
  if (form === 'list') return listWord(scope, compared, word, given);
  if (form === 'object' || OF_LISTS.has(word))
    throw failure.invalid(`${given.field} has no meaning`);
  if (beside.fold && compared.as.type === 'text') return foldedWord(scope, compared, word, given);
  return scalarWord(scope, compared, word, given);
}

/** Refuses a part that is too long: `contains` takes time for each of its letters, in each row. */
function assertPart({ field, value }: Given): void {
  if (typeof value !== 'string' || value.length <= LONGEST_PART) return;
  const message = `${field} may have ${LONGEST_PART} characters: look for a part of the text, or for its beginning with startsWith`;
  throw failure.invalid(message, { extensions: { field, limit: LONGEST_PART } });
}

/** Whether there is a value: `isNull`, `eq: null` and `ne: null`. */
function nullWord({ nothing }: Compared, word: FilterOperator, given: Given): Sql {
  if (word === 'isNull') return given.value === true ? nothing() : not(nothing());
  if (word === 'eq') return nothing();
  return not(nothing());
}

const TEXT_WORDS = new Set<FilterOperator>(['contains', 'startsWith', 'endsWith']);

function scalarWord(scope: Scope, compared: Compared, word: FilterOperator, given: Given): Sql {
  const { value, as } = compared;
  if (word === 'in' || word === 'notIn')
    return amongWord(
      compared,
      word,
      given,
      isAmong(scope, value, as, (of) => given.parameter(of)),
    );
  if (TEXT_WORDS.has(word) && as.type !== 'text')
    return binary(scope, castText(value), word, sql`${given.parameter(TEXT)}`, false);
  return binary(scope, value, word, valueSql(as, given.parameter), as.type === 'decimal');
}

const TEXT: Stored = { type: 'text' };

const castText = (value: Sql): Sql => sql`cast(${value} as text)`;

/** `in` and `notIn`, whose list may hold null. */
function amongWord({ nothing }: Compared, word: 'in' | 'notIn', given: Given, listed: Sql): Sql {
  const withNull = (given.value as unknown[]).includes(null)
    ? sql`(${listed}) is true or ${nothing()}`
    : listed;
  return word === 'in' ? sql`(${withNull})` : not(withNull);
}

function foldedWord(scope: Scope, compared: Compared, word: FilterOperator, given: Given): Sql {
  const { as, value } = compared;
  const text = as.databaseType === undefined ? value : castText(value);
  const own = foldedSql(scope, text);
  const other = foldedSql(scope, sql`${given.parameter(TEXT)}`);
  if (word === 'contains') return containsSql(scope, text, other, own);
  if (word !== 'in' && word !== 'notIn') return binary(scope, own, word, other, false);
  const list = given.parameter({ ...TEXT, many: true });
  const rows =
    scope.dialect === 'sqlite'
      ? sql`select ${foldedSql(scope, sql`value`)} from json_each(${list})`
      : sql`select ${foldedSql(scope, sql`value`)} from unnest(${list}::text[]) as given(value)`;
  return amongWord(compared, word, given, sql`${own} in (${rows})`);
}
