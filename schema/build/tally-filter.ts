import { getNamedType, getNullableType, isInputObjectType, isListType } from 'graphql';
import type { GraphQLInputField } from 'graphql';
import type { Filter, FilterOperator } from '../model.ts';
import { tallyUse } from './tallies.ts';
import type { FieldFact } from './facts.ts';
import { wordsRefusal } from './comparison-input.ts';
import { knownWord, OPERATORS } from './filter-words.ts';
import { Refusal } from './shapes.ts';

const SCALARS = { count: 'Int', exists: 'Boolean' } as const;

const WORDS = {
  count: OPERATORS.filter((word) => !/^(?:contains|startsWith|endsWith)$/.test(word)),
  exists: ['eq', 'ne', 'in', 'notIn', 'isNull'],
} as const satisfies Record<string, readonly FilterOperator[]>;

/**
 * The filter of a field with `@count` or `@exists`; undefined for any other field.
 *
 * @param place of the filter's field, for messages.
 * @example tallyFilter(commentsCount, field, 'PostFilter.commentsCount') // { kind: 'tally', name: 'commentsCount', … }
 */
export function tallyFilter(
  of: FieldFact | undefined,
  { name, type }: GraphQLInputField,
  place: string,
): Filter | undefined {
  const use = of && tallyUse(of);
  if (!use) return undefined;
  const named = getNamedType(type);
  if (isListType(getNullableType(type)))
    throw new Refusal(`${place} is a list; write an input with "in" for it`);
  if (!isInputObjectType(named)) {
    if (named.name === SCALARS[use.of]) return { kind: 'tally', name, field: of.name };
    throw new Refusal(`${place} is ${named.name}, and the field is ${SCALARS[use.of]}`);
  }
  const words: readonly string[] = WORDS[use.of];
  const fields = Object.values(named.getFields());
  const operators = fields.map((field) => field.name);
  const foreign = fields.filter((field) => knownWord(field.name) !== undefined);
  if (foreign.length > 0) throw wordsRefusal(named, foreign);
  const unknown = operators.find((word) => !words.includes(word));
  if (unknown === undefined)
    return { kind: 'tally', name, field: of.name, operators: operators as FilterOperator[] };
  throw new Refusal(
    `${named.name}.${unknown} is no comparison of a ${SCALARS[use.of]}: ${words.join(' ')}`,
  );
}
