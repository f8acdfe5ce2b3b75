import { getNamedType, isInputObjectType, isRequiredArgument } from 'graphql';
import type { GraphQLArgument, GraphQLInputObjectType } from 'graphql';
import type { RowKey, WriteAt } from '../model.ts';
import type { EntityFact, FieldFact } from './facts.ts';
import type { Inferred } from './infer-query.ts';
import { namedColumn } from './named-columns.ts';
import { answerOf } from './returns.ts';
import { Refusal, type Shapes } from './shapes.ts';
import { columnsOf, keyOfInput, keysAmong } from './unique-keys.ts';
import { assertSet } from './unset-columns.ts';
import { inputShape } from './write-shapes.ts';

interface Call {
  readonly by: RowKey;
  readonly create: WriteAt;
  readonly update: WriteAt;
}

/**
 * `upsertTag(where:, create:, update:)`, or `upsertProfile(input:)` by the unique key that the input
 * contains.
 */
export function inferUpsert(shapes: Shapes, field: FieldFact, entity: EntityFact): Inferred {
  const returns = answerOf(shapes, field, entity, 'UPDATE');
  const args = field.field.args.filter(({ name }) => name !== 'clientMutationId');
  const [only] = args;
  const call =
    args.length === 1 && only
      ? oneInput(shapes, field, entity, only)
      : twoInputs(shapes, entity, args);
  const given = call.by.length === 1 ? columnsOf(call.by) : [];
  assertSet(shapes, entity, shapes.writes.get(call.create.write), given);
  return { action: { kind: 'upsert', entity: entity.name, ...call, returns }, decidedBy: 'upsert' };
}

function oneInput(
  shapes: Shapes,
  { directives }: FieldFact,
  entity: EntityFact,
  { name, type }: GraphQLArgument,
): Call {
  const input = getNamedType(type);
  if (!isInputObjectType(input)) throw new Refusal(`${name} has to be an input type`);
  const fields = Object.values(input.getFields());
  const keys = keysAmong(shapes, entity, fields, `${name}.`);
  const chosen = directives.resolve?.by;
  const by = chosen ? keys.filter((key) => isNamed(shapes, entity, key, chosen)) : keys;
  const [key] = by;
  if (by.length > 1) throw ambiguous(input, by, name);
  if (!key)
    throw new Refusal(
      `${input.name} contains no ${chosen ? chosen.join() : 'unique key'} of ${entity.name}`,
    );
  const isId = Object.entries(key).find(([, column]) => column === 'id')?.[0];
  const shape = inputShape(shapes, input, entity, isId ? [isId.slice(name.length + 1)] : []);
  const write = { write: shape.id, input: name };
  return { by, create: write, update: write };
}

/** Whether a key has the fields that `@resolve(by:)` names. */
function isNamed(
  shapes: Shapes,
  entity: EntityFact,
  key: RowKey[number],
  names: readonly string[],
): boolean {
  const wanted = names.map((name) => namedColumn(shapes, entity, name)?.column).sort();
  return wanted.join() === Object.values(key).sort().join();
}

function ambiguous(input: GraphQLInputObjectType, keys: RowKey, prefix: string): Refusal {
  const names = keys.map((key) => Object.keys(key).map((path) => path.slice(prefix.length + 1)));
  const others = names.find((key) => key.join() !== 'id') ?? names[0];
  const listed = names.map((key) => key.join(' and ')).join(', ');
  return new Refusal(`${input.name} contains the keys ${listed}`, {
    code: 'UPSERT_KEY_AMBIGUOUS',
    resolve: { as: 'UPSERT', by: JSON.stringify(others) },
  });
}

/**
 * The inputs `where`, `create` and `update`. In place of `where`, required arguments beside them
 * may be the key.
 */
function twoInputs(shapes: Shapes, entity: EntityFact, args: readonly GraphQLArgument[]): Call {
  const [create, update] = ['create', 'update'].map((name) =>
    args.find((argument) => argument.name === name),
  );
  const rest = args.filter((argument) => argument !== create && argument !== update);
  if (!create || !update) throw new Refusal('it needs where, create and update, or one input');
  const by = keyOf(shapes, entity, rest);
  if (!by) throw new Refusal('no argument where, with unique fields, says which row');
  return { by, create: shapeAt(shapes, entity, create), update: shapeAt(shapes, entity, update) };
}

function keyOf(
  shapes: Shapes,
  entity: EntityFact,
  args: readonly GraphQLArgument[],
): RowKey | undefined {
  const [where] = args;
  if (args.length === 1 && where && isInputObjectType(getNamedType(where.type)))
    return keyOfInput(shapes, entity, where.type, `${where.name}.`);
  const required = args.filter(isRequiredArgument);
  const key = keysAmong(shapes, entity, required).find(
    (each) => Object.keys(each).length === args.length,
  );
  return key && [key];
}

function shapeAt(shapes: Shapes, entity: EntityFact, { name, type }: GraphQLArgument): WriteAt {
  const input = getNamedType(type);
  if (!isInputObjectType(input)) throw new Refusal(`${name} has to be an input type`);
  return { write: inputShape(shapes, input, entity).id, input: name };
}
