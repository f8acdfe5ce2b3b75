import { getNamedType, isAbstractType, isCompositeType, isObjectType } from 'graphql';
import type { GraphQLNamedType, GraphQLObjectType, GraphQLSchema } from 'graphql';
import { readTypeDirectives, type TypeDirectives } from '../directives/of-types.ts';
import { isAggregate, isAggregateWord } from './aggregate-types.ts';

/** The role of an object type. `value`: any other type, such as the shape of a JSON column. */
export type Role =
  | 'root'
  | 'entity'
  | 'pageInfo'
  | 'connection'
  | 'edge'
  | 'payload'
  | 'aggregate'
  | 'value';

export interface ClassifiedType {
  readonly type: GraphQLObjectType;
  readonly role: Role;
  readonly directives: TypeDirectives;
}

/**
 * Finds the role of each object type, in the order of the schema.
 *
 * @example
 * classify(buildSchema('type Query { u: User } type User { id: ID! }')).get('User')?.role // 'entity'
 */
export function classify(schema: GraphQLSchema): ReadonlyMap<string, ClassifiedType> {
  const roots = rootTypes(schema);
  const answers = mutationAnswers(schema);
  const isEntity = (name: string) => {
    const type = schema.getType(name);
    return isObjectType(type) && roleOf(type, directivesOf(type), answers) === 'entity';
  };
  const types = new Map<string, ClassifiedType>();
  for (const type of Object.values(schema.getTypeMap())) {
    if (!isObjectType(type) || type.name.startsWith('__')) continue;
    const directives = directivesOf(type);
    const role = roots.has(type) ? 'root' : roleOf(type, directives, answers);
    types.set(type.name, {
      type,
      directives,
      role: role === 'value' && isAggregate(type, isEntity) ? 'aggregate' : role,
    });
  }
  markParts(types);
  return types;
}

/**
 * Marks the objects inside an aggregate or a group, such as its sums: they are not stored values.
 */
function markParts(types: Map<string, ClassifiedType>): void {
  const aggregates = [...types.values()].filter(({ role }) => role === 'aggregate');
  for (const { type } of aggregates)
    for (const field of Object.values(type.getFields())) {
      const part = types.get(getNamedType(field.type).name);
      if (part?.role === 'value' && isAggregateWord(field.name))
        types.set(part.type.name, { ...part, role: 'aggregate' });
    }
}

const directivesOf = (type: GraphQLObjectType): TypeDirectives =>
  readTypeDirectives([type.astNode ?? {}, ...type.extensionASTNodes]);

/** The root types that are objects; a root type of another kind already has a finding. */
function rootTypes(schema: GraphQLSchema): Set<GraphQLNamedType> {
  const roots = [schema.getQueryType(), schema.getMutationType(), schema.getSubscriptionType()];
  return new Set(roots.filter((type) => isObjectType(type)));
}

function roleOf(
  type: GraphQLObjectType,
  directives: TypeDirectives,
  answers: ReadonlySet<GraphQLNamedType>,
): Role {
  if (directives.entity?.persist === false || directives.errors.length > 0) return 'value';
  if (directives.table) return 'entity';
  if (directives.entity) return hasKey(type) ? 'entity' : 'value';
  const fields = type.getFields();
  if (type.name === 'PageInfo') return 'pageInfo';
  if (/.Payload$/.test(type.name)) return 'payload';
  const leads = (name: string) => isCompositeType(getNamedType(fields[name]?.type));
  if (/.Connection$/.test(type.name) && (leads('edges') || leads('nodes'))) return 'connection';
  if (/.Edge$/.test(type.name) && leads('node')) return 'edge';
  if (hasKey(type)) return 'entity';
  return answers.has(type) ? 'payload' : 'value';
}

/** An object type with `id: ID!` or `id: Int!` is an entity. */
export function hasKey(type: GraphQLObjectType): boolean {
  const id = type.getFields()['id'];
  return id !== undefined && KEYS.has(String(id.type));
}

const KEYS: ReadonlySet<string> = new Set(['ID!', 'Int!']);

function mutationAnswers(schema: GraphQLSchema): Set<GraphQLNamedType> {
  const mutation = schema.getMutationType();
  if (!isObjectType(mutation)) return new Set();
  const answers = Object.values(mutation.getFields()).map((field) => getNamedType(field.type));
  const members = answers.flatMap((type) =>
    isAbstractType(type) ? schema.getPossibleTypes(type) : [],
  );
  if (members.length === 0) return new Set(answers);
  const held = heldTypes(schema);
  return new Set([...answers, ...members.filter((member) => !held.has(member))]);
}

/**
 * The types of fields outside the root types. A type can only be stored in a column if it is one of
 * them.
 */
function heldTypes(schema: GraphQLSchema): Set<GraphQLNamedType> {
  const roots = rootTypes(schema);
  return new Set(
    Object.values(schema.getTypeMap()).flatMap((type) =>
      isObjectType(type) && !roots.has(type)
        ? Object.values(type.getFields()).map((field) => getNamedType(field.type))
        : [],
    ),
  );
}
