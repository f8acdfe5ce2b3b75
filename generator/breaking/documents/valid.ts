import { type DocumentNode, type GraphQLError, type GraphQLSchema, validate } from 'graphql';

/** The first mistake of a document; undefined when it is valid. */
export function firstMistake(
  schema: GraphQLSchema,
  document: DocumentNode,
): GraphQLError | undefined {
  return validate(schema, document, undefined, { maxErrors: 1 })[0];
}

export const validFor = (schema: GraphQLSchema, document: DocumentNode): boolean =>
  firstMistake(schema, document) === undefined;
