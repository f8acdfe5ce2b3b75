import { getNamedType, getNullableType, isInputObjectType, isListType } from 'graphql';
import type { GraphQLInputField, GraphQLInputObjectType } from 'graphql';
import type { Filter, FilterShape, FilterOperator } from '../model.ts';
import { wordsOf, wordsRefusal, type ComparedForm } from './comparison-input.ts';
import type { EntityFact, FieldFact } from './facts.ts';
import { commonFilter, fillShape, objectShape, unknownMember } from './filter-members.ts';
import { knownWord, LOGICAL, OPERATORS } from './filter-words.ts';
import { columnNames, namedColumn, takes } from './named-columns.ts';
import { isListEnd, knownShape, Refusal, type NamedColumn, type Shapes } from './shapes.ts';
import { tallyUse } from './tallies.ts';

const QUANTIFIERS = ['some', 'every', 'none'] as const;

/**
 * How a `where` input becomes a condition on an entity.
 *
 * @example
 * filterShape(shapes, 'PostFilter', post) // { id: 'PostFilter', entity: 'Post', filters: [{ kind: 'equals', name: 'status', … }] }
 */
export function filterShape(shapes: Shapes, name: string, entity: EntityFact): FilterShape {
  const shape = shapeOf(shapes, name, entity);
  const seen = new Set<FilterShape>();
  assertBelow(shapes, shape, seen);
  for (const each of seen) shapes.understood.add(each);
  return shape;
}

/** Refuses a filter that contains a filter which is refused. */
function assertBelow(shapes: Shapes, shape: FilterShape, seen: Set<FilterShape>): void {
  if (seen.has(shape) || shapes.understood.has(shape)) return;
  seen.add(shape);
  for (const filter of shape.filters) {
    if (!('shape' in filter) || filter.shape === '') continue;
    const refused = shapes.refused.get(filter.shape);
    if (refused) throw refused;
    const inner = shapes.filters.get(filter.shape);
    if (inner) assertBelow(shapes, inner, seen);
  }
}

function shapeOf(shapes: Shapes, name: string, entity: EntityFact): FilterShape {
  const known = knownShape(shapes, shapes.filters, name, { verb: 'filter', of: entity.name });
  if (known) return known;
  const type = shapes.facts.schema.getType(name);
  if (!isInputObjectType(type)) throw new Refusal(`${name} is no input type`);
  return fillShape(shapes, type, entity.name, (field) => filterOf(shapes, type, field, entity));
}

function filterOf(
  shapes: Shapes,
  type: GraphQLInputObjectType,
  field: GraphQLInputField,
  entity: EntityFact,
): Filter {
  const { name } = field;
  const common = entity.fields.has(name) ? undefined : commonFilter(type, field);
  if (common) return common;
  const related = relationFilter(shapes, field, entity) ?? objectFilter(shapes, field, entity);
  if (related) return related;
  const counted = tallyFilter(entity.fields.get(name), field, `${type.name}.${name}`);
  if (counted) return counted;
  const column = namedColumn(shapes, entity, name);
  if (column) return columnFilter(shapes, type, field, column);
  throw unknownMember(type, field, columnNames(shapes, entity), entity.name);
}

function columnFilter(
  shapes: Shapes,
  type: GraphQLInputObjectType,
  field: GraphQLInputField,
  column: NamedColumn,
): Filter {
  const named = getNamedType(field.type);
  const place = `${type.name}.${field.name}`;
  if (isListType(getNullableType(field.type)))
    throw new Refusal(`${place} is a list; write an input with "in" for it`);
  const at = { name: field.name, column: column.column };
  if (isInputObjectType(named))
    return { kind: 'operators', ...at, operators: wordsOf(named, place, comparedForm(column)) };
  if (column.json) throw new Refusal(`${place} has to be an input with words, such as has or path`);
  if (takes(shapes, column, named.name)) return { kind: 'equals', ...at };
  throw new Refusal(`${place} is ${named.name}, and the field is ${column.scalar}`);
}

/** The form that decides the operators of a column. */
function comparedForm({ json, field }: NamedColumn): ComparedForm {
  if (!json) return 'scalar';
  if (field.type.list) return field.type.kind === 'object' ? 'none' : 'list';
  return field.type.kind === 'object' ? 'none' : 'json';
}

/** `address: AddressFilter`, of an object that a column holds. */
function objectFilter(
  shapes: Shapes,
  field: GraphQLInputField,
  entity: EntityFact,
): Filter | undefined {
  const held = entity.fields.get(field.name);
  const column = held && namedColumn(shapes, entity, field.name);
  const input = getNamedType(field.type);
  if (!column?.json || held?.type.kind !== 'object' || held.type.list || !isInputObjectType(input))
    return undefined;
  const { id } = objectShape(shapes, input, held.named.name);
  return { kind: 'object', name: field.name, column: column.column, shape: id };
}

/** `author: UserFilter`, and `posts: PostListFilter` with `some`, `every` and `none`. */
function relationFilter(
  shapes: Shapes,
  field: GraphQLInputField,
  entity: EntityFact,
): Filter | undefined {
  const end = entity.fields.get(field.name);
  const link = end && shapes.links.byField.get(end);
  const input = getNamedType(field.type);
  const target = link && shapes.facts.entities.get(link.entity);
  if (!end || !target || !isInputObjectType(input) || isListType(getNullableType(field.type)))
    return undefined;
  const inner = Object.keys(input.getFields());
  if (isListEnd(shapes, end)) return manyFilter(shapes, field.name, input, target);
  if (inner.every((name) => OPERATORS.some((word) => word === name))) return undefined;
  const { id } = shapeOf(shapes, input.name, target);
  return { kind: 'one', name: field.name, field: end.name, shape: id };
}

function manyFilter(
  shapes: Shapes,
  name: string,
  input: GraphQLInputObjectType,
  target: EntityFact,
): Filter {
  const fields = input.getFields();
  const quantifiers = QUANTIFIERS.filter((word) => fields[word]);
  const groups = LOGICAL.filter(
    (word) => fields[word] && getNamedType(fields[word].type) === input,
  );
  const known = new Set<string>([...quantifiers, ...groups, 'count']);
  const foreign = Object.values(fields).filter((field) => !known.has(field.name));
  if (foreign.some((field) => knownWord(field.name) !== undefined))
    throw wordsRefusal(input, foreign);
  const inner = new Set(quantifiers.map((word) => getNamedType(fields[word]!.type).name));
  const [only] = inner;
  if (foreign.length > 0 || inner.size > 1 || (only === undefined && !fields['count']))
    throw new Refusal(`${input.name} has to have some, every or none, of one input type`);
  const count = fields['count'] && countWords(input, fields['count']);
  const shape = only === undefined ? undefined : shapeOf(shapes, only, target);
  const more = { ...(count && { count }), ...(groups.length > 0 && { groups }) };
  return { kind: 'many', name, field: name, quantifiers, shape: shape?.id ?? '', ...more };
}

/** `count: { gte: 3 }`. */
function countWords(input: GraphQLInputObjectType, field: GraphQLInputField) {
  const named = getNamedType(field.type);
  const place = `${input.name}.count`;
  if (isInputObjectType(named)) return wordsOf(named, place, 'scalar');
  throw new Refusal(`${place} has to be an input with words, such as gte`);
}

const SCALARS = { count: 'Int', exists: 'Boolean' } as const;

const WORDS = {
  count: OPERATORS.filter((word) => !/^(?:contains|startsWith|endsWith)$/.test(word)),
  exists: ['eq', 'ne', 'in', 'notIn', 'isNull'],
} as const satisfies Record<string, readonly FilterOperator[]>;

/**
 * The filter of a field with `@count` or `@exists`; undefined for any other field.
 *
 * @param place of the filter's field, for messages.
 * @example tallyFilter(commentsCount, field, 'PostFilter.commentsCount') // { kind: 'tally', name: 'commentsCount', … }
 */
function tallyFilter(
  of: FieldFact | undefined,
  { name, type }: GraphQLInputField,
  place: string,
): Filter | undefined {
  const use = of && tallyUse(of);
  if (!use) return undefined;
  const named = getNamedType(type);
  if (isListType(getNullableType(type)))
    throw new Refusal(`${place} is a list; write an input with "in" for it`);
  if (!isInputObjectType(named)) {
    if (named.name === SCALARS[use.of]) return { kind: 'tally', name, field: of.name };
    throw new Refusal(`${place} is ${named.name}, and the field is ${SCALARS[use.of]}`);
  }
  const words: readonly string[] = WORDS[use.of];
  const fields = Object.values(named.getFields());
  const operators = fields.map((field) => field.name);
  const foreign = fields.filter((field) => knownWord(field.name) !== undefined);
  if (foreign.length > 0) throw wordsRefusal(named, foreign);
  const unknown = operators.find((word) => !words.includes(word));
  if (unknown === undefined)
    return { kind: 'tally', name, field: of.name, operators: operators as FilterOperator[] };
  throw new Refusal(
    `${named.name}.${unknown} is no comparison of a ${SCALARS[use.of]}: ${words.join(' ')}`,
  );
}
