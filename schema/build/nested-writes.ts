import { getNamedType, getNullableType, isInputObjectType, isListType } from 'graphql';
import type { GraphQLInputField, GraphQLInputObjectType } from 'graphql';
import type { RowKey, Write, WriteShape } from '../model.ts';
import type { EntityFact, FieldFact } from './facts.ts';
import { isRefusal, type Refusal, type Shapes } from './shapes.ts';
import { columnsOf, isById, keyOfInput, type Named } from './unique-keys.ts';
import { unsetRefusal } from './unset-columns.ts';

type Nested = Extract<Write, { kind: 'nested' }>;
type NestedWrite = { -readonly [K in keyof Nested]: Nested[K] };

/** The parts `connect`, `disconnect`, `create`, `update` … that the input declares. */
export function nestedWrite(
  shapes: Shapes,
  item: Named,
  field: FieldFact,
  shapeOf: ShapeOf,
): Write | Refusal {
  const input = getNamedType(item.type);
  const link = shapes.links.byField.get(field);
  const target = shapes.facts.entities.get(link?.entity ?? '');
  if (!isInputObjectType(input) || !target || !link)
    return { why: `${item.name} cannot be set through several types` };
  const write: NestedWrite = { kind: 'nested', name: item.name, field: field.name };
  const parent = link.kind === 'other' ? [link.key.column] : [];
  const nesting = {
    input: input.name,
    field,
    target,
    many: isListEnd(shapes, field),
    parent,
    shapeOf,
  };
  for (const part of Object.values(input.getFields())) {
    const refusal = addPart(shapes, write, part, nesting);
    if (refusal) return refusal;
  }
  return write;
}

/** Infers what an input type writes. It is passed in, because inputs may contain themselves. */
type ShapeOf = (
  shapes: Shapes,
  type: GraphQLInputObjectType,
  entity: EntityFact,
) => WriteShape | Refusal;

interface Nesting {
  readonly shapeOf: ShapeOf;
  readonly input: string;
  readonly field: FieldFact;
  readonly target: EntityFact;
  readonly many: boolean;
  /** Columns of the other table that the relation itself fills in. */
  readonly parent: readonly string[];
}

function addPart(
  shapes: Shapes,
  write: NestedWrite,
  part: GraphQLInputField,
  nesting: Nesting,
): Refusal | undefined {
  const { input, field, many } = nesting;
  const { name } = part;
  const where = `${input}.${name}`;
  const known: readonly string[] = many ? OF_MANY : OF_ONE;
  if (!known.includes(name)) return { why: `${where} is not one of ${listed(known)}` };
  if (!many && (name === 'disconnect' || name === 'delete'))
    return addFlag(write, name, part, where);
  if (isListType(getNullableType(part.type)) !== many)
    return {
      why: `${where} has to be ${many ? 'a list' : 'a single object'}, as ${field.owner}.${field.name} is`,
    };
  if (!isInputObjectType(getNamedType(part.type)))
    return { why: `${where} has to be an input type` };
  switch (name) {
    case 'create':
      return addCreate(shapes, write, part, nesting);
    case 'connectOrCreate':
      return addConnectOrCreate(shapes, write, part, nesting);
    case 'update':
      return addUpdate(shapes, write, part, nesting);
    default:
      return addKey(shapes, write, name as KeyPart, part, nesting);
  }
}

const OF_ONE = ['connect', 'disconnect', 'create', 'connectOrCreate', 'update', 'delete'];
const OF_MANY = [...OF_ONE, 'set'];

type KeyPart = 'connect' | 'disconnect' | 'set' | 'delete';

const listed = (words: readonly string[]) => `${words.slice(0, -1).join(', ')} and ${words.at(-1)}`;

/** Reads `disconnect: true` and `delete: true` of a single object. */
function addFlag(
  write: NestedWrite,
  name: 'disconnect' | 'delete',
  { type }: GraphQLInputField,
  where: string,
): Refusal | undefined {
  if (getNamedType(type).name !== 'Boolean' || isListType(getNullableType(type)))
    return { why: `${where} has to be a Boolean: there is one row` };
  write[name] = name;
  return undefined;
}

function addCreate(
  shapes: Shapes,
  write: NestedWrite,
  part: GraphQLInputField,
  nesting: Nesting,
): Refusal | undefined {
  const create = createPart(shapes, part, nesting, nesting.parent);
  if (isRefusal(create)) return create;
  write.create = create;
  return undefined;
}

function createPart(
  shapes: Shapes,
  part: GraphQLInputField,
  { target, shapeOf }: Nesting,
  given: readonly string[],
): NonNullable<Nested['create']> | Refusal {
  const named = getNamedType(part.type);
  if (!isInputObjectType(named)) return { why: `${part.name} has to be an input type` };
  const shape = shapeOf(shapes, named, target);
  if (isRefusal(shape)) return shape;
  const unset = shapes.open.has(shape.id) ? undefined : unsetRefusal(shapes, target, shape, given);
  return unset ?? { name: part.name, shape: shape.id };
}

function addKey(
  shapes: Shapes,
  write: NestedWrite,
  name: KeyPart,
  part: GraphQLInputField,
  { target }: Nesting,
): Refusal | undefined {
  const named = getNamedType(part.type);
  const by = keyOfInput(shapes, target, named);
  if (!by) return { why: `${named.name} has to be { id: ID! }, or other unique fields` };
  write[name] = part.name;
  if (!isById(by)) write[`${name}By`] = by;
  return undefined;
}

function addConnectOrCreate(
  shapes: Shapes,
  write: NestedWrite,
  part: GraphQLInputField,
  nesting: Nesting,
): Refusal | undefined {
  const { input, target, parent } = nesting;
  const named = getNamedType(part.type);
  const { where, create, ...others } = isInputObjectType(named) ? named.getFields() : {};
  if (!where || !create || Object.keys(others).length > 0)
    return { why: `${input}.${part.name} has to be { where: …, create: … }` };
  const by = keyOfInput(shapes, target, where.type, 'where.');
  if (!by) return { why: `${named.name}.where has to hold unique fields of ${target.name}` };
  const made = createPart(shapes, create, nesting, [...parent, ...givenBy(by)]);
  if (isRefusal(made)) return made;
  write.connectOrCreate = { name: part.name, by, create: made };
  return undefined;
}

/** `{ where: { id }, data: {…} }` of a list, and the input itself of a single object. */
function addUpdate(
  shapes: Shapes,
  write: NestedWrite,
  part: GraphQLInputField,
  { input, target, shapeOf, many }: Nesting,
): Refusal | undefined {
  const named = getNamedType(part.type) as GraphQLInputObjectType;
  const { where, data, ...others } = named.getFields();
  if (!many) {
    const shape = shapeOf(shapes, named, target);
    if (isRefusal(shape)) return shape;
    write.update = { name: part.name, shape: shape.id };
    return undefined;
  }
  const values = data && getNamedType(data.type);
  if (!where || !isInputObjectType(values) || Object.keys(others).length > 0)
    return { why: `${input}.${part.name} has to be { where: …, data: … }` };
  const by = keyOfInput(shapes, target, where.type, 'where.');
  if (!by) return { why: `${named.name}.where has to hold unique fields of ${target.name}` };
  const shape = shapeOf(shapes, values, target);
  if (isRefusal(shape)) return shape;
  const words = { where: 'where', data: 'data', ...(isById(by) ? {} : { by }) };
  write.update = { name: part.name, shape: shape.id, ...words };
  return undefined;
}

/**
 * The fields by which a row is named. If it does not exist, it is created with them. With several
 * possible keys, the caller gives only one.
 */
const givenBy = (by: RowKey): string[] => (by.length === 1 ? columnsOf(by) : []);

/** Whether a field has several rows: a list or a connection. */
export function isListEnd(shapes: Shapes, field: FieldFact): boolean {
  return field.type.list || shapes.facts.types.get(field.named.name)?.role === 'connection';
}
