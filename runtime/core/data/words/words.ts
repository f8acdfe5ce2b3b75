import type { FilterOperator } from '@twofold/schema';
import { failure } from '../../errors.ts';
import { CONTAINS_TEXT } from '../../store/sqlite/contains-text.ts';
import { binary, foldedSql, LONGEST_PART, noNull, not } from './comparison.ts';
import type { Compared } from './compared.ts';
import { sql, valueSql, type Sql } from '../sql/fragment.ts';
import type { Beside, Given } from '../sql/given.ts';
import { jsonWord } from './json-words.ts';
import { isAmong } from '../sql/key-conditions.ts';
import { listWord } from './list-words.ts';
import type { Scope } from '../sql/scope.ts';
import type { Stored } from '../sql/values.ts';

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
  const own = foldedSql(scope, as.databaseType === undefined ? value : castText(value));
  const other = foldedSql(scope, sql`${given.parameter(TEXT)}`);
  // `CONTAINS_TEXT` names the folded text once. With `instr` SQLite would fold it for each use.
  if (word === 'contains' && scope.dialect === 'sqlite')
    return sql`${CONTAINS_TEXT}(${own}, ${other})`;
  if (word !== 'in' && word !== 'notIn') return binary(scope, own, word, other, false);
  const list = given.parameter({ ...TEXT, many: true });
  const rows =
    scope.dialect === 'sqlite'
      ? sql`select ${foldedSql(scope, sql`value`)} from json_each(${list})`
      : sql`select ${foldedSql(scope, sql`value`)} from unnest(${list}::text[]) as given(value)`;
  return amongWord(compared, word, given, sql`${own} in (${rows})`);
}
