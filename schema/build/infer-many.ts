import { getNamedType, getNullableType, isInputObjectType, isListType } from 'graphql';
import type { GraphQLArgument } from 'graphql';
import type { Returns, WhichRows } from '../model.ts';
import type { EntityFact, FieldFact } from './facts.ts';
import { filterShape } from './filter-shapes.ts';
import type { Inferred } from './infer-query.ts';
import { isKeyScalar } from './keys.ts';
import { answerOfMany } from './returns.ts';
import { Refusal, type Shapes } from './shapes.ts';
import { assertSet } from './unset-columns.ts';
import { inputShape } from './write-shapes.ts';

const MANY = ['CREATE_MANY', 'UPDATE_MANY', 'DELETE_MANY'] as const;

export type ManyVerb = (typeof MANY)[number];

export const isMany = (verb: string): verb is ManyVerb => MANY.some((many) => many === verb);

/**
 * `createTags(input: [NewTag!]!, skipDuplicates: Boolean)`, `updateTags(where:, input:)`,
 * `deleteTags(where:)` and `deleteTags(ids:)`.
 */
export function inferMany(
  shapes: Shapes,
  field: FieldFact,
  entity: EntityFact,
  verb: ManyVerb,
): Inferred {
  const returns = answerOfMany(shapes, field, entity);
  const args = field.field.args.filter(({ name }) => name !== 'clientMutationId');
  if (verb === 'CREATE_MANY') return createMany(shapes, entity, args, returns);
  const which = whichRows(shapes, entity, args);
  const rest = args.filter(({ name }) => name !== which.ids && name !== which.where?.arg);
  const common = { entity: entity.name, ...which, returns };
  if (verb === 'DELETE_MANY') {
    if (rest.length === 0)
      return { action: { kind: 'removeMany', ...common }, decidedBy: 'delete many' };
    throw new Refusal(`the argument ${rest[0]?.name} has no meaning for removing rows`);
  }
  const write = inputOf(shapes, entity, rest, false);
  return { action: { kind: 'updateMany', ...common, ...write }, decidedBy: 'update many' };
}

function createMany(
  shapes: Shapes,
  entity: EntityFact,
  args: readonly GraphQLArgument[],
  returns: Returns,
): Inferred {
  const skip = args.find(
    ({ name, type }) => name === 'skipDuplicates' && String(getNullableType(type)) === 'Boolean',
  );
  const write = inputOf(
    shapes,
    entity,
    args.filter((argument) => argument !== skip),
    true,
  );
  assertSet(shapes, entity, shapes.writes.get(write.write));
  const skipping = skip && { skipDuplicates: skip.name };
  return {
    action: { kind: 'createMany', entity: entity.name, ...write, ...skipping, returns },
    decidedBy: 'create many',
  };
}

/** The one input: a list of objects for new rows, one object for changes. */
function inputOf(
  shapes: Shapes,
  entity: EntityFact,
  args: readonly GraphQLArgument[],
  list: boolean,
): { write: string; input: string } {
  const [input, other] = args;
  const named = input && getNamedType(input.type);
  const wanted = list ? 'a list of input objects' : 'an input object';
  if (!input || !isInputObjectType(named) || isListType(getNullableType(input.type)) !== list)
    throw new Refusal(`its values have to be one argument, ${wanted}`);
  if (other) throw new Refusal(`the argument ${other.name} has no meaning here`);
  return { write: inputShape(shapes, named, entity).id, input: input.name };
}

function whichRows(
  shapes: Shapes,
  entity: EntityFact,
  args: readonly GraphQLArgument[],
): WhichRows {
  const ids = args.find(
    ({ name, type }) =>
      name === 'ids' &&
      isListType(getNullableType(type)) &&
      isKeyScalar(getNamedType(type).name, shapes.facts),
  );
  const where = args.find(({ name }) => name === 'where');
  if (ids) return { ids: ids.name };
  if (!where) throw new Refusal('no argument where or ids says which rows');
  const { id } = filterShape(shapes, getNamedType(where.type).name, entity);
  return { where: { arg: where.name, shape: id } };
}
