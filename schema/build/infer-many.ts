import { getNamedType, getNullableType, isInputObjectType, isListType } from 'graphql';
import type { GraphQLArgument } from 'graphql';
import type { Returns, WhichRows } from '../model.ts';
import type { EntityFact, FieldFact } from './facts.ts';
import { filterShape } from './filter-shapes.ts';
import type { Inference } from './infer-query.ts';
import { isKeyScalar } from './keys.ts';
import { answerOfMany } from './returns.ts';
import { isRefusal, type Refusal, type Shapes } from './shapes.ts';
import { unsetRefusal } from './unset-columns.ts';
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
): Inference {
  const returns = answerOfMany(shapes, field, entity);
  if (isRefusal(returns)) return returns;
  const args = field.field.args.filter(({ name }) => name !== 'clientMutationId');
  if (verb === 'CREATE_MANY') return createMany(shapes, entity, args, returns);
  const which = whichRows(shapes, entity, args);
  if (isRefusal(which)) return which;
  const rest = args.filter(({ name }) => name !== which.ids && name !== which.where?.arg);
  const common = { entity: entity.name, ...which, returns };
  if (verb === 'DELETE_MANY')
    return rest.length === 0
      ? { action: { kind: 'removeMany', ...common }, decidedBy: 'delete many' }
      : { why: `the argument ${rest[0]?.name} has no meaning for removing rows` };
  const write = inputOf(shapes, entity, rest, false);
  if (isRefusal(write)) return write;
  return { action: { kind: 'updateMany', ...common, ...write }, decidedBy: 'update many' };
}

function createMany(
  shapes: Shapes,
  entity: EntityFact,
  args: readonly GraphQLArgument[],
  returns: Returns,
): Inference {
  const skip = args.find(
    ({ name, type }) => name === 'skipDuplicates' && String(getNullableType(type)) === 'Boolean',
  );
  const write = inputOf(
    shapes,
    entity,
    args.filter((argument) => argument !== skip),
    true,
  );
  if (isRefusal(write)) return write;
  const shape = shapes.writes.get(write.write);
  const unset = shape && unsetRefusal(shapes, entity, shape);
  if (unset) return unset;
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
): { write: string; input: string } | Refusal {
  const [input, other] = args;
  const named = input && getNamedType(input.type);
  const wanted = list ? 'a list of input objects' : 'an input object';
  if (!input || !isInputObjectType(named) || isListType(getNullableType(input.type)) !== list)
    return { why: `its values have to be one argument, ${wanted}` };
  if (other) return { why: `the argument ${other.name} has no meaning here` };
  const shape = inputShape(shapes, named, entity);
  return isRefusal(shape) ? shape : { write: shape.id, input: input.name };
}

function whichRows(
  shapes: Shapes,
  entity: EntityFact,
  args: readonly GraphQLArgument[],
): WhichRows | Refusal {
  const ids = args.find(
    ({ name, type }) =>
      name === 'ids' &&
      isListType(getNullableType(type)) &&
      isKeyScalar(getNamedType(type).name, shapes.facts),
  );
  const where = args.find(({ name }) => name === 'where');
  if (ids) return { ids: ids.name };
  if (!where) return { why: 'no argument where or ids says which rows' };
  const shape = filterShape(shapes, getNamedType(where.type).name, entity);
  return isRefusal(shape) ? shape : { where: { arg: where.name, shape: shape.id } };
}
