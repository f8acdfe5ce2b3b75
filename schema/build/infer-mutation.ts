import { getNamedType, getNullableType, isInputObjectType } from 'graphql';
import type { GraphQLArgument, GraphQLInputObjectType } from 'graphql';
import type { ArgumentPath } from '../model.ts';
import { pascalCase } from '../names.ts';
import type { EntityFact, FieldFact } from './facts.ts';
import type { Inference } from './infer-query.ts';
import { isKeyScalar, namesKey } from './keys.ts';
import { answerOf } from './returns.ts';
import { isRefusal } from './shapes.ts';
import type { Refusal, Shapes } from './shapes.ts';
import { unsetRefusal } from './unset-columns.ts';
import { inputShape, source, writeShape } from './write-shapes.ts';
import type { WriteSource } from './write-shapes.ts';

type Verb = 'CREATE' | 'UPDATE' | 'DELETE';

const VERBS: ReadonlyMap<string, Verb> = new Map([
  ['create', 'CREATE'],
  ['add', 'CREATE'],
  ['insert', 'CREATE'],
  ['update', 'UPDATE'],
  ['edit', 'UPDATE'],
  ['patch', 'UPDATE'],
  ['delete', 'DELETE'],
  ['remove', 'DELETE'],
  ['destroy', 'DELETE'],
]);

/**
 * The action of a field of Mutation, by its name and signature: `createUser`, `userCreate`,
 * `updateUser`, `deleteUser` and similar.
 *
 * @example
 * inferMutation(shapes, field) // { action: { kind: 'create', entity: 'User', write: 'CreateUserInput:User', … }, decidedBy: 'create' }
 */
export function inferMutation(shapes: Shapes, field: FieldFact, forced?: Verb): Inference {
  const named = verbAndEntity(shapes, field.name);
  const verb = forced ?? named?.verb;
  const written = field.directives.resolve?.of;
  const entity =
    (written === undefined ? named?.entity : undefined) ?? (forced && forcedEntity(shapes, field));
  if (!verb || !entity) return forced ? { why: unknownEntity(written) } : undefined;
  const returns = answerOf(shapes, field, entity, verb);
  if (isRefusal(returns)) return returns;
  const call = callOf(shapes, field, entity, verb);
  if (isRefusal(call)) return call;
  const common = { entity: entity.name, returns };
  const decidedBy = verb.toLowerCase();
  if (verb === 'DELETE')
    return call.id
      ? { action: { kind: 'remove', ...common, id: call.id }, decidedBy }
      : { why: 'no argument id says which row' };
  const write = { write: call.write, ...(call.input !== undefined && { input: call.input }) };
  const shape = shapes.writes.get(call.write);
  const unset = verb === 'CREATE' && shape ? unsetRefusal(shapes, entity, shape) : undefined;
  if (unset) return unset;
  if (verb === 'CREATE') return { action: { kind: 'create', ...common, ...write }, decidedBy };
  return call.id
    ? { action: { kind: 'update', ...common, ...write, id: call.id }, decidedBy }
    : { why: 'no argument id says which row' };
}

const unknownEntity = (written: string | undefined) =>
  written === undefined ? 'nothing says which type it is about' : `there is no entity ${written}`;

/** `createBlogPost` and `blogPostCreate`. */
function verbAndEntity(
  { facts }: Shapes,
  name: string,
): { verb: Verb; entity: EntityFact } | undefined {
  for (const [word, verb] of VERBS) {
    const before = name.startsWith(word)
      ? (facts.entities.get(name.slice(word.length).replace(/^_/, '')) ??
        byPascal(facts.entities, name.slice(word.length)))
      : undefined;
    const suffix = word.charAt(0).toUpperCase() + word.slice(1);
    const after = name.endsWith(suffix)
      ? byPascal(facts.entities, name.slice(0, -suffix.length))
      : undefined;
    const entity = before ?? after;
    if (entity) return { verb, entity };
  }
  return undefined;
}

function byPascal(entities: ReadonlyMap<string, EntityFact>, word: string): EntityFact | undefined {
  return word === ''
    ? undefined
    : (entities.get(word.charAt(0).toUpperCase() + word.slice(1)) ??
        entities.get(pascalCase(word)) ??
        entities.get(word));
}

function forcedEntity({ facts }: Shapes, field: FieldFact): EntityFact | undefined {
  const written = field.directives.resolve?.of;
  if (written !== undefined) return facts.entities.get(written);
  const direct = facts.entities.get(field.named.name);
  if (direct) return direct;
  const inside = facts.types.get(field.named.name)?.type.getFields() ?? {};
  const named = Object.values(inside).flatMap(
    (part) => facts.entities.get(getNamedType(part.type).name) ?? [],
  );
  return named.length === 1 ? named[0] : undefined;
}

interface Call {
  readonly id?: ArgumentPath;
  readonly write: string;
  readonly input?: string;
}

/** Where the arguments contain the key and the values: side by side, or in one input object. */
function callOf(shapes: Shapes, field: FieldFact, entity: EntityFact, verb: Verb): Call | Refusal {
  const args = field.field.args.filter(({ name }) => name !== 'clientMutationId');
  const key =
    verb === 'CREATE'
      ? undefined
      : args.find((argument) => isKey(argument.name, entity) && isId(shapes, argument));
  const rest = args.filter((argument) => argument !== key);
  const [input] = rest;
  const named = input && getNamedType(input.type);
  const wrapped =
    rest.length === 1 && isInputObjectType(named) && !entity.fields.has(input?.name ?? '');
  const id = key && { id: [key.name] };
  if (wrapped && input && isInputObjectType(named))
    return inputCall(shapes, input.name, named, entity, verb, id);
  if (verb === 'DELETE')
    return rest.length === 0
      ? { write: '', ...id }
      : { why: `the argument ${rest[0]?.name} has no meaning for removing a row` };
  return argumentsCall(
    shapes,
    field,
    rest.map((argument) => source(argument.name, argument.type, argument.astNode)),
    entity,
    id,
  );
}

function inputCall(
  shapes: Shapes,
  name: string,
  input: GraphQLInputObjectType,
  entity: EntityFact,
  verb: Verb,
  outer: { id: ArgumentPath } | undefined,
): Call | Refusal {
  const inner =
    outer || verb === 'CREATE'
      ? undefined
      : Object.values(input.getFields()).find(
          (part) => isKey(part.name, entity) && isId(shapes, part),
        );
  const id = outer ?? (inner && { id: [name, inner.name] });
  if (verb === 'DELETE') {
    const extra = Object.keys(input.getFields()).find(
      (part) => part !== inner?.name && part !== 'clientMutationId',
    );
    return extra === undefined
      ? { write: '', input: name, ...id }
      : { why: `${input.name}.${extra} has no meaning for removing a row` };
  }
  const shape = inputShape(shapes, input, entity, inner ? [inner.name] : []);
  return isRefusal(shape) ? shape : { write: shape.id, input: name, ...id };
}

function argumentsCall(
  shapes: Shapes,
  field: FieldFact,
  sources: readonly WriteSource[],
  entity: EntityFact,
  id: { id: ArgumentPath } | undefined,
): Call | Refusal {
  const owner = `${field.owner}.${field.name}`;
  const shape = writeShape(shapes, `${owner}:${entity.name}`, sources, entity, owner);
  return isRefusal(shape) ? shape : { write: shape.id, ...id };
}

function isKey(name: string, entity: EntityFact): boolean {
  return name === 'id' || namesKey(name, entity);
}

function isId({ facts }: Shapes, argument: Pick<GraphQLArgument, 'type'>): boolean {
  return isKeyScalar(String(getNullableType(argument.type)), facts);
}
