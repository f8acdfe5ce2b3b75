import { getNamedType, getNullableType, isInputObjectType, isListType } from 'graphql';
import type { GraphQLInputField, GraphQLInputObjectType } from 'graphql';
import type { NestedParts, RowKey, Write, WriteShape } from '../model.ts';
import type { EntityFact, FieldFact } from './facts.ts';
import { isListEnd, Refusal, type Shapes } from './shapes.ts';
import { columnsOf, isById, keyOfInput, type Named } from './unique-keys.ts';
import { assertSet } from './unset-columns.ts';

/** The parts `connect`, `disconnect`, `create`, `update` … that the input declares. */
export function nestedWrite(
  shapes: Shapes,
  item: Named,
  field: FieldFact,
  shapeOf: ShapeOf,
): Write {
  const input = getNamedType(item.type);
  const link = shapes.links.byField.get(field);
  const target = shapes.facts.entities.get(link?.entity ?? '');
  if (!isInputObjectType(input) || !target || !link)
    throw new Refusal(`${item.name} cannot be set through several types`);
  const parent = link.kind === 'other' ? [link.key.column] : [];
  const nesting = {
    input: input.name,
    field,
    target,
    many: isListEnd(shapes, field),
    parent,
    shapeOf,
  };
  const parts = Object.values(input.getFields()).map((part) => readPart(shapes, part, nesting));
  return Object.assign({ kind: 'nested' as const, name: item.name, field: field.name }, ...parts);
}

/** Infers what an input type writes. It is passed in, because inputs may contain themselves. */
type ShapeOf = (shapes: Shapes, type: GraphQLInputObjectType, entity: EntityFact) => WriteShape;

interface Nesting {
  readonly shapeOf: ShapeOf;
  readonly input: string;
  readonly field: FieldFact;
  readonly target: EntityFact;
  readonly many: boolean;
  /** Columns of the other table that the relation itself fills in. */
  readonly parent: readonly string[];
}

function readPart(shapes: Shapes, part: GraphQLInputField, nesting: Nesting): NestedParts {
  const { input, field, many } = nesting;
  const { name } = part;
  const where = `${input}.${name}`;
  const known: readonly string[] = many ? OF_MANY : OF_ONE;
  if (!known.includes(name)) throw new Refusal(`${where} is not one of ${listed(known)}`);
  if (!many && (name === 'disconnect' || name === 'delete')) return flagPart(name, part, where);
  if (isListType(getNullableType(part.type)) !== many)
    throw new Refusal(
      `${where} has to be ${many ? 'a list' : 'a single object'}, as ${field.owner}.${field.name} is`,
    );
  const named = getNamedType(part.type);
  if (!isInputObjectType(named)) throw new Refusal(`${where} has to be an input type`);
  switch (name) {
    case 'create':
      return { create: createPart(shapes, part, nesting, nesting.parent) };
    case 'connectOrCreate':
      return { connectOrCreate: connectOrCreatePart(shapes, name, named, nesting) };
    case 'update':
      return { update: updatePart(shapes, name, named, nesting) };
    default:
      return keyPart(shapes, name as KeyPart, named, nesting);
  }
}

const OF_ONE = ['connect', 'disconnect', 'create', 'connectOrCreate', 'update', 'delete'];
const OF_MANY = [...OF_ONE, 'set'];

type KeyPart = 'connect' | 'disconnect' | 'set' | 'delete';

const listed = (words: readonly string[]) => `${words.slice(0, -1).join(', ')} and ${words.at(-1)}`;

/** Reads `disconnect: true` and `delete: true` of a single object. */
function flagPart(name: string, { type }: GraphQLInputField, where: string): NestedParts {
  if (getNamedType(type).name !== 'Boolean' || isListType(getNullableType(type)))
    throw new Refusal(`${where} has to be a Boolean: there is one row`);
  return { [name]: name };
}

function createPart(
  shapes: Shapes,
  { name, type }: GraphQLInputField,
  { target, shapeOf }: Nesting,
  given: readonly string[],
): NonNullable<NestedParts['create']> {
  const named = getNamedType(type);
  if (!isInputObjectType(named)) throw new Refusal(`${name} has to be an input type`);
  const shape = shapeOf(shapes, named, target);
  if (!shapes.open.has(shape.id)) assertSet(shapes, target, shape, given);
  return { name, shape: shape.id };
}

function keyPart(
  shapes: Shapes,
  name: KeyPart,
  input: GraphQLInputObjectType,
  { target }: Nesting,
): NestedParts {
  const by = keyOfInput(shapes, target, input);
  if (!by) throw new Refusal(`${input.name} has to be { id: ID! }, or other unique fields`);
  return { [name]: name, ...(!isById(by) && { [`${name}By`]: by }) };
}

function connectOrCreatePart(
  shapes: Shapes,
  name: string,
  input: GraphQLInputObjectType,
  nesting: Nesting,
): NonNullable<NestedParts['connectOrCreate']> {
  const { where, create, ...others } = input.getFields();
  if (!where || !create || Object.keys(others).length > 0)
    throw new Refusal(`${nesting.input}.${name} has to be { where: …, create: … }`);
  const by = whereOf(shapes, input, where, nesting);
  const made = createPart(shapes, create, nesting, [...nesting.parent, ...givenBy(by)]);
  return { name, by, create: made };
}

function whereOf(
  shapes: Shapes,
  input: GraphQLInputObjectType,
  where: GraphQLInputField,
  { target }: Nesting,
): RowKey {
  const by = keyOfInput(shapes, target, where.type, 'where.');
  if (by) return by;
  throw new Refusal(`${input.name}.where has to hold unique fields of ${target.name}`);
}

/** `{ where: { id }, data: {…} }` of a list, and the input itself of a single object. */
function updatePart(
  shapes: Shapes,
  name: string,
  input: GraphQLInputObjectType,
  nesting: Nesting,
): NonNullable<NestedParts['update']> {
  const { target, shapeOf, many } = nesting;
  if (!many) return { name, shape: shapeOf(shapes, input, target).id };
  const { where, data, ...others } = input.getFields();
  const values = data && getNamedType(data.type);
  if (!where || !isInputObjectType(values) || Object.keys(others).length > 0)
    throw new Refusal(`${nesting.input}.${name} has to be { where: …, data: … }`);
  const by = whereOf(shapes, input, where, nesting);
  const shape = shapeOf(shapes, values, target).id;
  return { name, shape, where: 'where', data: 'data', ...(!isById(by) && { by }) };
}

/**
 * The fields by which a row is named. If it does not exist, it is created with them. With several
 * possible keys, the caller gives only one.
 */
const givenBy = (by: RowKey): string[] => (by.length === 1 ? columnsOf(by) : []);
