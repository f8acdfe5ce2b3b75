import { remembered } from '@twofold/schema';
import { type GraphQLSchema, isInputObjectType } from 'graphql';

/**
 * The value with objects that inherit nothing, for a schema with an input field such as
 * `constructor`: graphql-js would take what each object inherits for a given value.
 *
 * @example ownMembers(schema, { input: {} })
 */
export function ownMembers<Value>(schema: GraphQLSchema, value: Value): Value {
  return namesInherited(schema) ? (bare(value) as Value) : value;
}

const namesInherited = remembered((schema: GraphQLSchema) =>
  Object.values(schema.getTypeMap()).some(
    (type) =>
      isInputObjectType(type) &&
      Object.keys(type.getFields()).some((name) => name in Object.prototype),
  ),
);

function bare(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map(bare);
  const members = Object.entries(value).map(([name, member]) => [name, bare(member)] as const);
  return Object.setPrototypeOf(Object.fromEntries(members), null);
}
