import type { GraphQLInputField, GraphQLInputObjectType } from 'graphql';
import { didYouMean } from '../did-you-mean.ts';
import type { Refusal } from './shapes.ts';

/** A field, a member of an input, or a value of an enum. */
interface Member {
  readonly astNode?: { readonly name: Refusal['node'] } | null | undefined;
}

/** AGGREGATE_FIELD: why an aggregate, a group or one of its inputs cannot have a member. */
export function memberRefusal({ astNode }: Member, why: string, fix?: string): Refusal {
  const node = astNode?.name;
  return { code: 'AGGREGATE_FIELD', why, ...(fix && { fix }), ...(node && { node }) };
}

/** The refusal of a member of an input whose name is none of those that it can have. */
export const noneOf = (
  { name: owner }: GraphQLInputObjectType,
  field: GraphQLInputField,
  known: readonly string[],
): Refusal =>
  memberRefusal(
    field,
    `${owner}.${field.name} is none of ${known.join(', ')}`,
    didYouMean(field.name, known),
  );

/** The first refusal among the items; undefined when none is refused. */
export function firstRefusal<Item>(
  items: readonly Item[],
  refusalOf: (item: Item) => Refusal | undefined,
): Refusal | undefined {
  for (const item of items) {
    const refusal = refusalOf(item);
    if (refusal) return refusal;
  }
  return undefined;
}
