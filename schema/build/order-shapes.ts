import { getNamedType, getNullableType, isEnumType, isInputObjectType, isListType } from 'graphql';
import type {
  GraphQLEnumType,
  GraphQLInputField,
  GraphQLInputObjectType,
  GraphQLNamedType,
} from 'graphql';
import { didYouMean } from '../did-you-mean.ts';
import type { OrderedBy, OrderMember, OrderShape } from '../model.ts';
import { snakeCase } from '../names.ts';
import { tallyUse } from './tallies.ts';
import type { EntityFact } from './facts.ts';
import { columnNames, namedColumn } from './named-columns.ts';
import { isListEnd, knownShape, readEach, Refusal, type Shapes } from './shapes.ts';

/**
 * How an `orderBy` input or enum becomes an order.
 *
 * @example
 * orderShape(shapes, 'PostOrder', post) // { id: 'PostOrder', entity: 'Post', form: { kind: 'enum', values: […] } }
 */
export function orderShape(shapes: Shapes, name: string, entity: EntityFact): OrderShape {
  const known = knownShape(shapes, shapes.orders, name, { verb: 'order', of: entity.name });
  return known ?? newShape(shapes, name, entity);
}

type Form = OrderShape['form'];

function newShape(shapes: Shapes, name: string, entity: EntityFact): OrderShape {
  const type = shapes.facts.schema.getType(name);
  const form = flatForm(shapes, type, entity);
  const shape = form && { id: name, entity: entity.name, form };
  if (shape) shapes.orders.set(name, shape);
  return shape ?? fieldsShape(shapes, type as GraphQLInputObjectType, entity);
}

/** An order that contains no other; undefined for `{ name: SortDirection, author: UserOrder }`. */
function flatForm(
  shapes: Shapes,
  type: GraphQLNamedType | undefined,
  entity: EntityFact,
): Form | undefined {
  if (isEnumType(type)) return enumForm(shapes, type, entity);
  if (!isInputObjectType(type))
    throw new Refusal(`${type?.name} is neither an enum nor an input type`);
  return pairForm(shapes, type, entity);
}

/** `NAME_ASC`, `createdAt_DESC`, `nameDesc`; a value without a direction is ascending. */
function enumForm(shapes: Shapes, type: GraphQLEnumType, entity: EntityFact): Form {
  const values: ({ value: string; descending: boolean } & OrderedBy)[] = [];
  for (const { name } of type.getValues()) {
    const [, stem = name, direction] = /^(.+?)(?:_(asc|desc)|(Asc|Desc))$/i.exec(name) ?? [];
    const suffix = direction ?? (/(Asc|Desc)$/.exec(name)?.[1] || 'asc');
    const compared = comparedWord(shapes, entity, stem) ?? comparedWord(shapes, entity, name);
    if (!compared) throw unknownWord(shapes, entity, `${type.name}.${name}`, stem);
    values.push({ value: name, ...compared, descending: suffix.toLowerCase() === 'desc' });
  }
  return { kind: 'enum', values };
}

const folded = (word: string) => snakeCase(word === word.toUpperCase() ? word.toLowerCase() : word);

/** `CREATED_AT` and `createdAt` mean the field `createdAt`, `COMMENTS_COUNT` one with `@count`. */
function comparedWord(shapes: Shapes, entity: EntityFact, word: string): OrderedBy | undefined {
  const column = columnForWord(shapes, entity, word);
  if (column !== undefined) return { column };
  const tallied = [...entity.fields.values()].find(
    (field) =>
      (field.name === word || field.snakeName === folded(word)) && tallyUse(field) !== undefined,
  );
  return tallied && { tally: tallied.name };
}

/** The column of the field that a name means, in any spelling. */
export function columnForWord(
  shapes: Shapes,
  entity: EntityFact,
  word: string,
): string | undefined {
  const exact = namedColumn(shapes, entity, word);
  const names = exact ? [] : [...columnNames(shapes, entity), ...entity.fields.keys()];
  const field = names.find(
    (name) => snakeCase(name) === folded(word) && namedColumn(shapes, entity, name),
  );
  const column = exact ?? (field === undefined ? undefined : namedColumn(shapes, entity, field));
  return column && !column.json ? column.column : undefined;
}

/** `{ field: PostOrderField!, direction: SortDirection, nulls: Nulls }` */
function pairForm(
  shapes: Shapes,
  type: GraphQLInputObjectType,
  entity: EntityFact,
): Form | undefined {
  const fields = Object.values(type.getFields());
  const by = fields.find(({ name }) => name === 'field' || name === 'by');
  const named = by && getNamedType(by.type);
  if (!by || !isEnumType(named) || isDirection(named)) return undefined;
  const others = fields.filter((field) => field !== by);
  const direction = others.find(({ type: of }) => isDirection(getNamedType(of)));
  const nulls = others.find(({ type: of }) => isNulls(getNamedType(of)));
  if (others.some((field) => field !== direction && field !== nulls)) return undefined;
  const values: ({ value: string } & OrderedBy)[] = [];
  for (const { name } of named.getValues()) {
    const compared = comparedWord(shapes, entity, name);
    if (!compared) throw unknownWord(shapes, entity, `${named.name}.${name}`, name);
    values.push({ value: name, ...compared });
  }
  return {
    kind: 'pair',
    field: by.name,
    ...(direction && { direction: direction.name }),
    ...(nulls && { nulls: nulls.name }),
    values,
  };
}

/**
 * `{ name: SortDirection, author: UserOrder, comments: CommentListOrder }`. The shape is registered
 * before it is complete, because orders contain themselves through relations.
 */
function fieldsShape(shapes: Shapes, type: GraphQLInputObjectType, entity: EntityFact): OrderShape {
  const fields: OrderMember[] = [];
  const shape: OrderShape = {
    id: type.name,
    entity: entity.name,
    form: { kind: 'fields', fields },
  };
  shapes.orders.set(type.name, shape);
  readEach(
    Object.values(type.getFields()),
    fields,
    (field) => memberOf(shapes, type, field, entity),
    (refusal) => shapes.refused.set(type.name, shapes.refused.get(type.name) ?? refusal),
  );
  const refusal = shapes.refused.get(type.name);
  if (refusal) throw refusal;
  return shape;
}

function memberOf(
  shapes: Shapes,
  type: GraphQLInputObjectType,
  field: GraphQLInputField,
  entity: EntityFact,
): OrderMember {
  const { name } = field;
  const place = `${type.name}.${name}`;
  const named = getNamedType(field.type);
  if (isListType(getNullableType(field.type)))
    throw new Refusal(`${place} is a list; let the argument be one`);
  if (!isDirection(named) && !isDirected(named))
    return relatedMember(shapes, { place, name, named }, entity);
  const compared = comparedWord(shapes, entity, name);
  if (!compared) throw unknownWord(shapes, entity, place, name);
  return { name, ...compared };
}

interface Member {
  readonly place: string;
  readonly name: string;
  readonly named: GraphQLNamedType;
}

/** `author: UserOrder`, and `comments: CommentListOrder` with `count`. */
function relatedMember(
  shapes: Shapes,
  { place, name, named }: Member,
  entity: EntityFact,
): OrderMember {
  const field = entity.fields.get(name);
  const link = field && shapes.links.byField.get(field);
  const target = link && shapes.facts.entities.get(link.entity);
  if (!field || !target || !isInputObjectType(named))
    throw new Refusal(`${place} has to be an enum of ASC and DESC`);
  if (isListEnd(shapes, field)) {
    if (isCount(named)) return { name, many: name };
    throw new Refusal(`${place} is about a list: ${named.name} has to be { count: … } alone`);
  }
  if (link.kind === 'own' && link.key.typeColumn !== undefined)
    throw new Refusal(`${place} may lead to rows of several types, which have no common order`);
  const shape = orderShape(shapes, named.name, target);
  if (shape.form.kind === 'fields') return { name, one: name, shape: shape.id };
  throw new Refusal(`${place}: ${named.name} has to name the fields of ${target.name}`);
}

/** `{ count: SortDirection }` */
function isCount(type: GraphQLInputObjectType): boolean {
  const { count, ...others } = type.getFields();
  const named = count && getNamedType(count.type);
  return (
    named !== undefined &&
    Object.keys(others).length === 0 &&
    (isDirection(named) || isDirected(named))
  );
}

/** `input Sort { direction: Direction!, nulls: Nulls }` */
function isDirected(type: GraphQLNamedType): boolean {
  if (!isInputObjectType(type)) return false;
  const { direction, nulls, ...others } = type.getFields();
  return (
    direction !== undefined &&
    isDirection(getNamedType(direction.type)) &&
    (!nulls || isNulls(getNamedType(nulls.type))) &&
    Object.keys(others).length === 0
  );
}

/** An enum of ASC and DESC, in any order and case. */
export const isDirection = (type: GraphQLNamedType) => hasWords(type, ['ASC', 'DESC']);

const isNulls = (type: GraphQLNamedType) => hasWords(type, ['FIRST', 'LAST']);

function hasWords(type: GraphQLNamedType, wanted: readonly string[]): boolean {
  if (!isEnumType(type)) return false;
  const words = new Set(type.getValues().map((value) => value.name.toUpperCase()));
  return words.size === wanted.length && wanted.every((word) => words.has(word));
}

const unknownWord = (shapes: Shapes, entity: EntityFact, place: string, word: string): Refusal =>
  new Refusal(`${place} names no field of ${entity.name} that can be sorted`, {
    fix: didYouMean(word, columnNames(shapes, entity)),
  });
