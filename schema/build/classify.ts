import { getNamedType, isObjectType } from 'graphql';
import type { GraphQLNamedType, GraphQLObjectType, GraphQLSchema } from 'graphql';
import { readTypeDirectives } from '../directives/of-types.ts';
import type { TypeDirectives } from '../directives/of-types.ts';

/** What an object type is for. `value`: anything else, such as the shape of a JSON column. */
export type Role = 'root' | 'entity' | 'pageInfo' | 'connection' | 'edge' | 'payload' | 'value';

export interface ClassifiedType {
  readonly type: GraphQLObjectType;
  readonly role: Role;
  readonly directives: TypeDirectives;
}

/**
 * Sorts the object types of a schema, in the order in which they are written.
 *
 * @example
 * classify(buildSchema('type Query { u: User } type User { id: ID! }')).get('User')?.role // 'entity'
 */
export function classify(schema: GraphQLSchema): ReadonlyMap<string, ClassifiedType> {
  const roots = rootTypes(schema);
  const answers = mutationAnswers(schema);
  const types = new Map<string, ClassifiedType>();
  for (const type of Object.values(schema.getTypeMap())) {
    if (!isObjectType(type) || type.name.startsWith('__')) continue;
    const directives = readTypeDirectives([type.astNode ?? {}, ...type.extensionASTNodes]);
    types.set(type.name, {
      type,
      directives,
      role: roots.has(type) ? 'root' : roleOf(type, directives, answers),
    });
  }
  return types;
}

/** The root types that are objects; a schema whose root is something else has a finding already. */
export function rootTypes(schema: GraphQLSchema): Set<GraphQLNamedType> {
  const roots = [schema.getQueryType(), schema.getMutationType(), schema.getSubscriptionType()];
  return new Set(roots.filter((type) => isObjectType(type)));
}

function roleOf(
  type: GraphQLObjectType,
  directives: TypeDirectives,
  answers: ReadonlySet<GraphQLNamedType>,
): Role {
  if (directives.entity) return directives.entity.persist && hasKey(type) ? 'entity' : 'value';
  const fields = type.getFields();
  if (type.name === 'PageInfo') return 'pageInfo';
  if (/.Payload$/.test(type.name)) return 'payload';
  if (/.Connection$/.test(type.name) && (fields['edges'] || fields['nodes'])) return 'connection';
  if (/.Edge$/.test(type.name) && fields['node']) return 'edge';
  if (hasKey(type)) return 'entity';
  return answers.has(type) ? 'payload' : 'value';
}

/** `id: ID!` is what makes an object a row, or `id: Int!`. */
export function hasKey(type: GraphQLObjectType): boolean {
  const id = type.getFields()['id'];
  return id !== undefined && KEYS.has(String(id.type));
}

const KEYS: ReadonlySet<string> = new Set(['ID!', 'Int!']);

function mutationAnswers(schema: GraphQLSchema): Set<GraphQLNamedType> {
  const mutation = schema.getMutationType();
  if (!isObjectType(mutation)) return new Set();
  return new Set(Object.values(mutation.getFields()).map((field) => getNamedType(field.type)));
}
