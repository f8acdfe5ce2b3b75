import { getNamedType, getNullableType, isInputObjectType, isRequiredArgument } from 'graphql';
import type { GraphQLArgument, GraphQLInputObjectType } from 'graphql';
import type { ArgumentPath, RowKey } from '../model.ts';
import { pascalCase } from '../names.ts';
import { remembered } from '../remembered.ts';
import type { EntityFact, FieldFact } from './facts.ts';
import { inferMany, isMany, type ManyVerb } from './infer-many.ts';
import type { Inferred } from './infer-query.ts';
import { inferUpsert } from './infer-upsert.ts';
import { isKeyScalar, namesKey, soleKey } from './keys.ts';
import { answeredEntity } from './result-types.ts';
import { answerOf } from './returns.ts';
import { Refusal, type Shapes } from './shapes.ts';
import { isById, keyOfInput, keysAmong } from './unique-keys.ts';
import { assertSet, isVersion } from './unset-columns.ts';
import { inputShape, source, writeShape, type WriteSource } from './write-shapes.ts';

type Verb = 'CREATE' | 'UPDATE' | 'DELETE';

/** The kinds of mutations that `@resolve(as:)` can name. */
export type MutationVerb = Verb | 'UPSERT' | ManyVerb;

const VERBS: ReadonlyMap<string, Verb | 'UPSERT'> = new Map([
  ['create', 'CREATE'],
  ['add', 'CREATE'],
  ['insert', 'CREATE'],
  ['update', 'UPDATE'],
  ['edit', 'UPDATE'],
  ['patch', 'UPDATE'],
  ['delete', 'DELETE'],
  ['remove', 'DELETE'],
  ['destroy', 'DELETE'],
  ['upsert', 'UPSERT'],
]);

/**
 * The action of a field of Mutation, by its name and signature: `createUser`, `userCreate`,
 * `updateUser`, `deleteUser`, `upsertUser`, `createUsers` and similar.
 *
 * @example
 * inferMutation(shapes, field) // { action: { kind: 'create', entity: 'User', write: 'CreateUserInput:User', … }, decidedBy: 'create' }
 */
export function inferMutation(
  shapes: Shapes,
  field: FieldFact,
  forced?: MutationVerb,
): Inferred | undefined {
  const named = verbAndEntity(shapes, field.name);
  const verb = forced ?? named?.verb;
  const written = field.directives.resolve?.of;
  const entity =
    (written === undefined ? named?.entity : undefined) ?? (forced && forcedEntity(shapes, field));
  if (!verb || !entity) {
    if (forced) throw new Refusal(unknownEntity(written));
    return undefined;
  }
  if (isMany(verb)) return inferMany(shapes, field, entity, verb);
  return verb === 'UPSERT'
    ? inferUpsert(shapes, field, entity)
    : inferOne(shapes, field, entity, verb);
}

function inferOne(shapes: Shapes, field: FieldFact, entity: EntityFact, verb: Verb): Inferred {
  const returns = answerOf(shapes, field, entity, verb);
  const call = callOf(shapes, field, entity, verb);
  const common = { entity: entity.name, returns };
  const decidedBy = verb.toLowerCase();
  const which = whichOf(call);
  if (verb !== 'CREATE' && !which) throw new Refusal(noRow(entity));
  if (verb === 'DELETE') {
    const version = versionAmong(field.field.args, entity);
    const checked = version && { version: version.name };
    return { action: { kind: 'remove', ...common, ...which, ...checked }, decidedBy };
  }
  const write = {
    write: call.write,
    ...(call.input !== undefined && { input: call.input }),
    ...(call.beside && { beside: call.beside }),
  };
  if (verb === 'UPDATE')
    return { action: { kind: 'update', ...common, ...write, ...which }, decidedBy };
  assertSet(shapes, entity, shapes.writes.get(call.write));
  return { action: { kind: 'create', ...common, ...write }, decidedBy };
}

const noRow = ({ fields }: EntityFact) =>
  [...fields.values()].some(({ directives }) => directives.unique)
    ? 'no argument id, and no unique field, says which row'
    : 'no argument id says which row';

const unknownEntity = (written: string | undefined) =>
  written === undefined ? 'nothing says which type it is about' : `there is no entity ${written}`;

/**
 * The verb and the entity in a name: `createBlogPost` and `blogPostCreate`. The plural means
 * several rows.
 */
function verbAndEntity(
  { facts }: Shapes,
  name: string,
): { verb: MutationVerb; entity: EntityFact } | undefined {
  for (const [word, verb] of VERBS) {
    const suffix = word.charAt(0).toUpperCase() + word.slice(1);
    const rests = [
      ...(name.startsWith(word) ? [name.slice(word.length).replace(/^_/, '')] : []),
      ...(name.endsWith(suffix) ? [name.slice(0, -suffix.length)] : []),
    ];
    for (const rest of rests) {
      const entity = byPascal(facts.entities, rest);
      if (entity) return { verb, entity };
      const many = byPlural(facts.entities, rest);
      if (many && verb !== 'UPSERT') return { verb: `${verb}_MANY`, entity: many };
    }
  }
  return undefined;
}

function byPlural(entities: ReadonlyMap<string, EntityFact>, word: string): EntityFact | undefined {
  return word === '' ? undefined : plurals(entities).get(pascalCase(word));
}

/** Of two entities with the same plural, the first has it. */
const plurals = remembered(
  (entities: ReadonlyMap<string, EntityFact>) =>
    new Map(
      [...entities.values()].toReversed().map((entity) => [pascalCase(entity.plural), entity]),
    ),
);

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
  const direct = facts.entities.get(field.named.name) ?? answeredEntity(facts, field);
  if (direct) return direct;
  const inside = facts.types.get(field.named.name)?.type.getFields() ?? {};
  const named = Object.values(inside).flatMap(
    (part) => facts.entities.get(getNamedType(part.type).name) ?? [],
  );
  return named.length === 1 ? named[0] : undefined;
}

/** The arguments that say which row. */
interface Which {
  readonly id?: ArgumentPath;
  readonly by?: RowKey;
}

interface Call extends Which {
  readonly write: string;
  readonly input?: string;
  readonly beside?: readonly string[];
}

const whichOf = ({ id, by }: Which): Which | undefined =>
  id || by ? { ...(id && { id }), ...(by && { by }) } : undefined;

/** Where the arguments contain the key and the values: side by side, or in one input object. */
function callOf(shapes: Shapes, field: FieldFact, entity: EntityFact, verb: Verb): Call {
  const args = field.field.args.filter(({ name }) => name !== 'clientMutationId');
  const version = versionAmong(args, entity);
  const others = args.filter((argument) => argument !== version);
  const { names, ...found } =
    verb === 'CREATE' ? NO_KEY : keyArguments(shapes, others, entity, verb);
  const written = verb === 'DELETE' ? others : args;
  const rest = written.filter(({ name }) => !names.includes(name));
  const sources = rest.map(({ name, type, astNode }) => source(name, type, astNode));
  const which = whichOf(found);
  const input = inputOf(sources, entity);
  if (input && input.beside.length === 0)
    return inputCall(shapes, input.name, input.type, entity, verb, which);
  if (input && verb !== 'DELETE') return besideCall(shapes, field, input, entity, which);
  if (verb === 'DELETE') {
    if (rest.length === 0) return { write: '', ...which };
    throw new Refusal(`the argument ${rest[0]?.name} has no meaning for removing a row`);
  }
  const owner = `${field.owner}.${field.name}`;
  const shape = writeShape(shapes, `${owner}:${entity.name}`, sources, entity, owner);
  return { write: shape.id, ...which };
}

/** The argument with the version that the caller has read. */
const versionAmong = (args: readonly GraphQLArgument[], entity: EntityFact) =>
  args.find(({ name, type }) => isVersion(entity, name) && String(getNullableType(type)) === 'Int');

/** The argument that has all values, and the computed ones and the version beside it. */
function inputOf(sources: readonly WriteSource[], entity: EntityFact) {
  const isBeside = ({ name, computed }: WriteSource) => computed || isVersion(entity, name);
  const [input, ...others] = sources.filter((each) => !isBeside(each));
  const type = input && getNamedType(input.type);
  if (!input || others.length > 0 || !isInputObjectType(type)) return undefined;
  const beside = sources.filter(isBeside);
  return isWhole(entity, input.name, type) ? { name: input.name, type, beside } : undefined;
}

/**
 * Whether an input has all values, and not those of a field that happens to have its name: the
 * input of a type with a field `input` has that field too.
 */
const isWhole = ({ fields }: EntityFact, name: string, type: GraphQLInputObjectType): boolean =>
  !fields.has(name) || name in type.getFields();

interface KeyArguments extends Which {
  /** The arguments that are the key, which are not written. */
  readonly names: readonly string[];
}

const NO_KEY: KeyArguments = { names: [] };

/**
 * The arguments that find a row: `id`, an input of unique fields, or required arguments that are
 * one unique key.
 */
function keyArguments(
  shapes: Shapes,
  args: readonly GraphQLArgument[],
  entity: EntityFact,
  verb: Verb,
): KeyArguments {
  const id = args.find((argument) => isKey(argument.name, entity) && isId(shapes, argument));
  if (id) return { id: [id.name], names: [id.name] };
  if (args.length > 1 || verb === 'DELETE')
    for (const { name, type } of args) {
      const by = keyOfInput(shapes, entity, type, `${name}.`);
      if (by && !(isById(by) && verb === 'DELETE' && name !== 'where'))
        return { by, names: [name] };
    }
  const required = args.filter(
    (argument) => isRequiredArgument(argument) && !isInputObjectType(getNamedType(argument.type)),
  );
  const key = keysAmong(shapes, entity, required).find(
    (each) => Object.keys(each).length === required.length,
  );
  return key ? { by: [key], names: Object.keys(key) } : NO_KEY;
}

function inputCall(
  shapes: Shapes,
  name: string,
  input: GraphQLInputObjectType,
  entity: EntityFact,
  verb: Verb,
  outer: Which | undefined,
): Call {
  const inner =
    outer || verb === 'CREATE'
      ? undefined
      : Object.values(input.getFields()).find(
          (part) => isKey(part.name, entity) && isId(shapes, part),
        );
  const which = outer ?? (inner && { id: [name, inner.name] });
  if (verb === 'DELETE') {
    const extra = Object.keys(input.getFields()).find(
      (part) => part !== inner?.name && part !== 'clientMutationId',
    );
    if (extra === undefined) return { write: '', input: name, ...which };
    throw new Refusal(`${input.name}.${extra} has no meaning for removing a row`);
  }
  const shape = inputShape(shapes, input, entity, inner ? [inner.name] : []);
  return { write: shape.id, input: name, ...which };
}

/** An input object, and arguments beside it: for hooks alone, or the version. */
interface InputBeside {
  readonly name: string;
  readonly type: GraphQLInputObjectType;
  readonly beside: readonly WriteSource[];
}

/**
 * A call whose input object has `@computed` arguments or the version beside it. Its shape has both,
 * under the name of the mutation; the row must be found by an argument of its own.
 */
function besideCall(
  shapes: Shapes,
  field: FieldFact,
  { name, type, beside }: InputBeside,
  entity: EntityFact,
  which: Which | undefined,
): Call {
  const members = Object.values(type.getFields());
  const taken = beside.find((each) => members.some((member) => member.name === each.name));
  if (taken)
    throw new Refusal(`the argument ${taken.name} has the name of a member of ${type.name}`);
  const sources = [
    ...members.map((member) => source(member.name, member.type, member.astNode)),
    // Their limits are checked as those of arguments.
    ...beside.map(({ name, type, computed = false }) => ({ name, type, computed })),
  ];
  const id = `${field.owner}.${field.name}:${entity.name}`;
  const shape = writeShape(shapes, id, sources, entity, type.name);
  const names = beside.map((each) => each.name);
  return { write: shape.id, input: name, beside: names, ...which };
}

function isKey(name: string, entity: EntityFact): boolean {
  return name === 'id' || name === soleKey(entity) || namesKey(name, entity);
}

function isId({ facts }: Shapes, argument: Pick<GraphQLArgument, 'type'>): boolean {
  return isKeyScalar(String(getNullableType(argument.type)), facts);
}
