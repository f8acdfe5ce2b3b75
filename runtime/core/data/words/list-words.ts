import type { FilterOperator } from '@twofold/schema';
import { failure } from '../../errors.ts';
import { not } from './comparison.ts';
import type { Compared } from './compared.ts';
import { sql, type Part, type Sql } from '../sql/fragment.ts';
import type { Scope } from '../sql/scope.ts';
import type { Stored } from '../sql/values.ts';
import type { Given } from '../sql/given.ts';

/**
 * The SQL of one operator for a list of scalars or enums. If there is no list, the result is
 * unknown.
 */
export function listWord(
  scope: Scope,
  compared: Compared,
  word: FilterOperator,
  given: Given,
): Sql {
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
