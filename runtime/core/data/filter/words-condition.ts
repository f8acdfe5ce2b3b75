import type { FilterWord } from '@twofold/schema';
import { not } from '../words/comparison.ts';
import type { Compared } from '../words/compared.ts';
import { sql, type Sql } from '../sql/fragment.ts';
import { and, or, type Scope } from '../sql/scope.ts';
import type { Beside, Given } from '../sql/given.ts';
import { wordSql } from '../words/words.ts';

/** Where a value stands in the arguments of a node. */
export interface ArgumentPosition {
  readonly call: number;
  readonly path: readonly (string | number)[];
}

/** A value of the arguments, in the form that operators compare with. */
export const givenAt = ({ call, path }: ArgumentPosition, value: unknown): Given => ({
  field: path.slice(1).join('.'),
  value,
  parameter: (as) => ({ from: 'call', call, path, as }),
});

/** The items of an input list with their paths, or the single object that some schemas declare. */
export function itemsOf(
  value: unknown,
  path: ArgumentPosition['path'],
): [unknown, ArgumentPosition['path']][] {
  if (!Array.isArray(value)) return [[value, path]];
  return value.flatMap((item, index): [unknown, ArgumentPosition['path']][] =>
    item === null ? [] : [[item, [...path, index]]],
  );
}

/** An operator that joins conditions. */
export type LogicalWord = 'and' | 'or' | 'not';

export const isLogical = (word: string): word is LogicalWord =>
  word === 'and' || word === 'or' || word === 'not';

/** SQL for the words and, or and not. `and` of nothing is true, and `or` of nothing is false. */
export function logicalSql(word: LogicalWord, conditions: readonly Sql[]): Sql {
  if (word === 'and') return and(conditions) ?? sql`true`;
  return word === 'or' ? or(conditions) : not(or(conditions));
}

/**
 * The condition that a value meets all operators of an input; undefined for an input without one.
 *
 * @param words the words that the input declares.
 */
export function wordsCondition(
  scope: Scope,
  compared: Compared,
  words: readonly FilterWord[],
  value: unknown,
  place: ArgumentPosition & Beside,
): Sql | undefined {
  if (value === null) return wordSql(scope, compared, 'eq', givenAt(place, null));
  const input = value as Readonly<Record<string, unknown>>;
  const at = (word: string): ArgumentPosition => ({
    call: place.call,
    path: [...place.path, word],
  });
  const beside = besideOf(input, at, place);
  const one = (word: FilterWord): Sql | undefined => {
    const given = input[word];
    if (given === undefined || word === 'mode' || word === 'path') return undefined;
    if (!isLogical(word)) return wordSql(scope, compared, word, givenAt(at(word), given), beside);
    if (given === null) return undefined;
    const inner = itemsOf(given, at(word).path).map(
      ([item, path]) =>
        wordsCondition(scope, compared, words, item, { ...beside, call: place.call, path }) ??
        sql`true`,
    );
    return logicalSql(word, inner);
  };
  return and(words.map(one));
}

/**
 * The members that say how an input's operators compare; those of the outer input where it has
 * none.
 */
function besideOf(
  { mode, path }: Readonly<Record<string, unknown>>,
  at: (word: string) => ArgumentPosition,
  outer: Beside,
): Beside {
  return {
    fold: isThere(mode) ? isInsensitive(mode) : (outer.fold ?? false),
    way: isThere(path) ? givenAt(at('path'), path) : outer.way,
  };
}

const isThere = (value: unknown) => value !== undefined && value !== null;

/** Whether `mode` has the value that ignores case: `INSENSITIVE`, in any spelling of the schema. */
export const isInsensitive = (mode: unknown): boolean => /^insensitive$/i.test(String(mode ?? ''));
