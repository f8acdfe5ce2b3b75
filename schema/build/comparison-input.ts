import { getNamedType, type GraphQLInputField, type GraphQLInputObjectType } from 'graphql';
import { didYouMean } from '../did-you-mean.ts';
import type { FilterWord } from '../model.ts';
import { knownWord, LIST_OPERATORS, LOGICAL, meantWord, OPERATORS, WORDS } from './filter-words.ts';
import { Refusal, type UnknownWord } from './shapes.ts';

/** The form of the compared value. It decides which operators there are. */
export type ComparedForm = 'scalar' | 'list' | 'json' | 'none';

const ALLOWED: Readonly<Record<ComparedForm, readonly FilterWord[]>> = {
  scalar: [...OPERATORS, 'mode', ...LOGICAL],
  list: [...LIST_OPERATORS, ...LOGICAL],
  json: WORDS,
  none: ['isNull', ...LOGICAL],
};

const ABOUT: Readonly<Record<ComparedForm, string>> = {
  scalar: 'a single value',
  list: 'a list',
  json: 'JSON',
  none: 'a list of objects',
};

/**
 * The operators of a field's input.
 *
 * @example wordsOf(stringFilter, 'PostFilter.title', 'scalar') // ['eq', 'contains', 'mode']
 */
export function wordsOf(
  input: GraphQLInputObjectType,
  place: string,
  about: ComparedForm,
): readonly FilterWord[] {
  const fields = Object.values(input.getFields());
  const foreign = fields.filter((field) => !isWord(field, input));
  const some = fields.some(({ name }) => isOurs(name) || knownWord(name) !== undefined);
  const [first] = foreign;
  if (first) throw some ? wordsRefusal(input, foreign) : noWord(input, first);
  const words = fields.map(({ name }) => name as FilterWord);
  const odd = words.find((word) => !ALLOWED[about].includes(word));
  if (odd === undefined) return words;
  throw new Refusal(
    `${input.name}.${odd} is not about ${ABOUT[about]}, and ${place} is: ${ALLOWED[about].join(' ')}`,
  );
}

const isOurs = (name: string): name is FilterWord => WORDS.some((word) => word === name);

/**
 * Whether a member is an operator. `not` of a type other than the input itself is Prisma's name for
 * `ne`.
 */
const isWord = ({ name, type }: GraphQLInputField, input: GraphQLInputObjectType): boolean =>
  isOurs(name) && (!LOGICAL.some((word) => word === name) || getNamedType(type) === input);

const noWord = (input: GraphQLInputObjectType, { name }: GraphQLInputField): Refusal =>
  new Refusal(`${input.name}.${name} is no comparison we know: ${OPERATORS.join(' ')}`, {
    fix: didYouMean(name, OPERATORS),
  });

/** The refusal of an input that is a filter apart from unknown operators. */
export function wordsRefusal(
  input: GraphQLInputObjectType,
  fields: readonly GraphQLInputField[],
): Refusal {
  const words = fields.map((field) => unknownWord(`${input.name}.${field.name}`, field));
  const [first] = words;
  return new Refusal(`${first?.coordinate} is no word of a filter`, { code: 'FILTER_WORD', words });
}

/** @param field the member of an input, or the argument of a field. */
export function unknownWord(
  coordinate: string,
  { name, astNode }: Pick<GraphQLInputField, 'name'> & { readonly astNode?: unknown },
): UnknownWord {
  return {
    coordinate,
    at: (astNode as GraphQLInputField['astNode'])?.name,
    fix: name === 'not' ? 'write ne' : meantWord(name, WORDS),
  };
}
