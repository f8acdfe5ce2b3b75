import type { FilterOperator } from '@twofold/schema';
import { failure } from '../../errors.ts';
import { STEP_FUNCTION } from '../../store/bounds.ts';
import { CONTAINS_TEXT } from '../../store/sqlite/contains-text.ts';
import { FOLD_TEXT } from '../../store/sqlite/fold-text.ts';
import { sql, type Sql } from '../sql/fragment.ts';
import type { Scope } from '../sql/scope.ts';

/** The opposite of a condition. It holds where the condition is unknown, too. */
export const not = (condition: Sql): Sql => sql`(${condition}) is not true`;

/** Compares a column with a value that is not null. */
export function binary(
  scope: Scope,
  column: Sql,
  operator: FilterOperator,
  value: Sql,
  decimal: boolean,
): Sql {
  const sqlite = scope.dialect === 'sqlite';
  // SQLite keeps decimals as text, which does not sort like numbers.
  const [left, right] =
    sqlite && decimal
      ? [sql`cast(${column} as numeric)`, sql`cast(${value} as numeric)`]
      : [column, value];
  switch (operator) {
    case 'eq':
      return sql`${left} = ${right}`;
    case 'ne':
      // A text that cannot be a key was bound as null. `ne` then holds for every row, as the
      // opposite of `eq`.
      return not(sql`${left} = ${right}`);
    case 'lt':
      return sql`${left} < ${right}`;
    case 'lte':
      return sql`${left} <= ${right}`;
    case 'gt':
      return sql`${left} > ${right}`;
    case 'gte':
      return sql`${left} >= ${right}`;
    case 'contains':
      return containsSql(scope, column, value);
    case 'startsWith':
      return sqlite
        ? sql`substr(${column}, 1, length(${value})) = ${value}`
        : sql`starts_with(${column}, ${value})`;
    case 'endsWith':
      return sqlite
        ? sql`(substr(${column}, -length(${value}), length(${value})) = ${value} or (${value} = '' and ${column} is not null))`
        : sql`right(${column}, length(${value})) = ${value}`;
    default:
      throw failure.invalid(`${operator} is not an operator`);
  }
}

/** `instr` finds a part of at most this many bytes fast, whatever the text is. */
const SMALL_PART = 64;

/** The most characters of a text that `contains` looks for. */
export const LONGEST_PART = 5000;

/** Characters of a text that PostgreSQL looks through before it asks whether to go on. */
const PIECE = 20_000;

/** How many calls of `instr` a statement makes for one row before it asks whether to go on. */
const FEW_PARTS = 4;

/** Bytes of a text that `instr` looks through in about the time in which a row is found. */
const SMALL_TEXT = 65_536;

/**
 * SQLite's `instr` takes seconds to look for 50 KB in 1 MB when nearly all letters are equal, and
 * nothing can end it meanwhile. Short parts stay with it: what a function of ours gets is kept in
 * memory until the statement ends. The length of a parameter is worked out once for all rows.
 *
 * @param text the column, or what is made of it: it is worked out once
 */
export function containsSql(scope: Scope, column: Sql, part: Sql, text = column): Sql {
  if (scope.dialect === 'postgres') return strposSql(text, part);
  const goesOn =
    scope.part() > FEW_PARTS
      ? sql`case when octet_length(${column}) < ${String(SMALL_TEXT)} then 1 else ${STEP_FUNCTION}() end and `
      : sql``;
  return sql`case when octet_length(${part}) > ${String(SMALL_PART)} then ${CONTAINS_TEXT}(${text}, ${part}) else ${goesOn}instr(${text}, ${part}) > 0 end`;
}

/**
 * PostgreSQL's `strpos` is slow for the same texts. So the text is searched in pieces that overlap
 * by the length of the part: each takes at most 0.1 s, and the statement can be ended between them.
 */
function strposSql(text: Sql, part: Sql): Sql {
  const once = sql`select ${text} || '' as whole, ${part} as part offset 0`;
  const pieces = sql`generate_series(1, length(whole), ${String(PIECE)}) as start`;
  const hit = sql`strpos(substr(whole, start, ${String(PIECE)} + length(part)), part) > 0`;
  const ended = sql`exists (select from (${once}) as looked, ${pieces} where ${hit})`;
  return sql`(case when octet_length(${part}) > ${String(SMALL_PART)} then ${ended} else strpos(${text}, ${part}) > 0 end)`;
}

/**
 * A text in small letters. Only letters of Latin, Greek and Cyrillic change, so that both databases
 * give the same result. The order of texts stays the one of the database. SQLite knows ASCII itself,
 * and keeps nothing of it, see `ReadText`.
 */
export function foldedSql({ dialect }: Pick<Scope, 'dialect'>, text: Sql): Sql {
  return dialect === 'sqlite'
    ? sql`case when octet_length(${text}) <> length(${text}) then ${FOLD_TEXT}(${text}) else lower(${text}) end`
    : sql`(translate(lower(cast(${text} as text) collate "und-x-icu"), 'ς', 'σ') collate "default")`;
}

/** The error for an operator that does not take null. */
export const noNull = ({ field }: { readonly field: string }) =>
  failure.invalid(`${field} must not be null: write eq: null or ne: null`, {
    extensions: { field },
  });
