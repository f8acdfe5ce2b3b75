import { type JsonSchema, leafSchema } from '@twofold/schema';
import { type GraphQLEnumType, type GraphQLScalarType, isEnumType } from 'graphql';
import type { Engine } from '../../graphql/engine.ts';

/** A scalar or an enum in JSON. A scalar of the project may be anything. */
export function leafOf({ model }: Engine, type: GraphQLScalarType | GraphQLEnumType): JsonSchema {
  if (!isEnumType(type)) return leafSchema(model.project, type.name);
  return { type: 'string', enum: type.getValues().map(({ name }) => name) };
}

/** The same schema, with null allowed. */
export function orNull(schema: JsonSchema): JsonSchema {
  const { type } = schema;
  if (Array.isArray(schema['enum']))
    return { ...schema, type: ['string', 'null'], enum: [...schema['enum'], null] };
  if (typeof type === 'string') return { ...schema, type: [type, 'null'] };
  if (Array.isArray(type)) return { ...schema, type: [...type, 'null'] };
  return Object.keys(schema).length === 0 ? schema : { anyOf: [schema, { type: 'null' }] };
}
