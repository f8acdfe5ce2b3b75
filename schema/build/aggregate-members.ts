import {
  getNamedType,
  getNullableType,
  isListType,
  isObjectType,
  type GraphQLField,
  type GraphQLNamedType,
  type GraphQLObjectType,
} from 'graphql';
import { didYouMean } from '../did-you-mean.ts';
import type { ColumnType } from '../model.ts';
import { FIGURES, aggregateName, isFigure, type Figure } from './aggregate-types.ts';
import { storedAs } from './columns.ts';
import { scalarType, type EntityFact, type FieldFact } from './facts.ts';
import { Refusal, type Shapes } from './shapes.ts';

type Member = GraphQLField<unknown, unknown>;

/** AGGREGATE_FIELD: why an aggregate, a group or one of its inputs cannot have a member. */
export const memberRefusal = (
  { astNode }: { readonly astNode?: { readonly name: Refusal['node'] } | null | undefined },
  why: string,
  fix?: string,
): Refusal => new Refusal(why, { code: 'AGGREGATE_FIELD', fix, node: astNode?.name });

/**
 * Refuses an aggregate or a group with a member that cannot be answered.
 *
 * @throws Refusal 'PostSums.title is String, which cannot be added up'
 */
export function assertMembers(shapes: Shapes, type: string, entity: EntityFact): void {
  const object = shapes.facts.schema.getType(type);
  if (!isObjectType(object)) return;
  const words = ['count', ...FIGURES, ...(aggregateName(type)?.form === 'Group' ? ['key'] : [])];
  for (const member of Object.values(object.getFields())) {
    if (!words.includes(member.name))
      throw refused(member, `${type}.${member.name} is none of ${words.join(', ')}`, words);
    assertFigures(shapes, object, member, entity);
  }
}

function assertFigures(
  shapes: Shapes,
  { name: owner }: GraphQLObjectType,
  member: Member,
  entity: EntityFact,
): void {
  const place = `${owner}.${member.name}`;
  const named = getNamedType(member.type);
  if (member.args.length > 0) throw refused(member, `${place} has arguments, and there are none`);
  if (isListType(getNullableType(member.type))) throw refused(member, `${place} is a list`);
  if (member.name === 'count') {
    if (NUMBERS.includes(numberType(shapes.facts, named))) return;
    throw refused(member, `${place} is ${named.name}, and a count is an Int`);
  }
  if (!isObjectType(named))
    throw refused(
      member,
      `${place} is ${named.name}, and has to be an object with fields of ${entity.name}`,
    );
  for (const field of Object.values(named.getFields()))
    assertFigure(shapes, { of: member.name, entity, owner: named.name }, field);
}

interface FigurePosition {
  readonly of: string;
  readonly entity: EntityFact;
  /** The object that has the field: `PostSums`. */
  readonly owner: string;
}

function assertFigure(shapes: Shapes, { of, entity, owner }: FigurePosition, field: Member): void {
  const found = entity.fields.get(field.name);
  const place = `${owner}.${field.name}`;
  const value = found && valueOf(shapes, found);
  if (!found || !value) {
    const why = found ? 'has no value that can be compared' : `is no field of ${entity.name}`;
    throw refused(field, `${place} ${why}`, candidates(shapes, '', entity));
  }
  if (field.args.length > 0 || isListType(getNullableType(field.type)))
    throw refused(field, `${place} has to be a single value without arguments`);
  const problem = isFigure(of)
    ? figureProblem(shapes, of, found, value, getNamedType(field.type))
    : keyProblem(found, getNamedType(field.type));
  if (problem !== undefined)
    throw refused(field, `${place} ${problem}`, candidates(shapes, of, entity));
}

/** The stored type of a field, or `key`. */
export type Value = ColumnType | 'key';

/** The value by which a field is compared and grouped; undefined when it has none. */
export function valueOf({ facts, links }: Shapes, field: FieldFact): Value | undefined {
  if (field.name === 'id' && !field.type.list) return 'key';
  const link = links.byField.get(field);
  if (link) return link.kind === 'own' && !link.key.typeColumn ? 'key' : undefined;
  const stored = storedAs(field, facts);
  if (stored === undefined || stored === 'json') return undefined;
  const keys = links.keys.get(field.owner) ?? [];
  return keys.some((key) => key.field === field) ? 'key' : stored;
}

/** Whether the entity has a field of this name with such a value. */
export function hasValue(shapes: Shapes, { fields }: EntityFact, name: string): boolean {
  const field = fields.get(name);
  return field !== undefined && valueOf(shapes, field) !== undefined;
}

const NUMBERS: readonly string[] = ['integer', 'bigint', 'decimal', 'real'];
const UNORDERED: readonly string[] = ['boolean', 'bytes'];

const numberType = (facts: Shapes['facts'], type: GraphQLNamedType): string =>
  isObjectType(type) ? '' : scalarType(type, facts);

/** The problem with the type of a figure; undefined when there is none. */
function figureProblem(
  { facts }: Shapes,
  of: Figure,
  field: FieldFact,
  value: Value,
  declared: GraphQLNamedType,
): string | undefined {
  const given = numberType(facts, declared);
  if (of === 'countDistinct')
    return NUMBERS.includes(given) ? undefined : `is ${declared.name}, and a count is an Int`;
  if (of === 'min' || of === 'max') return extremeProblem(field, value, declared, given);
  if (!NUMBERS.includes(value)) return `is of ${field.type.text}, which cannot be added up`;
  const fitting = value === 'real' ? ['real'] : of === 'avg' ? ['real', 'decimal'] : NUMBERS;
  if (fitting.includes(given)) return undefined;
  return (
    `is ${declared.name}, ` +
    `and ${of === 'avg' ? 'an average' : 'a sum'} of ${field.type.name} is ${value === 'real' ? 'a Float' : of === 'avg' ? 'a Float or a Decimal' : 'a number'}`
  );
}

function extremeProblem(
  field: FieldFact,
  value: Value,
  declared: GraphQLNamedType,
  given: string,
): string | undefined {
  if (UNORDERED.includes(value) || field.type.kind === 'entity')
    return `is of ${field.type.text}, which has no order`;
  const converts = NUMBERS.includes(value) && NUMBERS.includes(given) && value !== 'real';
  return declared.name === field.named.name || converts
    ? undefined
    : `is ${declared.name}, and ${field.owner}.${field.name} is ${field.named.name}`;
}

const keyProblem = (field: FieldFact, declared: GraphQLNamedType): string | undefined =>
  declared.name === field.named.name
    ? undefined
    : `is ${declared.name}, and ${field.owner}.${field.name} is ${field.named.name}`;

/** Fields that would be valid in this place, for "did you mean". */
function candidates(shapes: Shapes, of: string, entity: EntityFact): string[] {
  return [...entity.fields.values()]
    .filter((field) => {
      const value = valueOf(shapes, field);
      return value !== undefined && (of === 'sum' || of === 'avg' ? NUMBERS.includes(value) : true);
    })
    .map(({ name }) => name);
}

function refused(member: Member, why: string, known: readonly string[] = []): Refusal {
  const all = known.length > 0 ? `one of ${known.join(', ')}` : undefined;
  return memberRefusal(member, why, didYouMean(member.name, known) ?? all);
}
